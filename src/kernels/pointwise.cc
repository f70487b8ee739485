// SPDX-License-Identifier: Apache-2.0
// Building a pointwise program: classes are checked, registers are shared between values that do not live
// together.
#include "kernels/pointwise.h"

#include "base/format.h"

namespace sx::kernels {
namespace {

struct OpFacts {
  uint8_t operands;     // how many
  const char* classes;  // of operands and then of the result: f or i
  float cost;
};

OpFacts facts(PwOp op) {
  switch (op) {
    case PwOp::exp:
    case PwOp::log:
    case PwOp::sigmoid:
    case PwOp::silu:
    case PwOp::swish:
    case PwOp::gelu_tanh:
    case PwOp::elu:
    case PwOp::selu:
    case PwOp::celu:
    case PwOp::mish:
    case PwOp::tanh: return {1, "ff", 5};
    case PwOp::erf:
    case PwOp::gelu:
    case PwOp::softplus:
    case PwOp::sin:
    case PwOp::cos: return {1, "ff", 9};
    case PwOp::f_to_i: return {1, "fi", 2};
    case PwOp::pow: return {2, "fff", 20};
    case PwOp::mul_add:
    case PwOp::select: return {3, "ffff", 1.5f};
    case PwOp::i_copy:
    case PwOp::i_neg:
    case PwOp::i_abs:
    case PwOp::i_wrap32: return {1, "ii", 2};
    case PwOp::i_to_f: return {1, "if", 2};
    case PwOp::i_add:
    case PwOp::i_sub:
    case PwOp::i_mul:
    case PwOp::i_min:
    case PwOp::i_max: return {2, "iii", 2};
    case PwOp::i_div: return {2, "iii", 60};
    case PwOp::i_less:
    case PwOp::i_less_equal:
    case PwOp::i_greater:
    case PwOp::i_greater_equal:
    case PwOp::i_equal:
    case PwOp::i_not_equal: return {2, "iif", 3};
    case PwOp::i_select: return {3, "fiii", 3};
    default: return op >= PwOp::add && op < PwOp::mul_add ? OpFacts{2, "fff", 1} : OpFacts{1, "ff", 1};
  }
}

bool int_class(PwType type) { return type == PwType::i32 || type == PwType::i64; }

// Registers of one class, taken and given back.
class RegisterFile {
 public:
  uint16_t take() {
    if (free_.empty()) return count_++;
    const uint16_t r = free_.back();
    free_.pop_back();
    return r;
  }
  void give_back(uint16_t r) { free_.push_back(r); }
  uint16_t count() const { return count_; }

 private:
  std::vector<uint16_t> free_;
  uint16_t count_ = 0;
};

}  // namespace

PointwiseBuilder::Value PointwiseBuilder::push(const Item& item) {
  items_.push_back(item);
  return static_cast<Value>(items_.size() - 1);
}

PointwiseBuilder::Value PointwiseBuilder::input(PwType type) {
  return push({Item::kInput, int_class(type), type, 0, {}});
}

PointwiseBuilder::Value PointwiseBuilder::constant(float value) {
  Item item = {Item::kConstantFloat, false, PwType::f32, 0, {}};
  item.s.p = value;
  return push(item);
}

PointwiseBuilder::Value PointwiseBuilder::constant_int(int64_t value) {
  return push({Item::kConstantInt, true, PwType::i64, value, {}});
}

PointwiseBuilder::Value PointwiseBuilder::op(PwOp op, Value a, Value b, Value c) {
  return push(
      {Item::kStep, facts(op).classes[facts(op).operands] == 'i', PwType::f32, 0, {op, 0, a, b, c, 0, 0}});
}

PointwiseBuilder::Value PointwiseBuilder::op_with(PwOp op, Value a, float p, float q) {
  const Value v = this->op(op, a);
  items_[v].s.p = p;
  items_[v].s.q = q;
  return v;
}

void PointwiseBuilder::output(Value value, PwType type) { outputs_.push_back({value, type}); }

// Slot numbers: inputs, then constants; steps follow as they are translated.
Status PointwiseBuilder::number_operands(PointwiseProgram& program) {
  slot_.assign(items_.size(), 0);
  uint16_t next = 0;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].kind != Item::kInput) continue;
    slot_[i] = next++;
    program.inputs_.push_back(items_[i].type);
  }
  if (next > kPwMaxInputs)
    return error(Code::unsupported, "a pointwise program has {} inputs, at most {} fit", next, kPwMaxInputs);
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].kind != Item::kConstantFloat && items_[i].kind != Item::kConstantInt) continue;
    slot_[i] = next++;
    program.float_constants_.push_back(items_[i].s.p);
    program.int_constants_.push_back(items_[i].int_value);
    program.constant_is_int_.push_back(items_[i].is_int);
  }
  first_step_ = next;
  last_use_.assign(items_.size(), 0);
  return ok_status();
}

