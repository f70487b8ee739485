// SPDX-License-Identifier: Apache-2.0
// Laying a pointwise program over shapes, and running it block by block.
#include <cstring>

#include "base/format.h"
#include "kernels/dispatch.h"
#include "kernels/pointwise.h"

SX_LEVELS(void pointwise_steps(const kernels::PwStep* steps, size_t count, void* const* slots,
                               const uint8_t* one, size_t n))

namespace sx::kernels {
namespace {

constexpr size_t kScratchBytes = 32 * 1024;  // on the stack of each worker
constexpr size_t kCacheBytes = 16 * 1024;    // what the registers may take before blocks get shorter

size_t element_size(PwType type) { return type == PwType::boolean ? 1 : type == PwType::i64 ? 8 : 4; }

template <class From, class To>
void load_run(const From* x, ptrdiff_t stride, size_t n, To* y) {
  if (stride == 1) {
    for (size_t i = 0; i < n; ++i) y[i] = static_cast<To>(x[i]);
  } else if (stride == 0) {
    const To v = static_cast<To>(*x);
    for (size_t i = 0; i < n; ++i) y[i] = v;
  } else {
    for (size_t i = 0; i < n; ++i) y[i] = static_cast<To>(x[static_cast<ptrdiff_t>(i) * stride]);
  }
}

void load_run(PwType type, const void* x, ptrdiff_t offset, ptrdiff_t stride, size_t n, void* y, size_t at) {
  switch (type) {
    case PwType::f32:
      return load_run(static_cast<const float*>(x) + offset, stride, n, static_cast<float*>(y) + at);
    case PwType::i32:
      return load_run(static_cast<const int32_t*>(x) + offset, stride, n, static_cast<int64_t*>(y) + at);
    case PwType::i64:
      return load_run(static_cast<const int64_t*>(x) + offset, stride, n, static_cast<int64_t*>(y) + at);
    case PwType::boolean: {
      const uint8_t* b = static_cast<const uint8_t*>(x) + offset;
      float* f = static_cast<float*>(y) + at;
      for (size_t i = 0; i < n; ++i) f[i] = b[static_cast<ptrdiff_t>(i) * stride] ? 1.0f : 0.0f;
    }
  }
}

template <class From, class To, class F>
void store_run(const From* x, size_t step, size_t n, To* y, ptrdiff_t stride, F convert) {
  if (stride == 1 && step == 1) {
    for (size_t i = 0; i < n; ++i) y[i] = convert(x[i]);
  } else {
    for (size_t i = 0; i < n; ++i) y[static_cast<ptrdiff_t>(i) * stride] = convert(x[i * step]);
  }
}

// step is 0 when the value is one number for the whole block.
void store_run(PwType type, const void* x, size_t at, size_t step, size_t n, void* y, ptrdiff_t offset,
               ptrdiff_t stride) {
  const float* f = static_cast<const float*>(x) + at * step;
  const int64_t* l = static_cast<const int64_t*>(x) + at * step;
  switch (type) {
    case PwType::f32:
      return store_run(f, step, n, static_cast<float*>(y) + offset, stride, [](float v) { return v; });
    case PwType::boolean:
      return store_run(f, step, n, static_cast<uint8_t*>(y) + offset, stride,
                       [](float v) { return static_cast<uint8_t>(v != 0.0f); });
    case PwType::i32:
      return store_run(l, step, n, static_cast<int32_t*>(y) + offset, stride,
                       [](int64_t v) { return static_cast<int32_t>(v); });
    case PwType::i64:
      return store_run(l, step, n, static_cast<int64_t*>(y) + offset, stride, [](int64_t v) { return v; });
  }
}

}  // namespace

Result<PointwisePlan> PointwisePlan::make(const PointwiseProgram& program, std::span<const size_t> dims,
                                          std::span<const PwOperand> operands) {
  PointwisePlan plan;
  plan.operands_ = operands.size();
  plan.work_ = SX_PICK(pointwise_steps);
  if (operands.size() != program.inputs() + program.outputs())
    return error(Code::invalid_argument, "pointwise program expects {} operands, {} given",
                 program.inputs() + program.outputs(), operands.size());
  for (const PwOperand& o : operands)
    if (o.strides.size() != dims.size())
      return error(Code::invalid_argument, "pointwise operand has {} strides for {} dimensions",
                   o.strides.size(), dims.size());
  // Neighbouring dimensions become one where every operand walks through both with a single stride.
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    bool joins = plan.rank_ > 0;
    for (size_t i = 0; joins && i < operands.size(); ++i)
      joins = plan.strides_[i][plan.rank_ - 1] == operands[i].strides[d] * static_cast<ptrdiff_t>(dims[d]);
    if (!joins && plan.rank_ == kPwMaxDims)
      return error(Code::unsupported, "pointwise operands need more than {} dimensions", kPwMaxDims);
    if (!joins) plan.dims_[plan.rank_++] = 1;
    plan.dims_[plan.rank_ - 1] *= dims[d];
    for (size_t i = 0; i < operands.size(); ++i) plan.strides_[i][plan.rank_ - 1] = operands[i].strides[d];
  }
  if (plan.rank_ == 0) {
    plan.dims_[plan.rank_++] = 1;
    for (size_t i = 0; i < operands.size(); ++i) plan.strides_[i][0] = i < program.inputs() ? 0 : 1;
  }
  plan.choose_blocks(program);
  return plan;
}

