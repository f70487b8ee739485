// SPDX-License-Identifier: Apache-2.0
// BitShift: the bits of x moved left or right by y places; a signed x keeps its sign to the right.
#include "ops/common/elementwise.h"

namespace sx::ops::bitshift {

static Status infer(Infer& i) {
  const std::string direction = i.text("direction");
  if (direction != "LEFT" && direction != "RIGHT") {
    return i.fail("direction is '{}', expected LEFT or RIGHT", direction);
  }
  return infer_broadcast(i);
}

static Status eval(Eval& e) {
  const bool left = e.text("direction") == "LEFT";
  const int bits = dtype_bits(e.in(0).type());
  return map2<kIntClasses>(e, [=](auto x, auto y) {
    using T = decltype(x);
    if (y < 0 || y >= T(bits)) return !left && x < 0 ? T(-1) : T(0);  // nothing but the sign remains
    return left ? T(uint64_t(x) << y) : T(x >> y);
  });
}

extern const Op op = {
    .name = "BitShift",
    .in = {{"X", "T"}, {"Y", "T"}},
    .out = {{"Z", "T"}},
    .types = {{"T", kInts}},
    .attrs = {required_attr("direction", AttrKind::text)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28}, {.since = 11, .types = {{"T", kUnsignedInts}}}},
};

}  // namespace sx::ops::bitshift
