// SPDX-License-Identifier: Apache-2.0
// sardonyx parse: a model from ONNX text.
#include "base/format.h"
#include "command.h"
#include "model_file.h"
#include "onnx/text.h"

namespace sx::tools::commands {
namespace {

class Parse final : public Command {
 public:
  Parse() {
    name = "parse";
    group = Group::edit;
    summary = "make a model from ONNX text";
    example = "sardonyx parse model.txt -o model.onnx";
  }
  void options(Options& o) override {
    o.argument("TEXT", text_, "the text to read; - for standard input").is(Takes::file);
    o.value("-o,--output", "MODEL", out_, "the model to write; - for standard output")
        .is(Takes::new_file)
        .required();
  }
  Outcome run(const Common& common, Terminal& out) override {
    auto file = open_file(text_);
    if (!file.ok()) return refuse(std::move(file).status());
    const auto bytes = (*file)->bytes();
    auto model = onnx::parse_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!model.ok()) return refuse(std::move(model).in(text_).status());
    auto said = Target{out_}.save(**model, text_, out);
    if (!said.ok()) return fail(std::move(said).status());
    said->tell(common, out);
    return done();
  }

 private:
  std::string text_, out_;
};

}  // namespace
std::unique_ptr<Command> parse() { return std::make_unique<Parse>(); }
}  // namespace sx::tools::commands
