// SPDX-License-Identifier: Apache-2.0
// SpaceToDepth: blocks of pixels become channels.
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::space_to_depth {

static Status infer(Infer& i) {
  const int64_t block = i.integer("blocksize");
  if (block < 1 || block > 1 << 20) return i.fail("blocksize is {}", block);
  if (!i.rank_known(0)) {
    i.set_ranked(0, i.elem(0), 4);
    return {};
  }
  if (i.rank(0) != 4) return i.fail("the input has rank {}, 4 is needed", i.rank(0));
  SX_ASSIGN(const Dim height, remaining_size(i, {i.dim(0, 2)}, {Dim(block)}));
  SX_ASSIGN(const Dim width, remaining_size(i, {i.dim(0, 3)}, {Dim(block)}));
  i.set_tensor(0, i.elem(0), Shape({i.dim(0, 0), i.dim(0, 1) * (block * block), height, width}));
  return {};
}

static Status eval(Eval& e) {
  const int64_t b = e.integer("blocksize");
  const Dims& d = e.in(0).dims();
  const std::string mode = e.text("mode");
  if (mode != "DCR" && mode != "CRD") return e.fail("mode '{}' is neither DCR nor CRD", mode);
  const size_t dcr[] = {0, 3, 5, 1, 2, 4}, crd[] = {0, 1, 3, 5, 2, 4};
  SX_ASSIGN(const Tensor blocks, e.in(0).reshaped(Dims{d[0], d[1], d[2] / b, b, d[3] / b, b}));
  SX_ASSIGN(const Tensor moved, permuted(blocks, mode == "DCR" ? dcr : crd));
  SX_ASSIGN(Tensor y, moved.reshaped(e.out(0).dims()));
  e.set(0, Value(std::move(y)));
  return {};
}

constexpr AttrDef kBlock = required_attr("blocksize", AttrKind::integer);

extern const Op op = {
    .name = "SpaceToDepth",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}},
    .attrs = {kBlock, attr_text("mode", "DCR")},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28}, {.since = 13, .attrs = {{kBlock}}}, {.since = 1, .types = {{"T", kOldAll}}}},
};

}  // namespace sx::ops::space_to_depth
