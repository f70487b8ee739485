// SPDX-License-Identifier: Apache-2.0
// Flow: what the control-flow operators share: types that hold for every turn of a body, and the tensors that
// turns leave behind.
#pragma once
#include <span>
#include <vector>

#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"

namespace sx::ops {

// Tensors, sequences and optionals of these element types, as If and Loop pass them.
TypeSet flow_types(DTypeSet elements);
inline TypeSet with_sequences(DTypeSet elements) {
  TypeSet s(elements);
  s.sequence = elements;
  return s;
}
inline TypeSet sequence_types(DTypeSet elements) {
  TypeSet s;
  s.sequence = elements;
  return s;
}

// The type that covers both: sizes that differ become fresh, ranks that differ unknown. Kinds must agree.
Result<Type> common_type(Infer& i, const Type& a, const Type& b, std::string_view what);

BodyId body_of(const Attrs& attrs, std::string_view name);

// Infers a body that runs again and again. types[in + k] is what carried value k starts with and what
// found[out + k] becomes after a turn; on return `types` holds for every turn. Returns the types of the
// body's outputs.
Result<std::vector<Type>> infer_turns(Infer& i, BodyId body, std::vector<Type>& types, size_t in, size_t out,
                                      size_t count);

// A type as it is seen outside the body: sizes that only the body knows become fresh.
Type outside(Infer& i, const Type& type);
// The same with a size put in at `axis`, as scan outputs have it.
Result<Type> stacked_type(Infer& i, const Type& type, int64_t axis, Dim size);

Result<bool> truth_of(const Value& v, std::string_view what);
Tensor scalar_bool(bool v);

// `parts` along a new axis; in reverse order if asked. All have the dims of the first.
Result<Tensor> stacked(std::span<const Tensor> parts, int64_t axis, bool reverse);
// Without turns there are no parts: zero of them, with the other sizes as far as inference knows them.
Result<Tensor> stacked_nothing(const Eval& e, size_t output, int64_t axis);
// x[…, index, …] at `axis`, which goes away.
Result<Tensor> slice_at(const Tensor& x, size_t axis, int64_t index);

}  // namespace sx::ops
