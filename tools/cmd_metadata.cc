// SPDX-License-Identifier: Apache-2.0
// sardonyx metadata: the key-value pairs of a model, shown and changed.
#include <algorithm>

#include "base/format.h"
#include "command.h"
#include "json.h"
#include "model_file.h"

namespace sx::tools::commands {
namespace {

class Metadata final : public Command {
 public:
  Metadata() {
    name = "metadata";
    group = Group::edit;
    summary = "show, set or delete the metadata of a model";
    example = "sardonyx metadata model.onnx --set author=me --delete draft -o model2.onnx";
  }
  void options(Options& o) override {
    o.argument("MODEL", model_, "the model to read; - for standard input").is(Takes::model);
    o.value("--get", "KEY", get_, "print the value of this key");
    o.value("--set", "KEY=VALUE", set_, "add this entry, or change it");
    o.value("--delete", "KEY", delete_, "take this entry out");
    target_.add(o);
  }
  Outcome run(const Common& common, Terminal& out) override {
    const bool edit = !set_.empty() || !delete_.empty();
    if (edit) {
      if (Status s = target_.check(); !s.ok()) return {std::move(s), kUsage};
    }
    auto model = open_model(model_);
    if (!model.ok()) return refuse(std::move(model).status());
    if (!edit) return show(**model, common, out);
    if (Status s = change((*model)->metadata_props); !s.ok()) return {std::move(s), kUsage};
    auto said = target_.save(**model, model_, out);
    if (!said.ok()) return writing_failed(**model, std::move(said).status());
    said->tell(common, out);
    return done();
  }

 private:
  using Entries = std::vector<onnx::StringStringEntryProto>;

  Status change(Entries& entries) const {
    for (const std::string& key : delete_) {
      const auto end =
          std::remove_if(entries.begin(), entries.end(), [&](const auto& e) { return e.key == key; });
      if (end == entries.end()) return error(Code::not_found, "the model has no metadata '{}'", escaped(key));
      entries.erase(end, entries.end());
    }
    for (const std::string& pair : set_) {
      SX_ASSIGN(const auto entry, split_pair(pair, "KEY=VALUE"));
      const auto it =
          std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.key == entry.first; });
      if (it != entries.end()) {
        it->value = entry.second;
      } else {
        entries.push_back({{}, entry.first, entry.second});
      }
    }
    return {};
  }

  Outcome show(const onnx::Model& model, const Common& common, Terminal& out) const {
    if (!get_.empty()) {
      const auto* e = onnx::find_entry(model.metadata_props, get_);
      if (!e) return {error(Code::not_found, "the model has no metadata '{}'", escaped(get_)), kAnswerIsNo};
      out.line(common.json ? Json().text(e->value.view()).str() : escaped(e->value));
      return done();
    }
    if (common.json) {
      Json j;
      j.open_object();
      for (const auto& e : model.metadata_props) j.text(e.key, e.value);
      out.line(j.close_object().str());
      return done();
    }
    Table table({"key", "value"});
    for (const auto& e : model.metadata_props) table.row({escaped(e.key), shorten(escaped(e.value), 200)});
    if (table.rows() > 0) table.print(out);
    return done();
  }

  std::string model_, get_;
  std::vector<std::string> set_, delete_;
  Target target_;
};

}  // namespace
std::unique_ptr<Command> metadata() { return std::make_unique<Metadata>(); }
}  // namespace sx::tools::commands