void PointwisePlan::classify(const PointwiseProgram& program, size_t operand) {
  const bool input = operand < program.inputs();
  const PwType type = input ? program.input_type(operand) : program.output_type(operand - program.inputs());
  const ptrdiff_t* s = strides_[operand];
  bool constant = true;
  for (size_t d = first_inner_; d < rank_; ++d) constant = constant && s[d] == 0;
  size_t dense = 1, d = rank_;  // elements of the trailing dimensions that lie side by side
  while (d > first_inner_ && s[d - 1] == static_cast<ptrdiff_t>(dense)) dense *= dims_[--d];
  bool repeats = d < rank_;
  for (size_t k = first_inner_; k < d; ++k) repeats = repeats && s[k] == 0;
  period_[operand] = 0;
  if (constant && input) {
    access_[operand] = one;
  } else if (d == first_inner_ && (type == PwType::f32 || type == PwType::i64)) {
    access_[operand] = direct;
  } else {
    access_[operand] = gathered;
    if (repeats && input && d > first_inner_) period_[operand] = dense;
  }
}

void PointwisePlan::choose_blocks(const PointwiseProgram& program) {
  constexpr size_t kShortRun = 256;
  first_inner_ = rank_ - 1;
  inner_ = dims_[rank_ - 1];
  while (first_inner_ > 0 && inner_ < kShortRun) inner_ *= dims_[--first_inner_];
  outer_ = 1;
  for (size_t d = 0; d < first_inner_; ++d) outer_ *= dims_[d];
  size_t bytes = 4 * program.float_registers_ + 8 * program.int_registers_;
  for (size_t i = 0; i < operands_; ++i) {
    classify(program, i);
    if (i < program.inputs() && access_[i] == gathered) bytes += program.is_int_[i] ? 8 : 4;
  }
  if (bytes == 0) bytes = 4;
  block_ = kCacheBytes / bytes;
  const size_t most = (kScratchBytes - 16 * PointwisePlan::kMaxOperands) / bytes;
  if (block_ < 256) block_ = most < 256 ? most : 256;
  if (block_ > 2048) block_ = 2048;
  if (block_ > 64) block_ -= block_ % 64;
  size_t period = 0;
  for (size_t i = 0; i < operands_; ++i) {
    if (period_[i] == 0 || period_[i] > block_ / 2) continue;
    if (period == 0) period = period_[i], block_ -= block_ % period;
    if (block_ % period_[i] == 0) access_[i] = periodic;
  }
  blocks_ = inner_ ? (inner_ + block_ - 1) / block_ : 0;
  units_ = outer_ * blocks_;
  // A chunk is some twenty microseconds of work; what is less runs without other threads.
  const float per_block =
      (program.cost() + 1.0f) * static_cast<float>(block_ < inner_ ? block_ : inner_) / 16.0f + 20;
  chunk_units_ = static_cast<size_t>(20000.0f / per_block) + 1;
  chunks_ = (units_ + chunk_units_ - 1) / chunk_units_;
}

