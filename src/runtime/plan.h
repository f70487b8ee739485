// SPDX-License-Identifier: Apache-2.0
// Plan: sizes and addresses of a program for one set of input dims. Frame: the memory and pointers of one
// run.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "base/idle_slots.h"
#include "runtime/program.h"

namespace sx {

// Where a slot's memory comes from.
struct Address {
  enum class Base : uint8_t { none, arena, input, output, fixed } base = Base::none;
  uint32_t index = 0;  // the memory space, or which input or output
  int64_t offset = 0;  // in bytes
};

struct PlannedStep {
  std::unique_ptr<Prepared> prepared;
  std::unique_ptr<Kernel> instead;  // of the last provider, where the step's own cannot do these sizes
  bool nothing = false;             // no output has elements, long axes would be walked: left out
  Needs needs;
  int64_t scratch = -1, worker_scratch = -1;  // offsets in the host arena; -1: none
  size_t worker_stride = 0;
};

struct Plan {
  std::vector<int64_t> key;        // dims of the inputs and outer symbols
  std::vector<int64_t> symbols;    // by symbol; -1 where it is not known at the start
  std::vector<View> views;         // by slot; `data` only for constants and shapes
  std::vector<Address> addresses;  // by slot
  std::vector<PlannedStep> steps;
  std::vector<size_t> arena_bytes;  // by memory space
  std::shared_ptr<Buffer> shapes;   // contents of shape slots

  Plan();
  ~Plan();
  std::atomic<uint64_t> last_used{0};
  IdleSlots<Frame> frames;  // not in use
};

// Whether the memory limit allows what a kernel wants for itself.
Status scratch_fits(const Needs& needs, size_t workers);

// Notes that a provider failed, unless the error is the caller's or the caller's wish.
void blame(Provider* provider, const Status& status, Provider** failed);

struct Frame {
  Frame(const Program& program, Plan& plan);
  void bind(size_t index, Address::Base base, void* data);

  Plan& plan;
  std::vector<int64_t> symbols;
  std::vector<View> views;       // by slot
  std::vector<Value> values;     // by slot; for slots that are not numeric, or that a record made
  std::vector<Block> blocks;     // by slot; late slots
  std::vector<Block> arenas;     // by memory space; empty between runs
  std::vector<void*> arena_was;  // where the pointers in `views` point
  std::vector<std::vector<const View*>> in, out;         // by step
  std::vector<PlannedStep> late_steps;                   // by step; prepared during the run
  std::vector<std::vector<Dims>> late_dims;              // by step: dims and strides it was prepared for
  std::vector<Binding> child_in, child_out;              // reused by branches
  std::vector<Block> scratch;                            // of late steps, by step
  std::vector<std::vector<SlotId>> by_input, by_output;  // slots to patch
};

}  // namespace sx
