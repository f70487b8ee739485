// SPDX-License-Identifier: Apache-2.0
// sardonyx python: a model as a Python script that rebuilds it with the onnx package.
#include <filesystem>

#include "base/format.h"
#include "command.h"
#include "model_file.h"
#include "onnx/npy.h"
#include "onnx/python_script.h"
#include "onnx/store.h"

namespace sx::tools::commands {
namespace {

class Python final : public Command {
 public:
  Python() {
    name = "python";
    summary = "write a Python script that rebuilds the model";
    example = "sardonyx python model.onnx -o model.py && python model.py rebuilt.onnx";
  }
  void options(Options& o) override {
    o.argument("MODEL", model_, "the model to read; - for standard input").is(Takes::model);
    o.value("-o,--output", "SCRIPT", out_,
            "the script to write; large tensors go to the folder SCRIPT_tensors beside it")
        .is(Takes::new_file)
        .required();
    o.value("--largest", "N", largest_, "tensors of more elements go beside the script");
  }
  Outcome run(const Common&, Terminal& out) override {
    auto model = open_model(model_);
    if (!model.ok()) return refuse(std::move(model).status());
    const std::filesystem::path path(out_);
    const std::string folder = path.stem().string() + "_tensors";
    auto script = onnx::python_script(**model, folder, largest_);
    if (!script.ok()) return refuse(std::move(script).in(model_).status());
    const std::filesystem::path beside = path.parent_path() / folder;
    std::error_code problem;
    if (!script->arrays.empty()) std::filesystem::create_directories(beside, problem);
    for (const auto& [file, tensor] : script->arrays) {
      if (Status s = onnx::write_npy((beside / file).string(), tensor); !s.ok()) return fail(std::move(s));
    }
    if (!script->data_files.empty()) {
      onnx::StoreReport report;
      Status s = onnx::copy_data_files(**model, (beside / "data").string(), report);
      if (!s.ok())
        out.note(format("some data files are missing in {}: {}", escaped(beside.string()), s.to_string()));
    }
    if (Status s = save_text(out_, script->text); !s.ok()) return fail(std::move(s));
    out.note(format("wrote {}{}", escaped(out_),
                    script->arrays.empty()
                        ? ""
                        : format(" and {} arrays in {}", script->arrays.size(), escaped(beside.string()))));
    return done();
  }

 private:
  std::string model_, out_;
  uint64_t largest_ = 64;
};

}  // namespace
std::unique_ptr<Command> python() { return std::make_unique<Python>(); }
}  // namespace sx::tools::commands
