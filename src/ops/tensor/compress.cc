// SPDX-License-Identifier: Apache-2.0
// Compress: the entries of one axis (or of all elements) where the condition is true.
#include <algorithm>

#include "base/workspace.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::compress {

static Status infer(Infer& i) {
  if (!i.has_attr("axis")) {
    i.set_tensor(0, i.elem(0), Shape({i.fresh("chosen")}));
    return {};
  }
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  std::vector<Dim> dims = i.dims(0);
  SX_ASSIGN(const size_t axis, i.axis(i.integer("axis"), dims.size()));
  dims[axis] = i.fresh("chosen");
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

static Status eval(Eval& e) {
  Tensor x = e.in(0);
  size_t axis = 0;
  if (e.has_attr("axis")) {
    SX_ASSIGN(axis, e.axis(e.integer("axis"), x.rank()));
  } else {
    SX_ASSIGN(x, x.reshaped(Dims{x.count()}));
  }
  const std::span<const int64_t> dims = x.dims();
  const auto condition = e.in(1).as<uint8_t>();
  const size_t asked = std::min(condition.size(), size_t(dims[axis]));
  size_t count = 0;
  for (size_t k : turns(asked)) count += condition[k] != 0;
  Workspace<int64_t> chosen;
  chosen.reserve(count);
  for (size_t k : turns(asked)) {
    if (condition[k]) chosen.push_back(int64_t(k));
  }
  Dims out = x.dims();
  out[axis] = int64_t(chosen.size());
  SX_TRY(e.allocate(0, x.type(), out));
  const int64_t outer = product(dims.first(axis)), inner = product(dims.subspan(axis + 1));
  int64_t to = 0;
  StopCheck<16 * 1024> stop;
  for (int64_t o = 0; o < outer && e.out(0).count() > 0 && !stop(); ++o) {
    for (int64_t k : chosen) {
      if (stop(size_t(inner) + 1)) return {};
      move_run(x, (o * dims[axis] + k) * inner, e.out(0), to, inner);
      to += inner;
    }
  }
  return {};
}

extern const Op op = {
    .name = "Compress",
    .in = {{"input", "T"}, {"condition", "T1"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}, {"T1", kBool}},
    .attrs = {optional_attr("axis", AttrKind::integer)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28}, {.since = 11, .types = {{"T", kOldAll}}}, {.since = 9}},
};

}  // namespace sx::ops::compress
