// SPDX-License-Identifier: Apache-2.0
#include "ops/common/reduce.h"

#include <algorithm>

namespace sx::ops {
namespace {

// Marks the axes that are reduced; false where they are not known yet.
Result<bool> marked_axes(Infer& i, std::vector<bool>& gone) {
  std::vector<int64_t> axes;
  if (i.has(1) && !i.constant_ints(1, axes)) return false;
  if (axes.empty()) {
    gone.assign(gone.size(), i.integer("noop_with_empty_axes") == 0);
    return true;
  }
  for (int64_t a : axes) {
    SX_ASSIGN(const size_t axis, i.axis(a, gone.size()));
    if (gone[axis]) return i.fail("axis {} is given twice", a);
    gone[axis] = true;
  }
  return true;
}

}  // namespace

Status infer_reduce(Infer& i) {
  const bool keep = i.integer("keepdims") != 0;
  i.set_unknown_shape(0, i.elem(0));
  if (!i.rank_known(0)) return {};
  std::vector<bool> gone(i.rank(0), false);
  SX_ASSIGN(const bool known, marked_axes(i, gone));
  if (!known) {
    // The number of axes may be known although their numbers are not.
    const bool counted = i.rank_known(1) && i.rank(1) == 1 && i.dim(1, 0).is_constant();
    const int64_t count = counted ? i.dim(1, 0).constant() : 0;
    if (keep)
      i.set_ranked(0, i.elem(0), i.rank(0));
    else if (count > 0 && count <= int64_t(i.rank(0)))
      i.set_ranked(0, i.elem(0), i.rank(0) - size_t(count));
    return {};
  }
  std::vector<Dim> dims;
  for (size_t k = 0; k < gone.size(); ++k) {
    if (!gone[k])
      dims.push_back(i.dim(0, k));
    else if (keep)
      dims.push_back(1);
  }
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

Result<std::vector<size_t>> reduced_axes(Eval& e) {
  const Tensor& x = e.in(0);
  std::vector<size_t> axes;
  if (e.has(1)) {
    SX_ASSIGN(const std::vector<int64_t> given, e.ints_of(1));
    for (int64_t a : given) {
      SX_ASSIGN(const size_t axis, e.axis(a, x.rank()));
      if (std::find(axes.begin(), axes.end(), axis) != axes.end()) return e.fail("axis {} is given twice", a);
      axes.push_back(axis);
    }
  }
  if (axes.empty() && e.integer("noop_with_empty_axes") == 0) {
    for (size_t k = 0; k < x.rank(); ++k) axes.push_back(k);
  }
  std::sort(axes.begin(), axes.end());
  if (e.out(0).defined()) return axes;
  Dims dims;
  for (size_t k = 0; k < x.rank(); ++k) {
    if (!std::binary_search(axes.begin(), axes.end(), k))
      dims.push_back(x.dims()[k]);
    else if (e.integer("keepdims") != 0)
      dims.push_back(1);
  }
  SX_TRY(e.allocate(0, x.type(), dims));
  return axes;
}

uint64_t integer_lowest(DType t) { return dtype_is_signed(t) ? ~uint64_t(0) << (dtype_bits(t) - 1) : 0; }

uint64_t integer_highest(DType t) {
  if (t == DType::boolean) return 1;
  return ~uint64_t(0) >> (64 - dtype_bits(t) + (dtype_is_signed(t) ? 1 : 0));
}

std::vector<Param> reduce_inputs() { return {{"data", "T"}, {"axes", "tensor(int64)", kOptional}}; }
std::vector<AttrDef> reduce_attrs() { return {attr_int("keepdims", 1), attr_int("noop_with_empty_axes", 0)}; }

Version reduce_by_attribute(int since, std::vector<TypeVar> types) {
  return {.since = since,
          .types = std::move(types),
          .attrs = {{optional_attr("axes", AttrKind::integers), attr_int("keepdims", 1)}},
          .in = {{{"data", "T"}}},
          .lift = lift_axes_to_input};
}

}  // namespace sx::ops
