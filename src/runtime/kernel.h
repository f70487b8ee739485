// SPDX-License-Identifier: Apache-2.0
// Kernel: one step of a program as a provider compiled it. It is made once, prepared once for each set of
// dims, and run many times, by several threads at once on different frames.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/parallel.h"
#include "base/result.h"
#include "tensor/tensor.h"
#include "tensor/value.h"

namespace sx {

struct KernelTraits {
  // (output, input): the output may lie in the input's memory when nothing else needs that input afterwards.
  std::vector<std::pair<uint8_t, uint8_t>> in_place;
  uint64_t strided_inputs = 0;  // bit i: input i may have any strides; otherwise it arrives contiguous
  uint64_t unused_inputs = 0;   // bit i: input i is not read by run() (packed ahead, or only its dims matter)
  uint64_t any_address = 0;     // bit i: input i is read as bytes; otherwise it is aligned for its type
  bool values =
      false;  // run_values() instead of run(): strings, sequences, maps, shapes known only afterwards
};

// Per-shape state that prepare() makes: geometry, chunk counts, tables. Read-only during run.
class Prepared {
 public:
  virtual ~Prepared() = default;
};

struct Needs {
  size_t workers = 1;             // told by the planner: the width of the Parallel that the step will get
  size_t scratch = 0;             // bytes for the whole step
  size_t scratch_per_worker = 0;  // bytes for each worker of the Parallel, 64-byte aligned each
};

struct RunContext {
  Parallel& parallel;
  const Cancel* cancel = nullptr;  // may be null; long kernels look at it now and then
  void* scratch = nullptr;
  void* worker_scratch = nullptr;  // worker w's part starts at w * worker_stride
  size_t worker_stride = 0;
  void* stream = nullptr;  // of a provider with its own memory

  template <class T>
  T* worker(size_t w) const {
    return reinterpret_cast<T*>(static_cast<char*>(worker_scratch) + w * worker_stride);
  }
};

using ViewList = std::span<const View* const>;  // an absent optional operand is a View that is not defined()

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::string_view name() const = 0;  // which implementation: "conv blocked 3x3 +add +relu"
  virtual const KernelTraits& traits() const = 0;
  // Views carry types, layouts and dims; `data` is null. Constant operands have their data.
  virtual Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList out, Needs& needs) {
    (void)in, (void)out, (void)needs;
    return std::unique_ptr<Prepared>();
  }
  // Allocates nothing. Outputs are contiguous in their layout.
  virtual Status run(const Prepared* prepared, ViewList in, ViewList out, RunContext& context) {
    (void)prepared, (void)in, (void)out, (void)context;
    return Status(Code::internal, "this kernel has no run()");
  }
  // Where the planner knows an output's dims, `out` comes with memory for it, which the kernel may use.
  virtual Status run_values(std::span<const Value> in, std::span<Value> out, RunContext& context) {
    (void)in, (void)out, (void)context;
    return Status(Code::internal, "this kernel has no run_values()");
  }
};

}  // namespace sx
