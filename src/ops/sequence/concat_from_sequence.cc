// SPDX-License-Identifier: Apache-2.0
// ConcatFromSequence: the tensors of a sequence joined along an axis, which may be a new one.
#include "base/task.h"
#include "ops/engine/move.h"
#include "ops/sequence/sequences.h"

namespace sx::ops::concat_from_sequence {

static Status infer(Infer& i) {
  Type t = element_of(i, 0);
  if (t.is_tensor() && t.shape.known) {
    const bool fresh_axis = i.integer("new_axis") != 0;
    SX_ASSIGN(const size_t axis, i.axis(i.integer("axis"), t.shape.rank() + (fresh_axis ? 1 : 0)));
    if (fresh_axis) {
      t.shape.dims.insert(t.shape.dims.begin() + ptrdiff_t(axis), i.fresh());
    } else {
      t.shape.dims[axis] = i.fresh();
    }
  }
  i.out(0) = std::move(t);
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const Sequence* s, sequence_at_input(e, 0));
  if (s->items.empty()) return e.fail("the sequence is empty");
  const bool fresh_axis = e.integer("new_axis") != 0;
  const Tensor& first = s->items[0].tensor;
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), first.rank() + (fresh_axis ? 1 : 0)));
  std::vector<Tensor> parts;
  Dims dims;
  StopCheck<16 * 1024> stop;
  for (const Value& item : s->items) {
    if (stop()) return check_stop();
    Dims own = item.tensor.dims();
    if (own.size() != first.rank())
      return e.fail("element {} has rank {}, element 0 has {}", parts.size(), own.size(), first.rank());
    if (fresh_axis) own.insert(axis, 1);
    SX_ASSIGN(Tensor part, item.tensor.reshaped(own));
    if (parts.empty()) {
      dims = own;
    } else {
      const int64_t size = dims[axis] + own[axis];
      dims[axis] = own[axis];
      if (!(own == dims) || part.type() != first.type()) {
        return e.fail("element {} is {}{}, which does not go along axis {} with {}{}", parts.size(),
                      dtype_name(part.type()), to_string(item.tensor.dims()), axis, dtype_name(first.type()),
                      to_string(first.dims()));
      }
      dims[axis] = size;
    }
    parts.push_back(std::move(part));
  }
  SX_TRY(e.allocate(0, first.type(), dims));
  const int64_t outer = product(std::span(dims.begin(), axis)),
                all = product(std::span(dims.begin() + axis, dims.size() - axis));
  int64_t at = 0;
  for (const Tensor& part : parts) {
    if (stop(size_t(outer) + size_t(part.count()))) return check_stop();
    const int64_t run = product(std::span(part.dims().begin() + axis, dims.size() - axis));
    for (int64_t o : turns(outer, size_t(run))) move_run(part, o * run, e.out(0), o * all + at, run);
    at += run;
  }
  return {};
}

extern const Op op = {
    .name = "ConcatFromSequence",
    .in = {{"input_sequence", "S"}},
    .out = {{"concat_result", "T"}},
    .types = {{"S", sequences_of(kOldAll)}, {"T", kOldAll}},
    .attrs = {required_attr("axis", AttrKind::integer), attr_int("new_axis", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 11}},
};

}  // namespace sx::ops::concat_from_sequence
