// SPDX-License-Identifier: Apache-2.0
// sardonyx rename: values, nodes and symbolic dimensions get other names.
#include "base/format.h"
#include "command.h"
#include "model_file.h"
#include "onnx/rename.h"

namespace sx::tools::commands {
namespace {

class RenameCommand final : public Command {
 public:
  RenameCommand() {
    name = "rename";
    group = Group::edit;
    summary = "rename values, inputs, outputs, nodes and dimensions";
    example = "sardonyx rename model.onnx --input x=image --dim N=batch -o renamed.onnx";
  }
  void options(Options& o) override {
    o.argument("MODEL", model_, "the model to read; - for standard input").is(Takes::model);
    o.value("--value", "OLD=NEW", values_, "any value");
    o.value("--input", "OLD=NEW", inputs_, "an input of the model");
    o.value("--output-name", "OLD=NEW", outputs_, "an output of the model");
    o.value("--node", "OLD=NEW", nodes_, "a node");
    o.value("--dim", "OLD=NEW", dims_, "a symbolic dimension");
    target_.add(o);
  }
  Outcome run(const Common& common, Terminal& out) override {
    using What = onnx::Rename::What;
    if (Status s = target_.check(); !s.ok()) return {std::move(s), kUsage};
    std::vector<onnx::Rename> renames;
    Status problem;
    const auto add = [&](const std::vector<std::string>& pairs, What what) {
      for (const std::string& text : pairs) {
        auto pair = split_pair(text, "OLD=NEW");
        if (!pair.ok()) {
          problem = pair.status();
        } else {
          renames.push_back({what, pair->first, pair->second});
        }
      }
    };
    add(inputs_, What::value);
    const size_t inputs = renames.size();
    add(outputs_, What::value);
    const size_t outputs = renames.size();
    add(values_, What::value);
    add(nodes_, What::node);
    add(dims_, What::dimension);
    if (problem.ok() && renames.empty())
      problem = error(Code::invalid_argument, "say what to rename, as in --input x=image");
    if (!problem.ok()) return {std::move(problem), kUsage};
    auto model = open_model(model_);
    if (!model.ok()) return refuse(std::move(model).status());
    for (size_t i = 0; i < outputs; ++i) {
      if (Status s = check_interface(**model, renames[i].from, i < inputs); !s.ok())
        return refuse(std::move(s));
    }
    auto count = onnx::rename(**model, renames);
    if (!count.ok()) return refuse(std::move(count).in(model_).status());
    auto said = target_.save(**model, model_, out);
    if (!said.ok()) return writing_failed(**model, std::move(said).status());
    said->tell(common, out, "renamed", *count);
    return done();
  }

 private:
  Status check_interface(const onnx::Model& model, const std::string& value, bool input) const {
    if (model.graph) {
      for (const auto& v : input ? model.graph->input : model.graph->output) {
        if (v.name == value) return {};
      }
    }
    return error(Code::not_found, "the model has no {} '{}'", input ? "input" : "output", escaped(value))
        .in(model_);
  }

  std::string model_;
  std::vector<std::string> values_, inputs_, outputs_, nodes_, dims_;
  Target target_;
};

}  // namespace
std::unique_ptr<Command> rename() { return std::make_unique<RenameCommand>(); }
}  // namespace sx::tools::commands
