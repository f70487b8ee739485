// SPDX-License-Identifier: Apache-2.0
// CastLike: the elements in the type that another tensor has.
#include "ops/tensor/cast_tensor.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::cast_like {

static Status infer(Infer& i) {
  SX_TRY(check_round_mode(i));
  i.set_tensor(0, i.elem(1), i.in(0).shape);
  const auto* e = i.elements(0);
  if (e && (i.elem(1) == DType::i64 || i.elem(1) == DType::i32) && dtype_is_integer(i.elem(0)))
    i.set_elements(0, *e);
  return {};
}

static Status eval(Eval& e) { return cast_tensor(e, e.in(0), e.out(0), cast_options(e)); }

constexpr DTypeSet no_complex(DTypeSet s) { return s - kComplex; }
static std::vector<TypeVar> both(DTypeSet s) { return {{"T1", no_complex(s)}, {"T2", no_complex(s)}}; }

extern const Op op = {
    .name = "CastLike",
    .in = {{"input", "T1"}, {"target_type", "T2"}},
    .out = {{"output", "T2"}},
    .types = both(kAll25),
    .attrs = {attr_text("round_mode", "up"), attr_int("saturate", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = both(kAll24)},
                {.since = 23, .types = both(kAll23), .attrs = {{attr_int("saturate", 1)}}},
                {.since = 21, .types = both(kAll21)},
                {.since = 19, .types = both(kAll19)},
                {.since = 15, .types = both(kAll13), .attrs = std::vector<AttrDef>()}},
};

}  // namespace sx::ops::cast_like
