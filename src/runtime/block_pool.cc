// SPDX-License-Identifier: Apache-2.0
#include "runtime/block_pool.h"

#include <algorithm>

#include "base/format.h"
#include "base/huge_pages.h"
#include "base/task.h"

namespace sx {
namespace {

constexpr size_t kSlack = 64;  // vector kernels may read past the end of a row

size_t round_up(size_t bytes) {
  const size_t unit = bytes < 4096 ? 256 : bytes < (1 << 20) ? 4096 : bytes < kHugePage ? 65536 : kHugePage;
  return (bytes + kSlack + unit - 1) / unit * unit;
}

}  // namespace

BlockPool::BlockPool(std::shared_ptr<MemoryBudget> memory) : memory_(std::move(memory)) {
  if (memory_) memory_->join(this);
}

BlockPool::~BlockPool() {
  if (memory_) memory_->leave(this);
  trim();
}

namespace {

// A block more than four times too large is left for somebody who needs it.
bool serves(const Block& block, size_t wanted) {
  return block.bytes >= wanted && block.bytes <= wanted * 4 + 65536;
}

}  // namespace

bool BlockPool::take_from_cell(size_t wanted, Block& block) {
  for (Cell& cell : cells_) {
    uint8_t full = Cell::full;
    if (!cell.state.compare_exchange_strong(full, Cell::busy, std::memory_order_acquire)) continue;
    const bool found = serves(cell.block, wanted);
    if (found) block = cell.block;
    cell.state.store(found ? Cell::empty : Cell::full, std::memory_order_release);
    if (found) return true;
  }
  return false;
}

bool BlockPool::put_into_cell(const Block& block) {
  for (Cell& cell : cells_) {
    uint8_t empty = Cell::empty;
    if (!cell.state.compare_exchange_strong(empty, Cell::busy, std::memory_order_acquire)) continue;
    cell.block = block;
    cell.state.store(Cell::full, std::memory_order_release);
    return true;
  }
  return false;
}

bool BlockPool::find_free(size_t wanted, Block& block) {
  if (take_from_cell(wanted, block)) return true;
  std::lock_guard lock(mutex_);
  size_t best = free_.size();
  for (size_t i = 0; i < free_.size(); ++i) {
    if (!serves(free_[i], wanted)) continue;
    if (best == free_.size() || free_[i].bytes < free_[best].bytes) best = i;
  }
  if (best == free_.size()) return false;
  block = free_[best];
  free_[best] = free_.back();
  free_.pop_back();
  return true;
}

Result<void*> BlockPool::allocate(size_t bytes) {
  if (space_) return space_->allocate(bytes);
  if (memory_ && !memory_->take(bytes, current_task().memory_limit)) return memory_refused(bytes, {});
  void* data = allocate_fresh(bytes);
  if (data) return data;
  if (memory_) memory_->give(bytes);
  return error(Code::out_of_memory, "the system has no {} to give", bytes_text(bytes));
}

Result<Block> BlockPool::take(size_t bytes) {
  if (bytes > SIZE_MAX / 8) return memory_refused(bytes, {});
  Block block{nullptr, round_up(bytes)};
  if (find_free(block.bytes, block)) return block;
  release_outgrown(block.bytes);
  SX_ASSIGN(block.data, allocate(block.bytes));
  std::lock_guard lock(mutex_);
  held_ += block.bytes;
  free_.reserve(free_.capacity() > free_.size() + 8 ? 0 : free_.size() * 2 + 16);
  return block;
}

void BlockPool::give(Block block) {
  if (!block || put_into_cell(block)) return;
  std::lock_guard lock(mutex_);
  free_.push_back(block);
}

size_t BlockPool::held_bytes() const {
  std::lock_guard lock(mutex_);
  return held_;
}

void BlockPool::release(const Block& block) {
  held_ -= block.bytes;
  if (space_) {
    space_->release(block.data);
    return;
  }
  free_fresh(block.data, block.bytes);
  if (memory_) memory_->give(block.bytes);
}

template <class Unwanted>
void BlockPool::release_free(Unwanted unwanted) {
  for (Cell& cell : cells_) {
    uint8_t full = Cell::full;
    if (!cell.state.compare_exchange_strong(full, Cell::busy, std::memory_order_acquire)) continue;
    const bool goes = unwanted(cell.block);
    if (goes) release(cell.block);
    cell.state.store(goes ? Cell::empty : Cell::full, std::memory_order_release);
  }
  std::erase_if(free_, [&](const Block& block) {
    const bool goes = unwanted(block);
    if (goes) release(block);
    return goes;
  });
}

void BlockPool::release_outgrown(size_t coming) {
  std::lock_guard lock(mutex_);
  size_t free = 0;
  release_free([&](const Block& block) { return free += block.bytes, false; });
  most_taken_ = std::max(most_taken_, held_ - free + coming);
  if (held_ + coming <= 2 * most_taken_) return;
  release_free([&](const Block& block) {
    return block.bytes < coming && serves({nullptr, coming}, block.bytes);
  });
}

void BlockPool::trim() {
  std::lock_guard lock(mutex_);
  release_free([](const Block&) { return true; });
}

}  // namespace sx
