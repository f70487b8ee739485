// SPDX-License-Identifier: Apache-2.0
// SpecialPrograms: where sizes decide what runs, a program made for one set of input sizes is faster than the
// general one. It is made when a set of sizes comes again; runs find it without a lock, and never wait for
// one being made.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/published.h"
#include "runtime/compiled.h"

namespace sx {

class SpecialPrograms {
 public:
  using Time = std::chrono::nanoseconds;

  explicit SpecialPrograms(size_t most) : most_(most) {}

  // The program for these sizes; null where there is none, or none could be made.
  std::shared_ptr<Compiled> find(std::span<const Value> inputs) const;
  // After a run of the general program: should the caller make one for these sizes now? Only one caller at a
  // time is told so, and has to say finished() or given_up().
  bool worth_making(std::span<const Value> inputs, Time run);
  // The caller makes one whatever it costs, to show it. False: another one is being made.
  bool begin();
  void finished(std::span<const Value> inputs, std::shared_ptr<Compiled> made, Time took);
  void given_up();  // what kept it from being made may be over next time
  void clear();
  std::shared_ptr<Compiled> newest() const;

 private:
  struct Entry {
    std::vector<Dims> sizes;
    std::shared_ptr<Compiled> compiled;  // null: it could not be made
    mutable std::atomic<uint64_t> last_used{0};
  };
  using Table = std::vector<std::shared_ptr<const Entry>>;  // newest last
  static bool fits(const Entry& entry, std::span<const Value> inputs);
  bool came_before(std::span<const Value> inputs);

  const size_t most_;
  Published<Table> table_;
  mutable std::atomic<uint64_t> clock_{0};

  std::mutex mutex_;                 // never held while a program is made or run
  std::array<uint64_t, 64> seen_{};  // hashes of the last sets of sizes that had no program
  size_t next_seen_ = 0, made_ = 0;
  bool making_ = false;
  Time owed_{0};  // what the last one cost, less the runs since then
};

}  // namespace sx
