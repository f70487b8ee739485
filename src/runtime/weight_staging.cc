// SPDX-License-Identifier: Apache-2.0
#include "runtime/weight_staging.h"

namespace sx {
namespace {

// Smaller weights share pages with their neighbours; larger ones would leave the cache before they are
// packed.
constexpr size_t kLeast = size_t{64} << 10, kMost = size_t{32} << 20;

}  // namespace

WeightStaging::~WeightStaging() {
  if (memory_) free_fresh(memory_, bytes_);
}

bool WeightStaging::make_room(size_t bytes) {
  if (bytes <= bytes_) return true;
  if (memory_) free_fresh(memory_, bytes_);
  memory_ = nullptr;
  bytes_ = 0;
  charge_ = MemoryCharge();
  const size_t room = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  auto charge = charge_memory(room);
  if (!charge.ok()) return false;
  charge_ = std::move(charge).value();
  memory_ = allocate_fresh(room);
  bytes_ = memory_ ? room : 0;
  return memory_ != nullptr;
}

Result<const void*> WeightStaging::bring(const MappedFile& file, std::span<const uint8_t> bytes,
                                         Parallel& parallel) {
  if (bytes.size() < kLeast || bytes.size() > kMost || !make_room(bytes.size())) return nullptr;
  const std::span<uint8_t> here(static_cast<uint8_t*>(memory_), bytes.size());
  SX_ASSIGN(const bool copied, file.copy_out(size_t(bytes.data() - file.bytes().data()), here, parallel));
  return copied ? memory_ : nullptr;
}

}  // namespace sx
