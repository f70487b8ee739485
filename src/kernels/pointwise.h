// SPDX-License-Identifier: Apache-2.0
// Pointwise programs: a chain of elementwise instructions, run block by block so that what passes between
// them stays in the first-level cache. Built and verified once (PointwiseBuilder), laid over shapes
// (PointwisePlan, which allocates nothing), run with no allocation at all. Also the epilogue of a tile: plan
// two dimensions and apply.
//
//   PointwiseBuilder b;
//   auto x = b.input(PwType::f32), bias = b.input(PwType::f32);
//   b.output(b.op(PwOp::gelu, b.op(PwOp::add, x, bias)), PwType::f32);
//   auto program = b.build();                                          // Result<PointwiseProgram>
//   PwOperand shapes[] = {{strides of x}, {strides of bias, 0 where broadcast}, {strides of y}};
//   auto plan = PointwisePlan::make(*program, dims, shapes);           // Result<PointwisePlan>
//   pointwise_run(*program, *plan, inputs, outputs, parallel);
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "base/result.h"
#include "kernels/pointwise_code.h"

namespace sx::kernels {

// How an operand lies in memory. boolean (one byte) becomes a mask, i32 and i64 become 64-bit integers;
// addresses are aligned to the element.
enum class PwType : uint8_t { f32, boolean, i32, i64 };

constexpr size_t kPwMaxInputs = 16, kPwMaxOutputs = 8, kPwMaxDims = 8, kPwMaxSlots = 250;

class PointwiseProgram {
 public:
  size_t inputs() const { return inputs_.size(); }
  size_t outputs() const { return outputs_.size(); }
  PwType input_type(size_t i) const { return inputs_[i]; }
  PwType output_type(size_t i) const { return outputs_[i].type; }
  size_t steps() const { return steps_.size(); }
  float cost() const { return cost_; }  // about nanoseconds for 16 elements at the widest level

 private:
  friend class PointwiseBuilder;
  friend class PointwisePlan;
  friend class PointwiseRunner;
  struct Output {
    uint16_t slot;
    PwType type;
    uint16_t made_by;  // the step that writes it; kNoStep for an input or a constant
  };
  static constexpr uint16_t kNoStep = 0xffff;
  // Slots are numbered: inputs, then constants, then one for each step.
  std::vector<PwType> inputs_;
  std::vector<uint16_t> last_use_;  // of each input: the last step that reads it, plus one
  std::vector<int64_t> int_constants_;
  std::vector<float> float_constants_;
  std::vector<uint8_t> constant_is_int_;
  std::vector<PwStep> steps_;
  std::vector<uint16_t> register_;  // of each step's result, numbered within its class
  std::vector<uint8_t> is_int_;     // of each slot
  std::vector<Output> outputs_;
  size_t float_registers_ = 0, int_registers_ = 0;
  float cost_ = 0;
};

class PointwiseBuilder {
 public:
  using Value = uint16_t;
  static constexpr Value kNone = 0xffff;

  Value input(PwType type);
  Value constant(float value);
  Value constant_int(int64_t value);
  Value op(PwOp op, Value a, Value b = kNone, Value c = kNone);
  Value op_with(PwOp op, Value a, float p, float q = 0);  // an instruction with immediates
  void output(Value value, PwType type);
  // Verifies (operand counts and classes, limits) and allots registers. The builder is spent afterwards.
  Result<PointwiseProgram> build();

 private:
  struct Item {
    enum Kind : uint8_t { kInput, kConstantFloat, kConstantInt, kStep } kind;
    bool is_int;
    PwType type;
    int64_t int_value;
    PwStep s;
  };
  Value push(const Item& item);
  Status number_operands(PointwiseProgram& program);
  Status translate(size_t item, PointwiseProgram& program);
  Status bind_outputs(PointwiseProgram& program);
  void allot_registers(PointwiseProgram& program);

  std::vector<Item> items_;
  std::vector<std::pair<Value, PwType>> outputs_;
  std::vector<uint16_t> slot_, last_use_;  // of each item its slot; of each slot the last reader, plus one
  size_t first_step_ = 0;
};

// The strides of one operand, in elements, one for each dimension of the iteration space; 0 where it is
// broadcast.
struct PwOperand {
  std::span<const ptrdiff_t> strides;
};

class PointwisePlan {
 public:
  // operands: the inputs in order, then the outputs. Output strides must not make two elements share an
  // address.
  static Result<PointwisePlan> make(const PointwiseProgram& program, std::span<const size_t> dims,
                                    std::span<const PwOperand> operands);
  size_t elements() const { return outer_ * inner_; }
  size_t chunks() const { return chunks_; }

 private:
  friend class PointwiseRunner;
  static constexpr size_t kMaxOperands = kPwMaxInputs + kPwMaxOutputs;
  enum Access : uint8_t {
    direct,    // dense over the inner part, and of the class's own type: the block is used where it lies
    one,       // the same for the whole inner part
    periodic,  // dense with a period that divides the block: loaded once for an outer index
    gathered,  // loaded, or for an output stored, block by block
  };
  void classify(const PointwiseProgram& program, size_t operand);
  void choose_blocks(const PointwiseProgram& program);

  size_t rank_ = 0,
         first_inner_ = 0;  // dimensions [first_inner_, rank_) are walked as one flat range of inner_
  size_t dims_[kPwMaxDims] = {};
  ptrdiff_t strides_[kMaxOperands][kPwMaxDims] = {};
  Access access_[kMaxOperands] = {};
  size_t period_[kMaxOperands] = {};
  size_t operands_ = 0;
  size_t outer_ = 1, inner_ = 1, block_ = 1, blocks_ = 1;  // blocks_ in each inner range
  size_t units_ = 0, chunk_units_ = 1, chunks_ = 0;        // a unit is one block
  void (*work_)(const PwStep*, size_t, void* const*, const uint8_t*, size_t) = nullptr;
};

// inputs[i] and outputs[i] point at the element with index zero. An output may be exactly an input (in
// place).
void pointwise_run(const PointwiseProgram& program, const PointwisePlan& plan, const void* const* inputs,
                   void* const* outputs, Parallel& parallel);
// The same on the calling thread, as an epilogue uses it.
void pointwise_apply(const PointwiseProgram& program, const PointwisePlan& plan, const void* const* inputs,
                     void* const* outputs);

}  // namespace sx::kernels