class PointwiseRunner {
 public:
  PointwiseRunner(const PointwiseProgram& program, const PointwisePlan& plan, const void* const* inputs,
                  void* const* outputs)
      : program_(program), plan_(plan), inputs_(inputs), outputs_(outputs) {}

  void all() { units(0, plan_.units_); }
  void chunk(size_t i) {
    const size_t begin = i * plan_.chunk_units_, end = begin + plan_.chunk_units_;
    units(begin, end < plan_.units_ ? end : plan_.units_);
  }

 private:
  void units(size_t begin, size_t end) {
    prepare();
    size_t outer = static_cast<size_t>(-1);
    for (size_t unit = begin; unit < end; ++unit) {
      const size_t o = unit / plan_.blocks_, start = unit % plan_.blocks_ * plan_.block_;
      const bool moved = o != outer;
      if (moved) move_to(o);
      outer = o;
      const size_t n = plan_.inner_ - start < plan_.block_ ? plan_.inner_ - start : plan_.block_;
      for (size_t i = 0; i < program_.inputs(); ++i) bind_input(i, start, n, moved);
      for (size_t i = 0; i < program_.outputs(); ++i)
        if (direct_[i]) slots_[program_.outputs_[i].slot] = output_at(i, start);
      plan_.work_(program_.steps_.data(), program_.steps_.size(), slots_, one_, n);
      for (size_t i = 0; i < program_.outputs(); ++i)
        if (!direct_[i]) store_output(i, start, n);
    }
  }

  void prepare() {
    const size_t constants = program_.float_constants_.size(), first_step = program_.inputs() + constants;
    unsigned char* at = scratch_;
    const auto take = [&at](size_t bytes) {
      unsigned char* p = at;
      at += bytes;
      return p;
    };
    const size_t block = plan_.block_;
    unsigned char* ints = take(8 * block * program_.int_registers_);
    for (size_t i = 0; i < program_.inputs(); ++i)
      if (program_.is_int_[i]) buffer_[i] = take(plan_.access_[i] >= PointwisePlan::periodic ? 8 * block : 8);
    for (size_t i = 0; i < program_.inputs(); ++i)
      if (!program_.is_int_[i])
        buffer_[i] = take(plan_.access_[i] >= PointwisePlan::periodic ? 4 * block : 8);
    unsigned char* floats = take(4 * block * program_.float_registers_);
    for (size_t i = 0; i < program_.inputs(); ++i) one_[i] = plan_.access_[i] == PointwisePlan::one;
    for (size_t i = 0; i < constants; ++i) {
      one_[program_.inputs() + i] = 1;
      slots_[program_.inputs() + i] =
          program_.constant_is_int_[i]
              ? const_cast<int64_t*>(&program_.int_constants_[i])
              : static_cast<void*>(const_cast<float*>(&program_.float_constants_[i]));
    }
    for (size_t i = 0; i < program_.steps_.size(); ++i) {
      one_[first_step + i] = 0;
      slots_[first_step + i] = program_.is_int_[first_step + i] ? ints + 8 * block * program_.register_[i]
                                                                : floats + 4 * block * program_.register_[i];
    }
    for (size_t i = 0; i < program_.outputs(); ++i) direct_[i] = writes_directly(i);
  }

  // A step may write an output where it lies unless an input that shares its memory is read later, or another
  // output has taken the value already.
  bool writes_directly(size_t i) const {
    const PointwiseProgram::Output& out = program_.outputs_[i];
    if (plan_.access_[program_.inputs() + i] != PointwisePlan::direct ||
        out.made_by == PointwiseProgram::kNoStep)
      return false;
    for (size_t k = 0; k < i; ++k)
      if (program_.outputs_[k].slot == out.slot) return false;
    for (size_t k = 0; k < program_.inputs(); ++k)
      if (inputs_[k] == outputs_[i] && program_.last_use_[k] > out.made_by + 1) return false;
    return true;
  }

  void move_to(size_t outer) {
    for (size_t i = 0; i < plan_.operands_; ++i) base_[i] = 0;
    for (size_t d = plan_.first_inner_; d-- > 0;) {
      const ptrdiff_t index = static_cast<ptrdiff_t>(outer % plan_.dims_[d]);
      outer /= plan_.dims_[d];
      for (size_t i = 0; i < plan_.operands_; ++i) base_[i] += index * plan_.strides_[i][d];
    }
  }

