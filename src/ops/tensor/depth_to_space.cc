// SPDX-License-Identifier: Apache-2.0
// DepthToSpace: channels become blocks of pixels.
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::depth_to_space {

static Status infer(Infer& i) {
  const int64_t block = i.integer("blocksize");
  if (block < 1 || block > 1 << 20) return i.fail("blocksize is {}", block);
  if (!i.rank_known(0)) {
    i.set_ranked(0, i.elem(0), 4);
    return {};
  }
  if (i.rank(0) != 4) return i.fail("the input has rank {}, 4 is needed", i.rank(0));
  SX_ASSIGN(const Dim channels, remaining_size(i, {i.dim(0, 1)}, {Dim(block * block)}));
  i.set_tensor(0, i.elem(0), Shape({i.dim(0, 0), channels, i.dim(0, 2) * block, i.dim(0, 3) * block}));
  return {};
}

static Status eval(Eval& e) {
  const int64_t b = e.integer("blocksize");
  const Dims& d = e.in(0).dims();
  const int64_t c = d[1] / (b * b);
  const std::string mode = e.text("mode");
  if (mode != "DCR" && mode != "CRD") return e.fail("mode '{}' is neither DCR nor CRD", mode);
  const bool depth_first = mode == "DCR";
  const size_t dcr[] = {0, 3, 4, 1, 5, 2}, crd[] = {0, 1, 4, 2, 5, 3};
  SX_ASSIGN(const Tensor blocks, e.in(0).reshaped(depth_first ? Dims{d[0], b, b, c, d[2], d[3]}
                                                              : Dims{d[0], c, b, b, d[2], d[3]}));
  SX_ASSIGN(const Tensor moved, permuted(blocks, depth_first ? dcr : crd));
  SX_ASSIGN(Tensor y, moved.reshaped(e.out(0).dims()));
  e.set(0, Value(std::move(y)));
  return {};
}

constexpr AttrDef kBlock = required_attr("blocksize", AttrKind::integer);

extern const Op op = {
    .name = "DepthToSpace",
    .in = {{"input", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}},
    .attrs = {kBlock, attr_text("mode", "DCR")},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28},
                {.since = 13},
                {.since = 11, .types = {{"T", kOldAll}}},
                {.since = 1, .attrs = {{kBlock}}}},
};

}  // namespace sx::ops::depth_to_space
