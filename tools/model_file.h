// SPDX-License-Identifier: Apache-2.0
// Models as the editing verbs take and leave them: a file, "-" for a pipe, or the file itself changed in
// place.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "onnx/model.h"
#include "onnx/store.h"
#include "options.h"

namespace sx::tools {

Result<std::shared_ptr<const MappedFile>> open_file(
    const std::string& path);  // "-" reads standard input whole
Result<std::shared_ptr<onnx::Model>> open_model(const std::string& path);
Status save_text(const std::string& path, std::string_view text);  // "-" writes standard output

// The flags -o and --in-place, and where the result of an edit goes.
struct Target {
  std::string out;
  bool in_place = false;
  void add(Options& o);
  Status check() const;  // one of the two was given
  // Says what was done, as in "changed 12 bytes in place" or "wrote model.onnx (97.8 MB)".
  Result<std::string> save(const onnx::Model& model, const std::string& from) const;
};

// "old=new" at its first '='.
Result<std::pair<std::string, std::string>> split_pair(const std::string& text, const char* expected);

}  // namespace sx::tools
