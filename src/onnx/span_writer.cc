// SPDX-License-Identifier: Apache-2.0
#include "onnx/span_writer.h"

#include <fcntl.h>
#include <unistd.h>

namespace sx::onnx {

SpanWriter::SpanWriter(OutputFile& to, const std::vector<std::shared_ptr<const MappedFile>>& sources)
    : to_(to) {
  for (const auto& file : sources) {
    if (file && file->is_mapped()) sources_.push_back({file});
  }
}

SpanWriter::~SpanWriter() {
  for (const Source& s : sources_) {
    if (s.fd >= 0) ::close(s.fd);
  }
}

Status SpanWriter::put(std::span<const uint8_t> bytes) {
  constexpr size_t kLarge = size_t(1) << 20;
  if (bytes.size() < kLarge) return to_.write(bytes);
  for (Source& s : sources_) {
    const auto all = s.file->bytes();
    if (bytes.data() < all.data() || bytes.data() + bytes.size() > all.data() + all.size()) continue;
    if (s.fd == -1) {
      s.fd = s.file->check_unchanged().ok() ? ::open(s.file->path().c_str(), O_RDONLY | O_CLOEXEC) : -2;
    }
    if (s.fd >= 0) return to_.copy_from(s.fd, uint64_t(bytes.data() - all.data()), bytes.size());
  }
  return to_.write(bytes);
}

}  // namespace sx::onnx
