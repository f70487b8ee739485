// SPDX-License-Identifier: Apache-2.0
#include "ops/sequence/sequences.h"

#include "ops/engine/codec.h"

namespace sx::ops {

Type element_of(Infer& i, size_t input) {
  const Type& t = i.in(input);
  return t.kind == Value::Kind::sequence && t.inner ? *t.inner : Type();
}

Result<Type> covering(Infer& i, const Type& a, const Type& b) {
  if (!a.known()) return b;
  if (!b.known()) return a;
  if (a.kind != b.kind || (a.elem != b.elem && a.elem != DType::undefined && b.elem != DType::undefined)) {
    return i.fail("a sequence holds one element type, found {} and {}", to_string(a), to_string(b));
  }
  Type t = a;
  if (t.elem == DType::undefined) t.elem = b.elem;
  if (!a.shape.known || !b.shape.known || a.shape.rank() != b.shape.rank()) {
    t.shape = {};
    return t;
  }
  for (size_t k = 0; k < t.shape.rank(); ++k) {
    if (!(a.shape.dims[k] == b.shape.dims[k])) t.shape.dims[k] = i.fresh();
  }
  return t;
}

Result<const Sequence*> sequence_at_input(const Eval& e, size_t input) {
  const Value& v = e.value(input);
  if (v.kind != Value::Kind::sequence)
    return e.fail("input {} is a {}, not a sequence", input, kind_name(v.kind));
  return v.sequence.get();
}

Result<size_t> position(const Eval& e, size_t input, size_t n, bool end, size_t otherwise) {
  if (!e.has(input)) return otherwise;
  if (e.in(input).count() != 1) return e.fail("position must be one number, found {}", e.in(input).count());
  const int64_t p = number_at<int64_t>(e.in(input)), size = int64_t(n);
  if (p < -size || p >= size + int64_t(end))
    return e.fail("position {} is outside the {} elements of the sequence", p, n);
  return size_t(p < 0 ? p + size : p);
}

}  // namespace sx::ops
