// SPDX-License-Identifier: Apache-2.0
// ReverseSequence: each batch entry's first `length` steps in reverse order, the rest as they are.
#include "ops/common/checks.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::reverse_sequence {

static Status infer(Infer& i) {
  if (i.rank_known(0) && i.rank(0) < 2)
    return i.fail("the input has rank {}, at least 2 is needed", i.rank(0));
  if (i.rank_known(0)) {
    SX_ASSIGN(const size_t batch, i.axis(i.integer("batch_axis"), i.rank(0)));
    SX_ASSIGN(const size_t time, i.axis(i.integer("time_axis"), i.rank(0)));
    if (batch == time) return i.fail("batch_axis and time_axis are both {}", batch);
    SX_TRY(require_dims(i, 1, Shape({i.dim(0, batch)}), "sequence_lens"));
  }
  i.out(0) = i.in(0);
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  SX_ASSIGN(const size_t batch, e.axis(e.integer("batch_axis"), x.rank()));
  SX_ASSIGN(const size_t time, e.axis(e.integer("time_axis"), x.rank()));
  const Reader<int64_t> lengths(e.in(1));
  const Dims strides = contiguous_strides(x.dims());
  for (int64_t n : stoppable(lengths)) {
    if (n < 0 || n > x.dims()[time]) return e.fail("a sequence length {} does not fit axis {}", n, time);
  }
  SX_TRY(check_stop());
  move_each(x, e.out(0), [&](int64_t at) {
    const int64_t step = at / strides[time] % x.dims()[time];
    const int64_t length = lengths[size_t(at / strides[batch] % x.dims()[batch])];
    return step < length ? at + (length - 1 - 2 * step) * strides[time] : at;
  });
  return {};
}

extern const Op op = {
    .name = "ReverseSequence",
    .in = {{"input", "T"}, {"sequence_lens", "tensor(int64)"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kAll13}},
    .attrs = {attr_int("batch_axis", 1), attr_int("time_axis", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28}, {.since = 10, .types = {{"T", kOldAll}}}},
};

}  // namespace sx::ops::reverse_sequence
