// SPDX-License-Identifier: Apache-2.0
// sardonyx copy: reads a model and writes it, byte for byte unless told to change how it is stored.
#include "command.h"
#include "model_file.h"

namespace sx::tools::commands {
namespace {

class Copy final : public Command {
 public:
  Copy() {
    name = "copy";
    group = Group::edit;
    summary = "read a model and write it, with its data where you want it";
    example = "sardonyx copy big.onnx -o copy/big.onnx --external weights.bin";
  }
  void options(Options& o) override {
    o.argument("MODEL", model_, "the model to read; - for standard input").is(Takes::model);
    o.value("-o,--output", "MODEL", out_, "the model to write; - for standard output")
        .is(Takes::new_file)
        .required();
    o.value("--external", "FILE", store_.location, "put tensor data into this file beside the model");
    o.flag("--split", split_, "put each tensor into a file of its own").not_with("--external");
    o.flag("--inside", inside_, "put all tensor data into the model")
        .not_with("--external")
        .not_with("--split");
    o.value("--smallest", "BYTES", store_.smallest, "smaller tensors stay in the model");
    o.flag("--checksum", store_.checksum, "write checksums of the data files");
    o.flag("--canonical", store_.write.canonical, "fields in order, without unknown ones");
    o.flag("--one-file", store_.allow_large, "do not move data out of a model of more than 2 GB");
  }
  Outcome run(const Common& common, Terminal& out) override {
    using Data = onnx::StoreOptions::Data;
    auto model = open_model(model_);
    if (!model.ok()) return refuse(std::move(model).status());
    if (out_ == "-") {
      Status s = save_text(out_, onnx::message_bytes<onnx::ModelProto>(**model, store_.write));
      return s.ok() ? done() : fail(std::move(s));
    }
    store_.allow_large |= inside_;
    store_.data = split_                    ? Data::each_file
                  : inside_                 ? Data::inside
                  : store_.location.empty() ? Data::keep
                                            : Data::one_file;
    auto busy = busy_writing(out, **model, out_);
    auto report = onnx::store_model(**model, out_, store_);
    busy.reset();
    if (!report.ok()) return writing_failed(**model, std::move(report).status());
    Saved{out_, false, report->model_bytes, report->files}.tell(common, out);
    return done();
  }

 private:
  std::string model_, out_;
  onnx::StoreOptions store_;
  bool split_ = false, inside_ = false;
};

}  // namespace
std::unique_ptr<Command> copy() { return std::make_unique<Copy>(); }
}  // namespace sx::tools::commands
