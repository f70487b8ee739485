// SPDX-License-Identifier: Apache-2.0
#include "runtime/weight_slab.h"

#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "base/huge_pages.h"
#include "base/memory.h"
#include "base/task.h"

namespace sx {
namespace {

// The first slab has small pages, so that a small model holds no more than it needs. What is larger than it
// goes to the next one at once.
constexpr size_t kFirst = size_t{1} << 20, kNext = size_t{32} << 20;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

class WeightSlab {
 public:
  WeightSlab(size_t bytes, size_t alignment)
      : alignment_(alignment),
        data_(static_cast<uint8_t*>(allocate_memory(bytes, alignment))),
        bytes_(data_ ? bytes : 0),
        pages_(data_, alignment == kHugePage ? bytes_ : 0) {}
  ~WeightSlab() {
    if (data_) free_memory(data_, alignment_);
  }
  WeightSlab(const WeightSlab&) = delete;
  WeightSlab& operator=(const WeightSlab&) = delete;

  uint8_t* take(size_t bytes) {  // null: no room
    if (bytes > bytes_ - used_) return nullptr;
    uint8_t* place = data_ + used_;
    used_ += bytes;
    pages_.take(used_);
    return place;
  }

 private:
  size_t alignment_;
  uint8_t* data_;
  size_t bytes_, used_ = 0;
  FreshPages pages_;
};

namespace {

struct Place {
  Place(std::shared_ptr<WeightSlab> of, MemoryCharge by, uint8_t* at, size_t size)
      : slab(std::move(of)), charge(std::move(by)), data(at), bytes(size) {}
  ~Place() {
    if (slab.use_count() > 1) return_pages(data, bytes);  // its neighbours live on
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::shared_ptr<WeightSlab> slab;
  MemoryCharge charge;
  uint8_t* data;
  size_t bytes;
};

}  // namespace

Result<std::shared_ptr<Buffer>> WeightSlabs::allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return memory_refused(bytes, {});
  SX_ASSIGN(MemoryCharge charge, charge_memory(bytes));
  const size_t room = round_up(bytes, kAlignment) + kAlignment;
  std::shared_ptr<WeightSlab> slab = open_.lock();
  uint8_t* data = slab ? slab->take(room) : nullptr;
  if (!data) {
    const bool first = first_ && room <= kFirst;
    slab = first ? std::make_shared<WeightSlab>(kFirst, kVectorAlignment)
                 : std::make_shared<WeightSlab>(std::max(room, kNext), kHugePage);
    data = slab->take(room);
    first_ = false;
    open_ = slab;
  }
  if (!data) return error(Code::out_of_memory, "the system has no {} to give", bytes_text(bytes));
  std::memset(data + bytes, 0, kAlignment);
  auto place = std::make_shared<Place>(std::move(slab), std::move(charge), data, room);
  return Buffer::wrap(data, bytes, std::move(place), /*writable=*/true);
}

}  // namespace sx
