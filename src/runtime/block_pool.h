// SPDX-License-Identifier: Apache-2.0
// BlockPool: recycled memory of a session, so that a warm run allocates nothing. Arenas of frames and values
// whose size is known only during a run come from here.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/memory_budget.h"
#include "base/result.h"
#include "runtime/provider.h"

namespace sx {

struct Block {
  void* data = nullptr;
  size_t bytes = 0;
  explicit operator bool() const { return data != nullptr; }
};

class BlockPool final : private MemoryKeeper {
 public:
  // Host memory, counted in `memory`, to which free blocks go back when it runs short.
  explicit BlockPool(std::shared_ptr<MemoryBudget> memory);
  explicit BlockPool(MemorySpace* space) : space_(space) {}
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  Result<Block> take(size_t bytes);  // the smallest free block that is large enough, or a new one
  void give(Block block);
  size_t held_bytes() const;  // free and taken
  void trim();                // releases every free block

 private:
  bool find_free(size_t wanted, Block& block);
  // Where sizes grow, each would leave its block behind: the coming block serves those who would take the
  // smaller ones, which go once more than twice what was ever taken is held.
  void release_outgrown(size_t coming);
  Result<void*> allocate(size_t bytes);
  void release_kept() override { trim(); }

  // A free block that threads take and put without a lock. Whoever sets `busy` owns the cell until it says
  // what the cell is now; nobody waits for it.
  struct Cell {
    enum State : uint8_t { empty, full, busy };
    std::atomic<uint8_t> state{empty};
    Block block;
  };
  bool take_from_cell(size_t wanted, Block& block);
  bool put_into_cell(const Block& block);
  void release(const Block& block);
  template <class Unwanted>
  void release_free(Unwanted unwanted);  // under the mutex

  MemorySpace* space_ = nullptr;
  std::shared_ptr<MemoryBudget> memory_;
  std::array<Cell, 16> cells_;
  mutable std::mutex mutex_;
  std::vector<Block> free_;  // what the cells have no room for
  size_t held_ = 0, most_taken_ = 0;
};

}  // namespace sx
