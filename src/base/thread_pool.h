// SPDX-License-Identifier: Apache-2.0
// ThreadPool: workers that take a kernel's chunks one by one, spin for a bounded moment, then sleep.
#pragma once
#include <memory>

#include "base/parallel.h"

namespace sx {

class ThreadPool final : public Parallel {
 public:
  // `threads` counts the calling thread: 1 makes no workers. 0 means usable_cpus().
  explicit ThreadPool(unsigned threads);
  ~ThreadPool() override;

  // Reentrant and shared: a call made while the workers are busy with another region, or from inside a body,
  // runs its chunks on the calling thread (as worker 0 of its own region).
  void run(size_t chunks, FunctionRef<void(size_t chunk, size_t worker)> body) override;
  size_t width() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sx
