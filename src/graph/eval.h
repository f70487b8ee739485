// SPDX-License-Identifier: Apache-2.0
// Eval: what an operator's portable evaluation sees: concrete inputs, at any address, and outputs that are
// already allocated where inference could tell their shape.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/function_ref.h"
#include "graph/attrs.h"
#include "tensor/value.h"

namespace sx {

class Cancel;

struct Op;

// The class that arithmetic is done in. automatic: f32 for float32 and narrower, f64 for float64, i64, u64,
// complex.
enum class Accumulate : uint8_t { automatic, f64 };

class Eval {
 public:
  using RunBody = FunctionRef<Result<std::vector<Value>>(BodyId body, std::span<const Value> inputs)>;

  using InferOutputs = FunctionRef<Result<std::vector<Type>>()>;

  Eval(const Op& op, const Attrs& attrs, std::span<const Value> in, size_t outputs);

  size_t inputs() const { return in_.size(); }
  size_t outputs() const { return out_.size(); }
  bool has(size_t i) const { return i < in_.size() && in_[i].kind != Value::Kind::none; }
  bool wanted(size_t i) const { return i < out_.size() && wanted_[i]; }
  const Value& value(size_t i) const { return in_[i]; }
  const Tensor& in(size_t i) const { return in_[i].tensor; }
  std::span<const Value> all_inputs() const { return in_; }

  // Output i as inference shaped it. Undefined until allocate() where the shape depends on the data.
  Tensor& out(size_t i) { return out_[i].tensor; }
  Status allocate(size_t i, DType type, Dims dims);
  void set(size_t i, Value v) { out_[i] = std::move(v); }

  int64_t integer(std::string_view name) const;
  float floating(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;
  std::vector<float> floatings(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  bool has_attr(std::string_view name) const { return attrs_.has(name); }
  const Attrs& attrs() const { return attrs_; }
  BodyId body(std::string_view name) const;
  Result<std::vector<int64_t>> ints_of(size_t i) const;  // contents of an int32 or int64 input
  Result<size_t> axis(int64_t axis, size_t rank) const;

  template <class... Args>
  Status fail(fmt::format_string<Args...> text, Args&&... args) const {
    return Status(Code::invalid_argument, fmt::vformat(text, fmt::make_format_args(args...)));
  }

  RunBody run_body;
  const Cancel* cancel = nullptr;
  Accumulate accumulate = Accumulate::automatic;
  bool widen = false;
  std::span<const Type> out_types;  // what inference knows of the outputs; empty without a graph
  InferOutputs infer_outputs;       // what it says where the inputs have the sizes they have
  std::vector<Value>& results() { return out_; }
  void set_wanted(size_t i, bool wanted) { wanted_[i] = wanted; }
  const Op& op() const { return op_; }

 private:
  const Op& op_;
  const Attrs& attrs_;
  std::span<const Value> in_;
  std::vector<Value> out_;
  std::vector<bool> wanted_;
};

}  // namespace sx
