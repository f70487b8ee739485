// SPDX-License-Identifier: Apache-2.0
// Parallel: where a kernel's independent chunks run. A kernel cuts its work by shape alone, never by the
// number of threads, so results are bit-equal however many threads there are.
#pragma once
#include <cstddef>

#include "base/function_ref.h"

namespace sx {

class Parallel {
 public:
  virtual ~Parallel() = default;
  // Calls body(chunk, worker) once for each chunk in [0, chunks), in any order, and returns when all are
  // done. 0 <= worker < width(); two bodies that run at the same time have different workers, so per-worker
  // scratch memory can be indexed by it.
  virtual void run(size_t chunks, FunctionRef<void(size_t chunk, size_t worker)> body) = 0;
  virtual size_t width() const = 0;
};

// Runs every chunk on the calling thread.
class Serial final : public Parallel {
 public:
  void run(size_t chunks, FunctionRef<void(size_t, size_t)> body) override {
    for (size_t i = 0; i < chunks; ++i) body(i, 0);
  }
  size_t width() const override { return 1; }
};

}  // namespace sx
