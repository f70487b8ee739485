// SPDX-License-Identifier: Apache-2.0
// Mod: the remainder of a / b, with the sign of b (fmod = 0) or of a (fmod = 1).
#include <cmath>

#include "ops/common/elements.h"
#include "ops/common/elementwise.h"

namespace sx::ops::mod {

template <class T>
static T truncated(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fmod(x, y);
  else if constexpr (std::is_signed_v<T>)
    return y == 0 || y == -1 ? 0 : x % y;
  else
    return y == 0 ? 0 : x % y;
}

// fmod is exact; moving it to the divisor's side keeps the special cases of the standard.
template <class T>
static T floored(T x, T y) {
  const T r = truncated(x, y);
  if constexpr (std::is_floating_point_v<T>) {
    if (r == 0) return std::copysign(T(0), y);
    return (r < 0) != (y < 0) && r == r ? r + y : r;
  } else {
    return r != 0 && (r < 0) != (y < 0) ? T(r + y) : r;
  }
}

static Status infer(Infer& i) {
  if (i.integer("fmod") != 0) return infer_broadcast(i);
  return infer_arithmetic(
      i, [](Dim a, Dim b) { return always_positive(b) ? std::optional(sx::mod(a, b)) : std::nullopt; });
}

static Status eval(Eval& e) {
  const bool truncate = e.integer("fmod") != 0;
  return map2(e, [=](auto x, auto y) { return truncate ? truncated(x, y) : floored(x, y); });
}

extern const Op op = {
    .name = "Mod",
    .in = {{"A", "T"}, {"B", "T"}},
    .out = {{"C", "T"}},
    .types = {{"T", kNumbers}},
    .attrs = {attr_int("fmod", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28}, {.since = 13}, {.since = 10, .types = {{"T", kOldNumbers}}}},
};

}  // namespace sx::ops::mod
