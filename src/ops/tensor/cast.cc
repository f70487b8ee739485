// SPDX-License-Identifier: Apache-2.0
// Cast: the elements in another type.
#include "graph/lift.h"
#include "ops/tensor/cast_tensor.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::cast {

static Status infer(Infer& i) {
  SX_ASSIGN(const DType to, i.dtype("to"));
  if (to == DType::undefined) return i.fail("attribute 'to' is missing");
  SX_TRY(check_round_mode(i));
  i.set_tensor(0, to, i.in(0).shape);
  const auto* e = i.elements(0);
  // What does not fit is not kept, and wraps when it is run.
  if (e && (to == DType::i64 || to == DType::i32) && dtype_is_integer(i.elem(0))) i.set_elements(0, *e);
  return {};
}

static Status eval(Eval& e) { return cast_tensor(e, e.in(0), e.out(0), cast_options(e)); }

static Status lift_name(Lift& l) {
  const std::string name = l.attrs().text("to", "");
  DType type;
  if (!parse_dtype(name, type)) return l.fail("Cast-1 to '{}', which is no element type", name);
  l.attrs().set("to", int64_t(type));
  return {};
}

constexpr AttrDef kTo = required_attr("to", AttrKind::integer);
constexpr DTypeSet no_complex(DTypeSet s) { return s - kComplex; }
static std::vector<TypeVar> both(DTypeSet s) { return {{"T1", no_complex(s)}, {"T2", no_complex(s)}}; }

extern const Op op = {
    .name = "Cast",
    .in = {{"input", "T1"}},
    .out = {{"output", "T2"}},
    .types = both(kAll28),
    .attrs = {attr_text("round_mode", "up"), attr_int("saturate", 1), kTo},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28},
                {.since = 25, .types = both(kAll25)},
                {.since = 24, .types = both(kAll24)},
                {.since = 23, .types = both(kAll23), .attrs = {{attr_int("saturate", 1), kTo}}},
                {.since = 21, .types = both(kAll21)},
                {.since = 19, .types = both(kAll19)},
                {.since = 13, .types = both(kAll13), .attrs = {{kTo}}},
                {.since = 9, .types = both(kOldAll)},
                {.since = 6, .types = both(kOldNumbers | kBool)},
                {.since = 1, .attrs = {{required_attr("to", AttrKind::text)}}, .lift = lift_name}},
};

}  // namespace sx::ops::cast
