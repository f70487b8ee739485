// SPDX-License-Identifier: Apache-2.0
// sardonyx text: a model as ONNX text.
#include <unistd.h>

#include "command.h"
#include "json.h"
#include "model_file.h"
#include "onnx/text.h"

namespace sx::tools::commands {
namespace {

constexpr uint64_t kForPeople = 16;  // elements that a terminal shows of a tensor

class TextCommand final : public Command {
 public:
  TextCommand() {
    name = "text";
    summary = "print a model as ONNX text";
    example = "sardonyx text model.onnx --largest 16";
  }
  void options(Options& o) override {
    o.argument("MODEL", model_, "the model to read; - for standard input").is(Takes::model);
    o.value("-o,--output", "FILE", out_, "the file to write; - for standard output").is(Takes::new_file);
    o.value("--largest", "N", options_.largest_tensor,
            "leave out the elements of tensors with more than this many");
    o.flag("--plain", plain_, "without the comments that say what ONNX text cannot");
  }
  Outcome run(const Common& common, Terminal& out) override {
    auto model = open_model(model_);
    if (!model.ok()) return refuse(std::move(model).status());
    options_.exact = !plain_;
    const bool person = out_ == "-" && options_.largest_tensor == UINT64_MAX && ::isatty(1);
    if (person) options_.largest_tensor = kForPeople;
    const std::string text = onnx::print_text(**model, options_);
    if (common.json) {
      Json j;
      out.line(j.open_object().text("text", text).close_object().str());
      return done();
    }
    Status s = save_text(out_, text);
    if (!s.ok()) return fail(std::move(s));
    if (person)
      out.note("elements of larger tensors are left out on a terminal; -o FILE or a pipe gets them all");
    return done();
  }

 private:
  std::string model_, out_ = "-";
  onnx::PrintOptions options_;
  bool plain_ = false;
};

}  // namespace
std::unique_ptr<Command> text() { return std::make_unique<TextCommand>(); }
}  // namespace sx::tools::commands
