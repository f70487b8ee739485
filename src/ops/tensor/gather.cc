// SPDX-License-Identifier: Apache-2.0
// Gather: the entries of one axis that indices name, like numpy.take.
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::gather {

static void pick_elements(Infer& i) {
  const auto* e = i.elements(0);
  std::vector<int64_t> at;
  if (!e || i.rank(0) != 1 || !i.constant_ints(1, at)) return;
  std::vector<Dim> out;
  for (int64_t index : at) {
    if (!normal_index(index, int64_t(e->size()))) return;
    out.push_back((*e)[size_t(index)]);
  }
  i.set_elements(0, std::move(out));
}

static Status infer(Infer& i) {
  if (!i.rank_known(0) || !i.rank_known(1)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  const std::span<const Dim> data = i.dims(0);
  SX_ASSIGN(const size_t axis, i.axis(i.integer("axis"), data.size()));
  std::vector<Dim> dims(data.begin(), data.begin() + int64_t(axis));
  dims.insert(dims.end(), i.dims(1).begin(), i.dims(1).end());
  dims.insert(dims.end(), data.begin() + int64_t(axis) + 1, data.end());
  const bool small = dims.size() <= 1;
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  if (small) pick_elements(i);
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), x.rank()));
  const std::span<const int64_t> dims = x.dims();
  const int64_t outer = product(dims.first(axis)), inner = product(dims.subspan(axis + 1)), size = dims[axis];
  const Reader<int64_t> indices(e.in(1));
  SX_TRY(check_stop());
  Workspace<int64_t> at(indices.size());
  for (size_t k : turns(at.size())) {
    at[k] = indices[k];
    if (!normal_index(at[k], size)) {
      return e.fail("index {} is out of range for axis {} of {}", indices[k], axis, to_string(dims));
    }
  }
  SX_TRY(check_stop());
  int64_t to = 0;
  StopCheck<16 * 1024> stop;
  for (int64_t o = 0; o < outer && !stop(); ++o) {
    for (int64_t index : at) {
      if (stop(size_t(inner) + 1)) return {};
      move_run(x, (o * size + index) * inner, e.out(0), to, inner);
      to += inner;
    }
  }
  return {};
}

extern const Op op = {
    .name = "Gather",
    .in = {{"data", "T"}, {"indices", "Tind"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}, {"Tind", kIndices}},
    .attrs = {attr_int("axis", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13}, {.since = 11, .types = {{"T", kOldAll}}}, {.since = 1}},
};

}  // namespace sx::ops::gather
