// SPDX-License-Identifier: Apache-2.0
// What the kernel tests share: every vector level of the machine, random numbers, threads.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/cpu.h"
#include "base/parallel.h"

namespace sx::testing {

// Runs body once at each vector level that the machine has, and puts the level back.
template <class Body>
void for_each_isa(Body body) {
  const Isa before = active_isa();
  for (int i = 0; i <= static_cast<int>(detected_isa()); ++i) {
    set_active_isa(static_cast<Isa>(i));
    body(static_cast<Isa>(i));
  }
  set_active_isa(before);
}

// The same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2654435761u + 88172645463325252u) {}
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  size_t below(size_t n) { return static_cast<size_t>(next() >> 11) % n; }
  float uniform(float low, float high) {
    return low + (high - low) * static_cast<float>(next() >> 40) / 16777216.0f;
  }
  std::vector<float> floats(size_t n, float low = -1.0f, float high = 1.0f) {
    std::vector<float> v(n);
    for (float& x : v) x = uniform(low, high);
    return v;
  }

 private:
  uint64_t state_;
};

// Plain threads that take chunks from the end, so that the order differs from the serial one.
class Threads final : public Parallel {
 public:
  explicit Threads(size_t width) : width_(width) {}
  void run(size_t chunks, FunctionRef<void(size_t, size_t)> body) override {
    std::vector<std::thread> threads;
    for (size_t worker = 0; worker < width_; ++worker)
      threads.emplace_back([&, worker] {
        for (size_t i = chunks; i-- > 0;)
          if (i % width_ == worker) body(i, worker);
      });
    for (std::thread& thread : threads) thread.join();
  }
  size_t width() const override { return width_; }

 private:
  size_t width_;
};

}  // namespace sx::testing
