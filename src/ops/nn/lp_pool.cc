// SPDX-License-Identifier: Apache-2.0
// LpPool: the p-norm of each window.
#include <cmath>

#include "base/workspace.h"
#include "graph/lift.h"
#include "graph/op.h"
#include "ops/common/legacy.h"
#include "ops/common/window.h"
#include "ops/engine/codec.h"

namespace sx::ops::lp_pool {

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const auto in = std::span(x.dims()).subspan(2);
  SX_ASSIGN(Window w, Window::of_pool(e.attrs()));
  Dims out;
  SX_TRY(w.resolve(in, out));
  const int64_t planes = x.dims()[0] * x.dims()[1], plane = product(in), places = product(out);
  const double power = double(e.integer("p"));
  return with_class<kFloatClasses>(e, x.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> from(x);
    Writer<T> y(e.out(0));
    Dims at(out.size(), 0);
    Workspace<int64_t> taps;
    StopCheck<> stop;
    for (int64_t place = 0; place < places && !stop(); ++place, next_index(out, at)) {
      find_taps(w, in, at, taps);
      for (int64_t p = 0; p < planes && !stop(taps.size() + 1); ++p) {
        double sum = 0;
        for (int64_t t : stoppable(taps))
          sum += std::pow(std::fabs(double(from[size_t(p * plane + t)])), power);
        y[size_t(p * places + place)] = T(std::pow(sum, 1 / power));
      }
    }
    return {};
  });
}

// p was a real number, and the kernel could be left out.
static Status lift_from_1(Lift& l) {
  SX_TRY(lift_real_p(l));
  if (l.attrs().has("kernel_shape")) return {};
  return l.fail("kernel_shape is missing");
}

constexpr AttrDef kKernel = required_attr("kernel_shape", AttrKind::integers), kP = attr_int("p", 2);

extern const Op op = {
    .name = "LpPool",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}},
    .types = {{"T", kFloats}},
    .attrs = {kAutoPad, attr_int("ceil_mode", 0), kDilations, kKernel, kP, kPads, kStrides},
    .infer = infer_pool,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 18, .types = {{"T", kOldFloats}}},
                {.since = 11, .attrs = {{kAutoPad, kKernel, kP, kPads, kStrides}}},
                {.since = 2},
                {.since = 1,
                 .attrs = {{kAutoPad, optional_attr("kernel_shape", AttrKind::integers), attr_float("p", 2),
                            kPads, kStrides}},
                 .lift = lift_from_1}},
};

}  // namespace sx::ops::lp_pool
