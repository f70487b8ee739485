// SPDX-License-Identifier: Apache-2.0
// What the operators on sequences share.
#pragma once
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"

namespace sx::ops {

inline TypeSet sequences_of(DTypeSet elements) {
  TypeSet s;
  s.sequence = elements;
  return s;
}
inline TypeSet tensors_and_sequences_of(DTypeSet elements) {
  TypeSet s(elements);
  s.sequence = elements;
  return s;
}
inline TypeSet optionals_of(DTypeSet elements) {
  TypeSet s;
  s.optional = s.optional_sequence = elements;
  return s;
}
inline TypeSet anything_of(DTypeSet elements) {
  TypeSet s = tensors_and_sequences_of(elements);
  s.optional = s.optional_sequence = elements;
  return s;
}

// The element type of sequence input i; unknown where the input is not known.
Type element_of(Infer& i, size_t input);
// A tensor type that holds for both: sizes and ranks that differ are forgotten.
Result<Type> covering(Infer& i, const Type& a, const Type& b);

Result<const Sequence*> sequence_at_input(const Eval& e, size_t input);
// Input i as the position of one of n elements, negative ones from the end, or the end itself where `end`
// allows it; `otherwise` if the input is absent.
Result<size_t> position(const Eval& e, size_t input, size_t n, bool end, size_t otherwise);

}  // namespace sx::ops
