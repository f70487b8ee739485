// SPDX-License-Identifier: Apache-2.0
#include "tensor/buffer.h"

#include <cstring>

#include "base/format.h"
#include "base/mapped_file.h"
#include "base/memory.h"

namespace sx {
namespace {

struct OwnedBuffer final : Buffer {
  explicit OwnedBuffer(void* p, size_t bytes) {
    data_ = p;
    bytes_ = bytes;
    writable_ = true;
  }
  ~OwnedBuffer() override { free_memory(const_cast<void*>(data_), bytes_ + kAlignment); }
};

struct OtherBuffer final : Buffer {
  OtherBuffer(const void* data, size_t bytes, std::shared_ptr<const void> owner, bool writable) {
    data_ = data;
    bytes_ = bytes;
    owner_ = std::move(owner);
    writable_ = writable;
  }
  OtherBuffer(std::shared_ptr<const MappedFile> file, const void* data, size_t bytes)
      : OtherBuffer(data, bytes, nullptr, false) {
    file_ = file.get();
    owner_ = std::move(file);
  }
  explicit OtherBuffer(size_t count) {
    strings_ = std::make_unique<std::vector<std::string>>(count);
    data_ = strings_->data();
    bytes_ = count * sizeof(std::string);
    writable_ = true;
  }
};

}  // namespace

Result<std::shared_ptr<Buffer>> Buffer::allocate(size_t bytes) {
  void* p = bytes > SIZE_MAX - kAlignment ? nullptr : allocate_memory(bytes + kAlignment);
  if (!p) return error(Code::out_of_memory, "cannot allocate {} bytes", bytes);
  std::memset(static_cast<char*>(p) + bytes, 0, kAlignment);
  return std::shared_ptr<Buffer>(std::make_shared<OwnedBuffer>(p, bytes));
}

std::shared_ptr<Buffer> Buffer::wrap(const void* data, size_t bytes, std::shared_ptr<const void> owner,
                                     bool writable) {
  return std::make_shared<OtherBuffer>(data, bytes, std::move(owner), writable);
}

std::shared_ptr<Buffer> Buffer::in_file(std::shared_ptr<const MappedFile> file, const void* data,
                                        size_t bytes) {
  return std::make_shared<OtherBuffer>(std::move(file), data, bytes);
}

std::shared_ptr<Buffer> Buffer::strings(size_t count) { return std::make_shared<OtherBuffer>(count); }

}  // namespace sx
