// SPDX-License-Identifier: Apache-2.0
// Models as the editing verbs take and leave them: a file, "-" for a pipe, or the file itself changed in
// place.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "command.h"
#include "onnx/model.h"
#include "onnx/store.h"
#include "progress.h"

namespace sx::tools {

Result<std::shared_ptr<const MappedFile>> open_file(
    const std::string& path);  // "-" reads standard input whole
Result<std::shared_ptr<onnx::Model>> open_model(const std::string& path);
// Says on a terminal that the model is being written, and how far it is.
std::unique_ptr<Busy> busy_writing(Terminal& out, const onnx::Model& model, const std::string& path);
// Why writing failed: if a file that the model lies in was changed meanwhile, that is it.
Outcome writing_failed(const onnx::Model& model, Status status);
Status save_text(const std::string& path, std::string_view text);  // "-" writes standard output

// What an edit has written, for people ("wrote model.onnx (97.8 MB)") or as JSON. `counted` says how much it
// did.
struct Saved {
  std::string path;
  bool in_place = false;
  uint64_t bytes = 0;                               // of the model
  std::vector<onnx::StoreReport::File> files = {};  // beside it
  void tell(const Common& common, Terminal& out, const char* counted = nullptr, size_t count = 0) const;
};

// The flags -o and --in-place, and where the result of an edit goes.
struct Target {
  std::string out;
  bool in_place = false;
  void add(Options& o);
  Status check() const;  // one of the two was given
  Result<Saved> save(const onnx::Model& model, const std::string& from, Terminal& terminal) const;
};

// "old=new" at its first '='.
Result<std::pair<std::string, std::string>> split_pair(const std::string& text, const char* expected);

}  // namespace sx::tools