  void bind_input(size_t i, size_t start, size_t n, bool moved) {
    const PwType type = program_.input_type(i);
    const char* p = static_cast<const char*>(inputs_[i]);
    const size_t size = element_size(type);
    switch (plan_.access_[i]) {
      case PointwisePlan::direct:
        slots_[i] =
            const_cast<char*>(p + (base_[i] + static_cast<ptrdiff_t>(start)) * static_cast<ptrdiff_t>(size));
        return;
      case PointwisePlan::one:
        if (!moved) return;
        load_run(type, p, base_[i], 0, 1, buffer_[i], 0);
        slots_[i] = buffer_[i];
        return;
      case PointwisePlan::periodic:
        if (!moved) return;
        n = plan_.block_ < plan_.inner_ ? plan_.block_ : plan_.inner_;
        start = 0;
        break;
      case PointwisePlan::gathered: break;
    }
    slots_[i] = buffer_[i];
    for_runs(i, start, n, [&](ptrdiff_t offset, ptrdiff_t stride, size_t count, size_t at) {
      load_run(type, p, offset, stride, count, buffer_[i], at);
    });
  }

  void* output_at(size_t i, size_t start) const {
    const ptrdiff_t size = static_cast<ptrdiff_t>(element_size(program_.output_type(i)));
    return static_cast<char*>(outputs_[i]) +
           (base_[program_.inputs() + i] + static_cast<ptrdiff_t>(start)) * size;
  }

  void store_output(size_t i, size_t start, size_t n) {
    const uint16_t slot = program_.outputs_[i].slot;
    for_runs(program_.inputs() + i, start, n,
             [&](ptrdiff_t offset, ptrdiff_t stride, size_t count, size_t at) {
               store_run(program_.output_type(i), slots_[slot], at, one_[slot] ? 0 : 1, count, outputs_[i],
                         offset, stride);
             });
  }

  // The flat range [start, start + n) of the inner dimensions as runs along the last one.
  template <class F>
  void for_runs(size_t operand, size_t start, size_t n, F f) {
    size_t index[kPwMaxDims];
    ptrdiff_t offset = base_[operand];
    const size_t last = plan_.rank_ - 1;
    for (size_t d = plan_.rank_; d-- > plan_.first_inner_;) {
      index[d] = start % plan_.dims_[d];
      start /= plan_.dims_[d];
      offset += static_cast<ptrdiff_t>(index[d]) * plan_.strides_[operand][d];
    }
    for (size_t at = 0; at < n;) {
      const size_t left = plan_.dims_[last] - index[last], count = left < n - at ? left : n - at;
      f(offset, plan_.strides_[operand][last], count, at);
      at += count;
      index[last] += count;
      offset += static_cast<ptrdiff_t>(count) * plan_.strides_[operand][last];
      for (size_t d = last; d > plan_.first_inner_ && index[d] == plan_.dims_[d]; --d) {
        offset -= static_cast<ptrdiff_t>(plan_.dims_[d]) * plan_.strides_[operand][d];
        index[d] = 0;
        ++index[d - 1];
        offset += plan_.strides_[operand][d - 1];
      }
    }
  }

  const PointwiseProgram& program_;
  const PointwisePlan& plan_;
  const void* const* inputs_;
  void* const* outputs_;
  bool direct_[kPwMaxOutputs];
  ptrdiff_t base_[PointwisePlan::kMaxOperands];
  unsigned char* buffer_[kPwMaxInputs];
  void* slots_[kPwMaxSlots];
  uint8_t one_[kPwMaxSlots];
  alignas(64) unsigned char scratch_[kScratchBytes];
};

void pointwise_run(const PointwiseProgram& program, const PointwisePlan& plan, const void* const* inputs,
                   void* const* outputs, Parallel& parallel) {
  if (plan.chunks() <= 1) return pointwise_apply(program, plan, inputs, outputs);
  parallel.run(plan.chunks(),
               [&](size_t chunk, size_t) { PointwiseRunner(program, plan, inputs, outputs).chunk(chunk); });
}

void pointwise_apply(const PointwiseProgram& program, const PointwisePlan& plan, const void* const* inputs,
                     void* const* outputs) {
  PointwiseRunner(program, plan, inputs, outputs).all();
}

}  // namespace sx::kernels
