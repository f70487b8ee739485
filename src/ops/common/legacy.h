// SPDX-License-Identifier: Apache-2.0
// What the first opsets had in common and later ones dropped: consumed_inputs, and broadcasting by
// attributes.
#pragma once
#include "graph/lift.h"
#include "graph/op.h"

namespace sx::ops {

// A hint about memory that opset 1 carried on most operators; it never changed a result.
inline constexpr AttrDef kConsumedInputs = optional_attr("consumed_inputs", AttrKind::integers);
Status lift_consumed_inputs(Lift& l);

// Until opset 6 (Pow, comparisons and logic too) `broadcast` = 1 spread B over A with B's first axis at
// `axis`.
inline constexpr AttrDef kOldAxis = optional_attr("axis", AttrKind::integer);
inline constexpr AttrDef kOldBroadcast = attr_int("broadcast", 0);
Status lift_axis_broadcast(Lift& l);
// Input `index` gets ones at its end, so that its first axis lies at `axis` of input 0.
Status align_at_axis(Lift& l, size_t index, int64_t axis);

// What arithmetic took besides floats before it took every number.
inline constexpr DTypeSet kOldArithmetic = kIndices | DTypeSet::of(DType::u32, DType::u64);
// Where integers went in and came out of a function of real numbers: through float64, cut off.
Status lift_integers_through_double(Lift& l);

// Until opset 12 Softmax and its kin saw the input as a matrix, flattened at `axis` (1 by default).
Status lift_flattened_axis(Lift& l);

// The p of LpPool and GlobalLpPool was a real number.
Status lift_real_p(Lift& l);

// The attribute `axes` became input 1.
Status lift_axes_to_input(Lift& l);

}  // namespace sx::ops
