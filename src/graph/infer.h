// SPDX-License-Identifier: Apache-2.0
// Infer: what an operator's inference sees of a node, and where it puts what it found out.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/function_ref.h"
#include "graph/attrs.h"
#include "graph/type.h"

namespace sx {

struct Op;

class Infer {
 public:
  static constexpr size_t kMostRank = 256;      // that a tensor's contents may ask for
  static constexpr size_t kMostElements = 256;  // of a tensor that may be a shape; longer ones are data
  struct In {
    bool given = false;
    Type type;
    const Value* constant = nullptr;             // contents, where they are known
    const std::vector<Dim>* elements = nullptr;  // contents of a small integer tensor (rank 0 or 1) as Dims
  };
  struct Out {
    bool wanted = true;
    Type type;
    std::vector<Dim> elements;
    bool has_elements = false;
  };
  struct GuardNote {
    Dim a, b;
    bool broadcast;
    std::string what;
  };
  // Infers a body (a graph attribute) for given input types; returns the types of its outputs.
  using InferBody = FunctionRef<Result<std::vector<Type>>(BodyId body, std::span<const Type> inputs)>;

  Infer(const Op& op, const Attrs& attrs, std::vector<In> in, size_t outputs, DimPool& pool);

  size_t inputs() const { return in_.size(); }
  size_t outputs() const { return out_.size(); }
  bool has(size_t i) const { return i < in_.size() && in_[i].given; }
  const Type& in(size_t i) const { return in_[i].type; }
  DType elem(size_t i) const { return in_[i].type.elem; }
  bool rank_known(size_t i) const { return has(i) && in_[i].type.is_tensor() && in_[i].type.shape.known; }
  size_t rank(size_t i) const { return in_[i].type.shape.rank(); }
  Dim dim(size_t i, size_t axis) const { return in_[i].type.shape.dims[axis]; }
  const std::vector<Dim>& dims(size_t i) const { return in_[i].type.shape.dims; }

  const Tensor* constant(size_t i) const;            // null where it is not known before the run
  const std::vector<Dim>* elements(size_t i) const;  // null likewise; a constant integer tensor has them too
  bool constant_ints(size_t i, std::vector<int64_t>& v) const;

  Type& out(size_t i) { return out_[i].type; }
  bool wanted(size_t i) const { return i < out_.size() && out_[i].wanted; }
  void set_tensor(size_t i, DType elem, Shape shape);
  void set_unknown_shape(size_t i, DType elem) { set_tensor(i, elem, Shape()); }
  void set_ranked(size_t i, DType elem, size_t rank);  // fresh dims; of no known shape past kMostRank
  void set_elements(size_t i, std::vector<Dim> e);

  // Attributes, with the record's defaults. Asking for another kind than the record's is a defect of ours.
  int64_t integer(std::string_view name) const;
  float floating(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;
  bool has_attr(std::string_view name) const { return attrs_.has(name); }
  const Attrs& attrs() const { return attrs_; }
  // An element type named by an integer attribute (Cast's `to`); float64 evaluation widens it.
  Result<DType> dtype(std::string_view name, DType otherwise = DType::undefined) const;

  // A negative axis counts from the end. Errors name the axis and the rank.
  Result<size_t> axis(int64_t axis, size_t rank) const;
  Dim fresh(std::string_view hint = "u") { return pool_.fresh(hint); }
  DimPool& pool() { return pool_; }

  // Multidirectional broadcasting of shapes; notes the guards it needs.
  Result<Shape> broadcast(const Shape& a, const Shape& b, std::string_view what = "inputs");
  Result<Shape> broadcast_inputs(size_t first, size_t count);
  // Two sizes must be equal: an error now if both are different constants, a guard if one is symbolic.
  Status require_equal(Dim a, Dim b, std::string what);

  template <class... Args>
  Status fail(fmt::format_string<Args...> text, Args&&... args) const {
    return Status(Code::invalid_model, fmt::vformat(text, fmt::make_format_args(args...)));
  }

  // The operator's inference, and what holds for every result: no size is negative.
  Status run();

  InferBody infer_body;
  bool widen = false;  // float64 evaluation: floats named in attributes become float64
  std::vector<GuardNote> guards;
  std::vector<Out>& results() { return out_; }
  const Op& op() const { return op_; }

 private:
  const Op& op_;
  const Attrs& attrs_;
  std::vector<In> in_;
  std::vector<Out> out_;
  DimPool& pool_;
  mutable std::vector<std::vector<Dim>> from_constants_;  // elements made from constants on demand
};

DType widened(
    DType t);  // float64 for float32, float16 and bfloat16, complex128 for complex64: what truth computes in

// Inference that many operators share.
Status infer_same(Infer& i);            // output 0 is like input 0
Status infer_broadcast(Infer& i);       // output 0: broadcast of all inputs, element type of input 0
Status infer_broadcast_bool(Infer& i);  // the same, boolean

}  // namespace sx
