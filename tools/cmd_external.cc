// SPDX-License-Identifier: Apache-2.0
// sardonyx external: the data files beside a model: listed, verified, packed, split, taken inside.
#include <optional>

#include "base/format.h"
#include "command.h"
#include "json.h"
#include "model_file.h"

namespace sx::tools::commands {
namespace {

class External final : public Command {
 public:
  External() {
    name = "external";
    group = Group::edit;
    summary = "list, verify, pack or split the data files of a model";
    example = "sardonyx external model.onnx --pack weights.bin -o packed.onnx";
  }
  void options(Options& o) override {
    o.argument("MODEL", model_, "the model to read").is(Takes::model);
    o.flag("--verify", verify_, "compare the checksums too");
    o.value("--pack", "FILE", store_.location, "gather all data in this file beside the new model");
    o.flag("--split", split_, "a file for each tensor").not_with("--pack");
    o.flag("--inside", inside_, "take all data into the model").not_with("--pack").not_with("--split");
    o.value("--smallest", "BYTES", store_.smallest, "smaller tensors stay in the model");
    o.flag("--checksum", store_.checksum, "write checksums of the data files");
    o.value("-o,--output", "MODEL", out_, "the model to write").is(Takes::new_file);
  }
  Outcome run(const Common& common, Terminal& out) override {
    using Data = onnx::StoreOptions::Data;
    const bool change = split_ || inside_ || !store_.location.empty();
    if (change && out_.empty()) {
      return {error(Code::invalid_argument, "say which model to write: -o FILE"), kUsage};
    }
    auto model = open_model(model_);
    if (!model.ok()) return refuse(std::move(model).status());
    if (!change) return list(**model, common, out);
    store_.allow_large = inside_;
    store_.data = split_ ? Data::each_file : inside_ ? Data::inside : Data::one_file;
    auto busy = busy_writing(out, **model, out_);
    auto report = onnx::store_model(**model, out_, store_);
    busy.reset();
    if (!report.ok()) return writing_failed(**model, std::move(report).status());
    Saved{out_, false, report->model_bytes, report->files}.tell(common, out);
    return done();
  }

 private:
  Outcome list(const onnx::Model& model, const Common& common, Terminal& out) const {
    std::optional<Busy> busy;
    if (verify_) busy.emplace(out, "reading the data of " + escaped(model_));
    const auto files = onnx::external_files(model, verify_);
    busy.reset();
    bool good = true;
    Json j;
    j.open_object().key("files").open_array();
    Table table({"file", "tensors", "bytes", "checksum", "state"}, {false, true, true, false, false});
    for (const auto& f : files) {
      good = good && f.status.ok();
      const std::string state = f.status.ok() ? "ok" : f.status.to_string();
      j.open_object().text("location", f.location).integer("tensors", int64_t(f.tensors));
      j.integer("bytes", int64_t(f.used)).text("checksum", f.checksum).text("state", state).close_object();
      table.row({escaped(f.location), format("{}", f.tensors), bytes_text(double(f.used)),
                 escaped(f.checksum), escaped(state)},
                f.status.ok() ? Style::plain : Style::bad);
    }
    if (common.json) {
      out.line(j.close_array().close_object().str());
    } else if (files.empty()) {
      if (!common.quiet) out.note("the model has no external data");
    } else {
      table.print(out);
    }
    return done(good ? kDone : kAnswerIsNo);
  }

  std::string model_, out_;
  onnx::StoreOptions store_;
  bool verify_ = false, split_ = false, inside_ = false;
};

}  // namespace
std::unique_ptr<Command> external() { return std::make_unique<External>(); }
}  // namespace sx::tools::commands
