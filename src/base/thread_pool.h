// SPDX-License-Identifier: Apache-2.0
// ThreadPool: workers that take a kernel's chunks one by one, spin for a bounded moment, then sleep.
#pragma once
#include <memory>

#include "base/parallel.h"

namespace sx {

// A pool's bound: more than a small multiple of the processors only gets in its own way.
unsigned most_threads();

class ThreadPool final : public Parallel {
 public:
  // `threads` counts the calling thread: 1 makes no workers. 0 means usable_cpus(). More than most_threads()
  // are not made, and what the system refuses is done without: width() tells.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool() override;

  // Reentrant and shared: a call made while the workers are busy with another region, or from inside a body,
  // runs its chunks on the calling thread (as worker 0 of its own region). Workers take over the caller's
  // Task; when that is stopped, the remaining chunks are left out.
  void run(size_t chunks, FunctionRef<void(size_t chunk, size_t worker)> body) override;
  size_t width() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sx
