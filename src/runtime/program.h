// SPDX-License-Identifier: Apache-2.0
// Program: one body of a graph, compiled: a flat list of steps over numbered slots. The main body and every
// branch or loop body each have one. A Plan fixes sizes and addresses for one set of input dims; a Frame is
// the memory of one run.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/published.h"
#include "graph/graph.h"
#include "runtime/block_pool.h"
#include "runtime/kernel.h"
#include "runtime/placement.h"

namespace sx {

class Program;
struct Frame;
struct Plan;
struct PlannedStep;

using SlotId = uint32_t;
inline constexpr SlotId kNoSlot = ~SlotId(0);

struct Slot {
  enum class Kind : uint8_t {
    input,     // given by the caller of the program
    constant,  // lies in the weights
    shape,     // a small integer tensor that follows from the dims alone; filled when a plan is made
    planned,   // dims follow from the inputs' dims: an address in the arena (or in a bound output)
    late,      // dims are known only during the run: a recycled block
    value,     // not a numeric tensor: strings, sequences, maps
    absent,    // an optional operand that is not given
  };
  Kind kind = Kind::planned;
  ValueId value = kNoValue;
  Layout layout;
  DType type = DType::undefined;
  std::vector<Dim> dims;  // symbolic, where the rank is known
  bool rank_known = false;
  int space = 0;               // 0: the host
  SlotId alias_of = kNoSlot;   // this slot is a view of another
  SlotId root = kNoSlot;       // itself, or the end of that chain
  NodeId view_node = kNoNode;  // by which operator
  size_t view_output = 0;
  Value constant;             // aligned where a step reads numbers from it
  void* device = nullptr;     // a constant's copy in a provider's memory; the program owns it
  int first = -1, last = -1;  // steps between which it lives
};

struct Step {
  enum class Kind : uint8_t { kernel, values, branch, control, view, copy, transfer };
  Kind kind = Kind::kernel;
  NodeId node = kNoNode;
  std::string label;  // what people see: the node's name
  Provider* provider = nullptr;
  int space = 0;  // where its operands lie; for transfers: where from
  std::unique_ptr<Kernel> kernel;
  std::vector<SlotId> in, out;
  bool late = false;                               // has operands whose dims are known only during the run
  std::vector<std::unique_ptr<Program>> children;  // branches or a loop's body
  std::vector<SlotId> release;                     // late slots and values whose last use this is
};

// What a caller gives a program, or gets from it.
struct Binding {
  View view;    // numeric tensors; for outputs with data: memory to write into
  Value value;  // everything else
  Block block;  // outputs that were not bound to memory: the caller gives the block back to the pool
};

struct StepTime {
  uint64_t ns = 0, runs = 0;
};

// What all programs of a session share.
struct Machine {
  const Graph* graph = nullptr;
  const Placement* placement = nullptr;
  WeightStore* weights = nullptr;
  Parallel* parallel = nullptr;
  std::vector<std::unique_ptr<BlockPool>> pools;  // by memory space; 0 is the host
  std::vector<Provider*> spaces;                  // by memory space; 0 is null
  size_t most_plans = 16;
  bool profile = false;
};

struct RunRequest {
  std::span<Binding> inputs;  // the body's inputs, then what it captures
  std::span<Binding> outputs;
  const Cancel* cancel = nullptr;
  std::span<const int64_t> symbols;  // of the enclosing run; -1 where not known
  Provider** failed = nullptr;       // where to tell which provider failed, if one did
};

class Program {
 public:
  static Result<std::unique_ptr<Program>> build(Machine& machine, BodyId body,
                                                const std::vector<bool>& known_symbols);
  ~Program();

  Status run(const RunRequest& request);
  // The same with a plan that was found before for the same dims.
  Status run(const RunRequest& request, std::shared_ptr<Plan> plan);

  const std::vector<SlotId>& inputs() const { return inputs_; }
  const std::vector<SlotId>& outputs() const { return outputs_; }
  const std::vector<ValueId>& captured() const { return captured_; }
  const std::vector<Slot>& slots() const { return slots_; }
  const std::vector<Step>& steps() const { return steps_; }
  size_t plans() const;
  Result<std::shared_ptr<Plan>> find_plan(const RunRequest& request);  // made where there is none yet
  const std::vector<StepTime>& times() const { return times_; }
  void clear_times();

 private:
  friend class ProgramBuilder;
  friend struct Planner;
  friend struct Frame;
  Program() = default;

  Status bind_symbols(const RunRequest& request, std::vector<int64_t>& symbols) const;
  size_t bytes_of(const View& v) const;  // padding included, also in layouts that only a provider knows
  Status prepare_step(const Step& step, ViewList in, ViewList out, PlannedStep& planned) const;
  Result<std::shared_ptr<Plan>> make_plan(const RunRequest& request);
  std::shared_ptr<Plan> known_plan(const RunRequest& request);
  Status walk(Frame& frame, const RunRequest& request);
  Status run_step(Frame& frame, const RunRequest& request, size_t index);
  Status run_kernel(Frame& frame, const RunRequest& request, size_t index);
  Status run_values(Frame& frame, const RunRequest& request, size_t index, Kernel& kernel);
  Status run_branch(Frame& frame, const RunRequest& request, size_t index);
  Status run_control(Frame& frame, const RunRequest& request, size_t index);
  const Dims* dims_of_input(const Frame& frame, const Step& step, ValueId value) const;
  Status run_view(Frame& frame, size_t index);
  Status run_copy(Frame& frame, size_t index);
  Status run_transfer(Frame& frame, size_t index);
  Status resolve_late(Frame& frame, size_t index);
  Result<Block> take_for(const View& view);
  Status finish_outputs(Frame& frame, const RunRequest& request);
  Result<std::vector<Value>> run_child(Frame& frame, const RunRequest& request, Program& child,
                                       std::span<const Value> inputs, std::span<const SlotId> captured);

  Machine* machine_ = nullptr;
  BodyId body_ = kMainBody;
  std::vector<Slot> slots_;
  std::vector<Step> steps_;
  std::vector<SlotId> inputs_, outputs_;
  std::vector<ValueId> captured_;
  std::vector<uint32_t> outer_symbols_;  // symbols of the enclosing program that our dims mention
  std::vector<size_t>
      output_writer_;  // by output: the slot bound to its memory, or kNoSlot: copied at the end
  std::vector<StepTime> times_;

  // Runs find their plan without a lock; the mutex is for those who add one.
  using Plans = std::vector<std::shared_ptr<Plan>>;
  Published<Plans> plans_;
  std::atomic<uint64_t> clock_{0};
  mutable std::mutex mutex_;
};

}  // namespace sx
