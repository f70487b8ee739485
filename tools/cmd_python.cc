// SPDX-License-Identifier: Apache-2.0
// sardonyx python: a model as a Python script that rebuilds it with the onnx package.
#include <filesystem>

#include "base/format.h"
#include "command.h"
#include "json.h"
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
  Outcome run(const Common& common, Terminal& out) override {
    auto model = open_model(model_);
    if (!model.ok()) return refuse(std::move(model).status());
    const std::filesystem::path path(out_ == "-" ? std::filesystem::path(model_).filename().string() : out_);
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
    tell(common, out, script->arrays.size(), beside.string());
    return done();
  }

 private:
  void tell(const Common& common, Terminal& out, size_t arrays, const std::string& folder) const {
    if (common.json && out_ != "-") {
      Json j;
      j.open_object().text("script", out_).integer("arrays", int64_t(arrays));
      if (arrays > 0) j.text("folder", folder);
      out.line(j.close_object().str());
    }
    if (common.json || common.quiet) return;
    const std::string beside = arrays ? format(" and {} arrays in {}", arrays, escaped(folder)) : "";
    out.note(format("wrote {}{}", escaped(out_), beside));
  }

  std::string model_, out_;
  uint64_t largest_ = 64;
};

}  // namespace
std::unique_ptr<Command> python() { return std::make_unique<Python>(); }
}  // namespace sx::tools::commands
