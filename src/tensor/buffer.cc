// SPDX-License-Identifier: Apache-2.0
#include "tensor/buffer.h"

#include <cstring>

#include "base/format.h"
#include "base/huge_pages.h"
#include "base/mapped_file.h"
#include "base/task.h"
#include "tensor/text_account.h"

namespace sx {
namespace {

// What a block costs beside its bytes: so many small ones do not go uncounted.
constexpr size_t kOverhead = 192;

struct OwnedBuffer final : Buffer {
  OwnedBuffer(void* p, size_t bytes, MemoryCharge charge) : charge_(std::move(charge)) {
    data_ = p;
    bytes_ = bytes;
    writable_ = true;
  }
  ~OwnedBuffer() override { free_fresh(const_cast<void*>(data_), bytes_ + kAlignment); }
  MemoryCharge charge_;
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
  OtherBuffer(size_t count, MemoryCharge charge) : charge_(std::move(charge)) {
    strings_ = std::make_unique<std::vector<std::string>>();
    strings_->reserve(count);
    for ([[maybe_unused]] size_t k : turns(count)) strings_->emplace_back();
    data_ = strings_->data();
    bytes_ = count * sizeof(std::string);
    writable_ = true;
  }
  MemoryCharge charge_;
};

constexpr size_t kReserve = size_t(1) << 20;

}  // namespace

TextAccount::TextAccount(Tensor& to) : to_(to), memory_(current_task().memory) {}

TextAccount::~TextAccount() {
  auto* texts = dynamic_cast<OtherBuffer*>(to_.buffer().get());
  if (texts && memory_) texts->charge_.add(used_);
  if (memory_) memory_->give(reserved_);
}

bool TextAccount::reserve(size_t letters) {
  const size_t more = std::max(letters, kReserve);
  if (refused_) return false;
  if (!memory_->take(more, current_task().memory_limit)) {
    if (!memory_->take(letters, current_task().memory_limit)) {
      refused_ = true;
      (void)memory_refused(letters, "a text");
      return false;
    }
    reserved_ += letters;
  } else {
    reserved_ += more;
  }
  used_ += letters;
  return true;
}

Result<std::shared_ptr<Buffer>> Buffer::allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return memory_refused(bytes, {});
  SX_ASSIGN(MemoryCharge charge, charge_memory(bytes + kOverhead));
  void* p = allocate_fresh(bytes + kAlignment);
  if (!p) return error(Code::out_of_memory, "the system has no {} to give", bytes_text(bytes));
  std::memset(static_cast<char*>(p) + bytes, 0, kAlignment);
  return std::shared_ptr<Buffer>(std::make_shared<OwnedBuffer>(p, bytes, std::move(charge)));
}

std::shared_ptr<Buffer> Buffer::wrap(const void* data, size_t bytes, std::shared_ptr<const void> owner,
                                     bool writable) {
  return std::make_shared<OtherBuffer>(data, bytes, std::move(owner), writable);
}

std::shared_ptr<Buffer> Buffer::in_file(std::shared_ptr<const MappedFile> file, const void* data,
                                        size_t bytes) {
  return std::make_shared<OtherBuffer>(std::move(file), data, bytes);
}

std::shared_ptr<Buffer> Buffer::strings(size_t count) {
  if (count > SIZE_MAX / 2 / sizeof(std::string)) return nullptr;
  auto charge = charge_memory(count * sizeof(std::string) + kOverhead);
  if (!charge.ok()) return nullptr;
  return std::make_shared<OtherBuffer>(count, std::move(charge).value());
}

}  // namespace sx
