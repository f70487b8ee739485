// SPDX-License-Identifier: Apache-2.0
#include "runtime/block_pool.h"

#include "base/format.h"
#include "base/memory.h"

namespace sx {
namespace {

constexpr size_t kSlack = 64;  // vector kernels may read past the end of a row

size_t round_up(size_t bytes) {
  const size_t unit = bytes < 4096 ? 256 : bytes < (1 << 20) ? 4096 : 65536;
  return (bytes + kSlack + unit - 1) / unit * unit;
}

}  // namespace

BlockPool::~BlockPool() { trim(); }

Result<Block> BlockPool::take(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return error(Code::out_of_memory, "cannot allocate {} bytes", bytes);
  const size_t wanted = round_up(bytes);
  std::lock_guard lock(mutex_);
  size_t best = free_.size();
  for (size_t i = 0; i < free_.size(); ++i) {
    // A block more than four times too large is left for somebody who needs it.
    if (free_[i].bytes < wanted || free_[i].bytes > wanted * 4 + 65536) continue;
    if (best == free_.size() || free_[i].bytes < free_[best].bytes) best = i;
  }
  if (best < free_.size()) {
    const Block block = free_[best];
    free_[best] = free_.back();
    free_.pop_back();
    return block;
  }
  Block block{nullptr, wanted};
  if (space_) {
    SX_ASSIGN(block.data, space_->allocate(wanted));
  } else {
    block.data = allocate_memory(wanted);
    if (!block.data) return error(Code::out_of_memory, "cannot allocate {} bytes", wanted);
  }
  held_ += wanted;
  free_.reserve(free_.capacity() > free_.size() + 8 ? 0 : free_.size() * 2 + 16);
  return block;
}

void BlockPool::give(Block block) {
  if (!block) return;
  std::lock_guard lock(mutex_);
  free_.push_back(block);
}

size_t BlockPool::held_bytes() const {
  std::lock_guard lock(mutex_);
  return held_;
}

void BlockPool::trim() {
  std::lock_guard lock(mutex_);
  for (const Block& block : free_) {
    held_ -= block.bytes;
    if (space_) {
      space_->release(block.data);
    } else {
      free_memory(block.data, block.bytes);
    }
  }
  free_.clear();
}

}  // namespace sx
