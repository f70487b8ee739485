// SPDX-License-Identifier: Apache-2.0
// What the ten Reduce operators share: axes as an input or (before 13 and 18) an attribute, and the shape
// that is left.
#pragma once
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/legacy.h"
#include "ops/engine/reduce.h"

namespace sx::ops {

Status infer_reduce(Infer& i);
// The axes of this run, sorted: those of input 1, or all, or none (noop_with_empty_axes).
Result<std::vector<size_t>> reduced_axes(Eval& e);

template <unsigned Classes = kRealClasses, class F>
Status eval_reduce(Eval& e, F f) {
  SX_ASSIGN(const std::vector<size_t> axes, reduced_axes(e));
  return reduce<Classes>(e, e.in(0), axes, e.out(0), f);
}

// The same by a fold.
template <unsigned Classes = kRealClasses, class Begin, class Add, class End>
Status eval_fold(Eval& e, Begin begin, Add add, End end) {
  SX_ASSIGN(const std::vector<size_t> axes, reduced_axes(e));
  return fold<Classes>(e, e.in(0), axes, e.out(0), Fold{begin, add, end});
}

// Sums of float32 are held in float64 and rounded once.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
// What a sum begins with.
inline constexpr auto kNoSum = [](auto zero) { return Wide<decltype(zero)>(0); };

// The least and greatest value of an integer type or bool, as bits.
uint64_t integer_lowest(DType t);
uint64_t integer_highest(DType t);

inline constexpr DTypeSet kBytes = DTypeSet::of(DType::i8, DType::u8);
std::vector<Param> reduce_inputs();   // data, axes
std::vector<AttrDef> reduce_attrs();  // keepdims, noop_with_empty_axes
// The version in which axes was still an attribute.
Version reduce_by_attribute(int since, std::vector<TypeVar> types = {});

}  // namespace sx::ops
