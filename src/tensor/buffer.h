// SPDX-License-Identifier: Apache-2.0
// Buffer: a block of memory that tensors share. It may be owned, part of a mapped file, or borrowed.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace sx {

class MappedFile;

inline constexpr size_t kAlignment = 64;

class Buffer {
 public:
  // Fresh zeroed-or-not memory, 64-byte aligned, 64 readable bytes past the end.
  static Result<std::shared_ptr<Buffer>> allocate(size_t bytes);
  // Memory that `owner` keeps alive; read-only unless `writable`.
  static std::shared_ptr<Buffer> wrap(const void* data, size_t bytes, std::shared_ptr<const void> owner,
                                      bool writable = false);
  // A part of a file's bytes.
  static std::shared_ptr<Buffer> in_file(std::shared_ptr<const MappedFile> file, const void* data,
                                         size_t bytes);
  static std::shared_ptr<Buffer> strings(size_t count);
  virtual ~Buffer() = default;

  const void* data() const { return data_; }
  void* mutable_data() { return writable_ ? const_cast<void*>(data_) : nullptr; }
  size_t bytes() const { return bytes_; }
  bool writable() const { return writable_; }
  const MappedFile* file() const { return file_; }  // null: the bytes lie elsewhere
  std::vector<std::string>* as_strings() { return strings_.get(); }

 protected:
  Buffer() = default;
  const void* data_ = nullptr;
  size_t bytes_ = 0;
  bool writable_ = false;
  std::shared_ptr<const void> owner_;
  const MappedFile* file_ = nullptr;
  std::unique_ptr<std::vector<std::string>> strings_;
};

}  // namespace sx
