// SPDX-License-Identifier: Apache-2.0
#include "ops/control/flow.h"

#include <algorithm>

#include "ops/engine/codec.h"
#include "ops/engine/move.h"

namespace sx::ops {

TypeSet flow_types(DTypeSet elements) {
  TypeSet s(elements);
  s.sequence = s.optional = elements;
  s.optional_sequence = kAll13;
  return s;
}

namespace {

void collect_symbols(Dim d, std::vector<uint32_t>& symbols) {
  if (d.is_constant()) return;
  for (const DimAtom* part : d.expr()->parts) {
    if (part->op == DimOp::symbol) symbols.push_back(part->symbol);
  }
}

void collect_symbols(const Type& t, std::vector<uint32_t>& symbols) {
  for (Dim d : t.shape.dims) collect_symbols(d, symbols);
  if (t.inner) collect_symbols(*t.inner, symbols);
}

bool has(const std::vector<uint32_t>& list, uint32_t symbol) {
  return std::find(list.begin(), list.end(), symbol) != list.end();
}

// The sizes that turns are already known to change; they stand for any size.
using Changing = std::vector<Dim>;

Shape widened(Infer& i, const Shape& start, const Shape& next, Changing& changing) {
  if (!start.known || !next.known || start.rank() != next.rank()) return {};
  Shape s = start;
  for (size_t k = 0; k < s.rank(); ++k) {
    const bool any = std::find(changing.begin(), changing.end(), s.dims[k]) != changing.end();
    if (any || s.dims[k] == next.dims[k]) continue;
    s.dims[k] = i.fresh("turn");
    changing.push_back(s.dims[k]);
  }
  return s;
}

Result<Type> widened(Infer& i, const Type& a, const Type& b, Changing& changing, std::string_view what) {
  if (!a.known()) return b;
  if (!b.known()) {
    Type t = a;
    t.shape = {};
    return t;
  }
  if (a.kind == Value::Kind::optional && b.kind != Value::Kind::optional) {
    // An optional may come back as what it holds.
    SX_ASSIGN(Type inner, widened(i, a.inner ? *a.inner : Type(), b, changing, what));
    return Type::optional(std::move(inner));
  }
  if (a.kind != b.kind || (a.elem != b.elem && a.elem != DType::undefined && b.elem != DType::undefined)) {
    return i.fail("{} is {} in one place and {} in another", what, to_string(a), to_string(b));
  }
  Type t = a;
  if (t.elem == DType::undefined) t.elem = b.elem;
  if (a.kind == Value::Kind::tensor || a.kind == Value::Kind::sparse) {
    t.shape = widened(i, a.shape, b.shape, changing);
  }
  if (a.inner && b.inner) {
    SX_ASSIGN(Type inner, widened(i, *a.inner, *b.inner, changing, what));
    if (!(inner == *a.inner)) t.inner = std::make_shared<const Type>(std::move(inner));
  } else if (b.inner) {
    t.inner = b.inner;
  }
  return t;
}

Type without_shape(const Type& type) {
  Type t = type;
  t.shape = {};
  if (t.inner) t.inner = std::make_shared<const Type>(without_shape(*t.inner));
  return t;
}

Type renewed(Infer& i, const Type& type, const std::vector<uint32_t>& outer) {
  Type t = type;
  for (Dim& d : t.shape.dims) {
    std::vector<uint32_t> symbols;
    collect_symbols(d, symbols);
    for (uint32_t s : symbols) {
      if (!i.pool().is_fresh(s) || has(outer, s)) continue;
      d = i.fresh();
      break;
    }
  }
  if (t.inner) t.inner = std::make_shared<const Type>(renewed(i, *t.inner, outer));
  return t;
}

}  // namespace

Result<Type> common_type(Infer& i, const Type& a, const Type& b, std::string_view what) {
  Changing changing;
  return widened(i, a, b, changing, what);
}

BodyId body_of(const Attrs& attrs, std::string_view name) {
  const BodyRef* ref = attrs.get<BodyRef>(name);
  return ref ? ref->id : kNoBody;
}

Result<std::vector<Type>> infer_turns(Infer& i, BodyId body, std::vector<Type>& types, size_t in, size_t out,
                                      size_t count) {
  Changing changing;
  // Each round can only make types weaker, and the third has no sizes left to be wrong about.
  for (int round = 0;; ++round) {
    if (round == 2) {
      for (size_t k = 0; k < count; ++k) types[in + k] = without_shape(types[in + k]);
    }
    SX_ASSIGN(std::vector<Type> found, i.infer_body(body, types));
    if (found.size() < out + count) {
      return i.fail("the body has {} outputs, but {} carried values need {}", found.size(), count,
                    out + count);
    }
    bool stable = true;
    for (size_t k = 0; k < count; ++k) {
      SX_ASSIGN(Type t, widened(i, types[in + k], found[out + k], changing, format("carried value {}", k)));
      if (t == types[in + k]) continue;
      stable = false;
      types[in + k] = std::move(t);
    }
    if (stable || round == 2) return found;
  }
}

Type outside(Infer& i, const Type& type) {
  std::vector<uint32_t> outer;
  for (size_t k = 0; k < i.inputs(); ++k) {
    if (i.has(k)) collect_symbols(i.in(k), outer);
  }
  return renewed(i, type, outer);
}

Result<Type> stacked_type(Infer& i, const Type& type, int64_t axis, Dim size) {
  if (!type.is_tensor()) return type;
  Type t = outside(i, type);
  if (!t.shape.known) return t;
  SX_ASSIGN(const size_t at, i.axis(axis, t.shape.rank() + 1));
  t.shape.dims.insert(t.shape.dims.begin() + ptrdiff_t(at), size);
  return t;
}

Result<bool> truth_of(const Value& v, std::string_view what) {
  if (!v.is_tensor() || v.tensor.type() != DType::boolean || v.tensor.count() != 1) {
    return error(Code::invalid_argument, "{} must be one boolean, found {}", what, to_string(type_of(v)));
  }
  return number_at<uint64_t>(v.tensor) != 0;
}

Tensor scalar_bool(bool v) {
  const uint8_t byte = v;
  return Tensor::of<uint8_t>(DType::boolean, {}, std::span(&byte, 1));
}

Result<Tensor> stacked(std::span<const Tensor> parts, int64_t axis, bool reverse) {
  const Tensor& first = parts[0];
  const int64_t rank = int64_t(first.rank()) + 1;
  if (axis < -rank || axis >= rank) {
    return error(Code::invalid_argument, "axis {} is outside a stack of rank {}", axis, rank);
  }
  const size_t at = size_t(axis < 0 ? axis + rank : axis);
  Dims dims = first.dims();
  dims.insert(at, int64_t(parts.size()));
  SX_ASSIGN(Tensor y, Tensor::allocate(first.type(), dims));
  int64_t outer = 1, inner = 1;
  for (size_t k = 0; k < first.rank(); ++k) (k < at ? outer : inner) *= first.dims()[k];
  const int64_t n = int64_t(parts.size());
  for (int64_t p : turns(n, size_t(first.count()))) {
    const Tensor& part = parts[size_t(reverse ? n - 1 - p : p)];
    if (!(part.dims() == first.dims()) || part.type() != first.type()) {
      return error(Code::invalid_argument, "turn {} made {}{}, the first one {}{}", p,
                   dtype_name(part.type()), to_string(part.dims()), dtype_name(first.type()),
                   to_string(first.dims()));
    }
    for (int64_t o : turns(outer, size_t(inner))) move_run(part, o * inner, y, (o * n + p) * inner, inner);
  }
  return y;
}

// Are all sizes numbers but the one at `axis`?
static bool sizes_known(const Shape& shape, int64_t axis) {
  const int64_t rank = int64_t(shape.dims.size());
  for (int64_t k = 0; k < rank; ++k) {
    if (k != (axis < 0 ? axis + rank : axis) && !shape.dims[size_t(k)].is_constant()) return false;
  }
  return shape.known;
}

Result<Tensor> stacked_nothing(const Eval& e, size_t output, int64_t axis) {
  Type type = output < e.out_types.size() ? e.out_types[output] : Type();
  if (!type.is_tensor() || type.elem == DType::undefined) {
    return error(Code::invalid_argument, "output {} has no turns to take its element type from", output);
  }
  if (e.infer_outputs && !sizes_known(type.shape, axis)) {
    // A body that could not take such sizes is not asked to.
    if (auto exact = e.infer_outputs(); exact.ok()) type.shape = (*exact)[output].shape;
  }
  Dims dims;
  for (Dim d : type.shape.dims) dims.push_back(d.is_constant() ? d.constant() : 0);
  const int64_t rank = int64_t(dims.size());
  if (rank == 0) return Tensor::zeros(type.elem, {0});
  dims[size_t(std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank - 1))] = 0;
  return Tensor::zeros(type.elem, dims);
}

Result<Tensor> slice_at(const Tensor& x, size_t axis, int64_t index) {
  Dims dims = x.dims();
  const int64_t size = dims[axis];
  dims.erase(axis);
  int64_t outer = 1, inner = 1;
  for (size_t k = 0; k < dims.size(); ++k) (k < axis ? outer : inner) *= dims[k];
  SX_ASSIGN(Tensor y, Tensor::allocate(x.type(), dims));
  for (int64_t o : turns(outer, size_t(inner))) move_run(x, (o * size + index) * inner, y, o * inner, inner);
  return y;
}

}  // namespace sx::ops