Status PointwiseBuilder::translate(size_t item, PointwiseProgram& program) {
  PwStep s = items_[item].s;
  const OpFacts f = facts(s.op);
  const uint16_t step = static_cast<uint16_t>(program.steps_.size());
  uint16_t* operand[3] = {&s.a, &s.b, &s.c};
  for (int k = 0; k < 3; ++k) {
    const uint16_t v = *operand[k];
    if ((v != kNone) != (k < f.operands))
      return error(Code::invalid_argument, "pointwise instruction {} takes {} operands",
                   static_cast<int>(s.op), static_cast<int>(f.operands));
    if (k >= f.operands) continue;
    if (v >= item)
      return error(Code::invalid_argument, "pointwise step {} uses value {} before it is made", step, v);
    if (items_[v].is_int != (f.classes[k] == 'i'))
      return error(Code::invalid_argument, "pointwise instruction {} expects {} as operand {}",
                   static_cast<int>(s.op), f.classes[k] == 'i' ? "an integer" : "a float", k);
    *operand[k] = slot_[v];
    last_use_[slot_[v]] = static_cast<uint16_t>(step + 1);
  }
  if (f.operands < 2) s.b = s.a;
  if (f.operands < 3) s.c = s.a;
  slot_[item] = s.dst = static_cast<uint16_t>(first_step_ + step);
  program.steps_.push_back(s);
  program.cost_ += f.cost;
  return ok_status();
}

Status PointwiseBuilder::bind_outputs(PointwiseProgram& program) {
  for (size_t i = 0; i < program.inputs_.size(); ++i) program.last_use_.push_back(last_use_[i]);
  for (const auto& [value, type] : outputs_) {
    if (value >= items_.size())
      return error(Code::invalid_argument, "pointwise output is value {} of {}", value, items_.size());
    if (items_[value].is_int != int_class(type))
      return error(Code::invalid_argument, "pointwise value {} is {}, its output is not", value,
                   items_[value].is_int ? "an integer" : "a float or a mask");
    const uint16_t s = slot_[value];
    const bool made = s >= first_step_;
    program.outputs_.push_back(
        {s, type, made ? static_cast<uint16_t>(s - first_step_) : PointwiseProgram::kNoStep});
    last_use_[s] = PointwiseProgram::kNoStep;  // alive to the end
    if (s < program.inputs_.size()) program.last_use_[s] = PointwiseProgram::kNoStep;
  }
  return ok_status();
}

void PointwiseBuilder::allot_registers(PointwiseProgram& program) {
  RegisterFile floats, ints;
  program.register_.resize(program.steps_.size());
  for (size_t step = 0; step < program.steps_.size(); ++step) {
    const PwStep& s = program.steps_[step];
    const uint16_t operand[3] = {s.a, s.b, s.c};
    // A register that is read for the last time here may take the result: every step reads before it writes.
    for (int k = 0; k < 3; ++k) {
      const bool seen = (k > 0 && operand[k] == operand[0]) || (k > 1 && operand[k] == operand[1]);
      if (seen || operand[k] < first_step_ || last_use_[operand[k]] != step + 1) continue;
      (program.is_int_[operand[k]] ? ints : floats).give_back(program.register_[operand[k] - first_step_]);
    }
    RegisterFile& file = program.is_int_[s.dst] ? ints : floats;
    program.register_[step] = file.take();
    if (last_use_[s.dst] == 0) file.give_back(program.register_[step]);
  }
  program.float_registers_ = floats.count();
  program.int_registers_ = ints.count();
}

Result<PointwiseProgram> PointwiseBuilder::build() {
  if (items_.size() > kPwMaxSlots)
    return error(Code::unsupported, "a pointwise program holds {} values, at most {} fit", items_.size(),
                 kPwMaxSlots);
  if (outputs_.empty() || outputs_.size() > kPwMaxOutputs)
    return error(Code::unsupported, "a pointwise program has {} outputs, 1 to {} fit", outputs_.size(),
                 kPwMaxOutputs);
  PointwiseProgram program;
  SX_TRY(number_operands(program));
  for (size_t i = 0; i < items_.size(); ++i)
    if (items_[i].kind == Item::kStep) SX_TRY(translate(i, program));
  program.is_int_.resize(items_.size());
  for (size_t i = 0; i < items_.size(); ++i) program.is_int_[slot_[i]] = items_[i].is_int;
  SX_TRY(bind_outputs(program));
  allot_registers(program);
  // Sixteen elements of every register and of every input must fit the scratch memory of a block.
  if (4 * program.float_registers_ + 8 * program.int_registers_ + 8 * program.inputs_.size() > 480)
    return error(Code::unsupported, "a pointwise program keeps {} values alive at once",
                 program.float_registers_ + program.int_registers_);
  return program;
}

}  // namespace sx::kernels
