// SPDX-License-Identifier: Apache-2.0
// Writes bytes of which large pieces lie in mapped files: those are copied by the system, file to file,
// without passing through our memory. Internal to src/onnx.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "base/mapped_file.h"
#include "base/output_file.h"

namespace sx::onnx {

class SpanWriter {
 public:
  SpanWriter(OutputFile& to, const std::vector<std::shared_ptr<const MappedFile>>& sources);
  ~SpanWriter();
  SpanWriter(const SpanWriter&) = delete;
  SpanWriter& operator=(const SpanWriter&) = delete;
  Status put(std::span<const uint8_t> bytes);

 private:
  struct Source {
    std::shared_ptr<const MappedFile> file;
    int fd = -1;  // opened when it is first needed; -2: cannot be
  };
  OutputFile& to_;
  std::vector<Source> sources_;
};

}  // namespace sx::onnx
