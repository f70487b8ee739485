// SPDX-License-Identifier: Apache-2.0
// OutputFile: writes beside the target and renames on commit, so that nobody ever sees half a file. Where the
// system can, the file has no name until then: a program that is killed leaves nothing behind.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace sx {

class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();  // an uncommitted file is removed

  Status write(std::span<const uint8_t> bytes);
  Status write(std::string_view text);
  // Copies bytes of another open file without bringing them into memory where the system can.
  Status copy_from(int fd, uint64_t offset, uint64_t length);
  Status pad_to(uint64_t offset);  // zeros up to this offset
  uint64_t size() const { return size_ + used_; }
  Status commit();  // flush, fsync, rename

 private:
  OutputFile() = default;
  Status flush();
  std::string path_, temporary_;
  int fd_ = -1;
  uint64_t size_ = 0;
  size_t used_ = 0;
  std::string buffer_;
};

}  // namespace sx
