// SPDX-License-Identifier: Apache-2.0
// SplitToSequence: a tensor cut along one axis into a sequence: by given sizes, in pieces of one size (the
// last may be smaller), or, without `split`, one by one.
#include <algorithm>

#include "base/workspace.h"
#include "ops/engine/codec.h"
#include "ops/engine/move.h"
#include "ops/sequence/sequences.h"

namespace sx::ops::split_to_sequence {

static Status infer(Infer& i) {
  Type element = Type::tensor(i.elem(0));
  if (i.rank_known(0)) {
    SX_ASSIGN(const size_t axis, i.axis(i.integer("axis"), i.rank(0)));
    std::vector<Dim> dims = i.dims(0);
    if (i.has(1)) {
      dims[axis] = i.fresh("part");
      std::vector<int64_t> sizes;
      if (i.constant_ints(1, sizes) && !sizes.empty() && i.rank_known(1) && i.rank(1) == 1 &&
          std::all_of(sizes.begin(), sizes.end(), [&](int64_t s) { return s == sizes[0]; })) {
        dims[axis] = sizes[0];
      }
    } else if (i.integer("keepdims")) {
      dims[axis] = 1;
    } else {
      dims.erase(dims.begin() + ptrdiff_t(axis));
    }
    element.shape = Shape(std::move(dims));
  }
  i.out(0) = Type::sequence(std::move(element));
  return {};
}

// How many pieces there are, or will be if their sizes are right.
static Result<int64_t> count(const Eval& e, int64_t size) {
  if (!e.has(1)) return size;
  if (e.in(1).rank() != 0) return e.in(1).count();
  SX_ASSIGN(const std::vector<int64_t> split, e.ints_of(1));
  if (split[0] <= 0) return e.fail("split must be positive, found {}", split[0]);
  return size / split[0] + (size % split[0] != 0);
}

// The sizes of the pieces.
static Result<Workspace<int64_t>> pieces(const Eval& e, int64_t size, int64_t parts) {
  Workspace<int64_t> sizes(static_cast<size_t>(parts));
  const Reader<int64_t> split(e.has(1) ? e.in(1) : Tensor());
  SX_TRY(check_stop());
  const bool listed = e.has(1) && e.in(1).rank() != 0;
  int64_t sum = 0;
  for (size_t k : turns(sizes.size())) {
    const int64_t s = sizes[k] = listed ? split[k] : std::min(e.has(1) ? split[0] : 1, size - sum);
    if (s < 0) return e.fail("split has a negative size {}", s);
    if (s > size - sum) return e.fail("split adds up to more than the {} of the axis", size);
    sum += s;
  }
  SX_TRY(check_stop());
  if (sum != size) return e.fail("split adds up to {}, the axis has {}", sum, size);
  return sizes;
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), x.rank()));
  const int64_t size = x.dims()[axis];
  SX_ASSIGN(const int64_t parts, count(e, size));
  SX_ASSIGN(const MemoryCharge list, charge_memory(size_t(parts) * sizeof(Value)));
  SX_ASSIGN(const Workspace<int64_t> sizes, pieces(e, size, parts));
  const int64_t outer = product(std::span(x.dims().begin(), axis));
  const int64_t inner = product(std::span(x.dims().begin() + axis + 1, x.rank() - axis - 1));
  std::vector<Value> items;
  items.reserve(size_t(parts));
  int64_t at = 0;
  StopCheck<16 * 1024> stop;
  for (int64_t s : sizes) {
    if (stop(size_t(outer) + size_t(outer * s * inner))) return {};
    Dims dims = x.dims();
    dims[axis] = s;
    SX_ASSIGN(Tensor part, Tensor::allocate(x.type(), dims));
    for (int64_t o : turns(outer, size_t(s * inner)))
      move_run(x, (o * size + at) * inner, part, o * s * inner, s * inner);
    if (!e.has(1) && !e.integer("keepdims")) {
      dims.erase(axis);
      SX_ASSIGN(part, part.reshaped(dims));
    }
    items.push_back(std::move(part));
    at += s;
  }
  e.set(0, Value::of_sequence(std::move(items)));
  return {};
}

extern const Op op = {
    .name = "SplitToSequence",
    .in = {{"input", "T"}, {"split", "I", kOptional}},
    .out = {{"output_sequence", "S"}},
    .types = {{"T", kAll13}, {"I", kIndices}, {"S", sequences_of(kAll13)}},
    .attrs = {attr_int("axis", 0), attr_int("keepdims", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 24}, {.since = 11, .types = {{"T", kOldAll}, {"S", sequences_of(kOldAll)}}}},
};

}  // namespace sx::ops::split_to_sequence
