// SPDX-License-Identifier: Apache-2.0
// MappedFile: the bytes of a regular file, mapped read-only or copied. Shared by everything that points into
// it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/parallel.h"
#include "base/result.h"

namespace sx {

enum class LoadMode {
  map,   // pages come from the file on demand
  copy,  // read whole; for places where the file may be changed or cut while it is in use
};

class MappedFile {
 public:
  // Refuses folders, FIFOs, sockets and devices.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path,
                                                        LoadMode mode = LoadMode::map);
  // The same for a file that is open; `path` is what errors and check_unchanged() call it.
  static Result<std::shared_ptr<const MappedFile>> from_descriptor(int fd, const std::string& path,
                                                                   LoadMode mode = LoadMode::map);
  static std::shared_ptr<const MappedFile> from_bytes(std::string name, const void* data, size_t size);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  bool is_mapped() const { return mapped_; }
  // The file still has the size and the modification time that it had when it was opened.
  Status check_unchanged() const;
  // Copies bytes of the file to memory without touching the pages that map them. False where they cannot be
  // had so: the bytes are in memory already, or the path does not lead to this file any more.
  Result<bool> copy_out(size_t offset, std::span<uint8_t> to, Parallel& parallel) const;
  // Tells the system that these pages will not be needed soon.
  void release(size_t offset, size_t length) const;

 private:
  MappedFile() = default;
  std::string path_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false;
  uint64_t device_ = 0, inode_ = 0;
  int64_t modified_ns_ = 0;
};

}  // namespace sx
