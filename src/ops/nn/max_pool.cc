// SPDX-License-Identifier: Apache-2.0
// MaxPool: the largest element of each window, and where it stood.
#include <limits>

#include "base/workspace.h"
#include "graph/op.h"
#include "ops/common/reduce.h"
#include "ops/common/window.h"
#include "ops/engine/codec.h"

namespace sx::ops::max_pool {

// The index in the order of columns: the first spatial axis moves fastest.
static int64_t column_major(int64_t offset, std::span<const int64_t> dims) {
  int64_t index = 0;
  for (size_t a = dims.size(); a-- > 0; offset /= dims[a]) {
    int64_t step = 1;
    for (size_t b = 0; b < a; ++b) step *= dims[b];
    index += offset % dims[a] * step;
  }
  return index;
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const auto in = std::span(x.dims()).subspan(2);
  SX_ASSIGN(Window w, Window::of_pool(e.attrs()));
  Dims out;
  SX_TRY(w.resolve(in, out));
  const int64_t planes = x.dims()[0] * x.dims()[1], plane = product(in), places = product(out);
  const bool columns = e.integer("storage_order") != 0;
  int64_t* indices = e.wanted(1) ? e.out(1).mutable_as<int64_t>().data() : nullptr;
  return with_class<kRealClasses>(e, x.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    // Of padding alone: below everything else.
    const T nothing =
        std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : T(integer_lowest(x.type()));
    const Reader<T> from(x);
    Writer<T> y(e.out(0));
    Dims at(out.size(), 0);
    Workspace<int64_t> taps;
    StopCheck<> stop;
    for (int64_t place = 0; place < places && !stop(); ++place, next_index(out, at)) {
      find_taps(w, in, at, taps);
      for (int64_t p = 0; p < planes && !stop(taps.size() + 1); ++p) {
        const T* v = from.data() + p * plane;
        int64_t best = taps.empty() ? -1 : taps[0];
        for (int64_t t : stoppable(taps)) {
          if (v[t] > v[best] || (v[t] != v[t] && v[best] == v[best])) best = t;
        }
        y[size_t(p * places + place)] = best < 0 ? nothing : v[best];
        if (!indices) continue;
        // Nothing stands at -1: the window is padding alone.
        if (best >= 0) best = p * plane + (columns ? column_major(best, in) : best);
        indices[p * places + place] = best;
      }
    }
    return {};
  });
}

constexpr AttrDef kKernel = required_attr("kernel_shape", AttrKind::integers),
                  kCeil = attr_int("ceil_mode", 0), kOrder = attr_int("storage_order", 0);
constexpr DTypeSet kBytes = DTypeSet::of(DType::i8, DType::u8);

// Windows that start behind the input were not ruled out before opset 22; they held nothing and every runtime
// dropped them, so the meaning is the same.
extern const Op op = {
    .name = "MaxPool",
    .in = {{"X", "T"}},
    .out = {{"Y", "T"}, {"Indices", "I", kOptional}},
    .types = {{"T", kFloats | kBytes}, {"I", DTypeSet::of(DType::i64)}},
    .attrs = {kAutoPad, kCeil, kDilations, kKernel, kPads, kOrder, kStrides},
    .infer = infer_pool,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 12, .types = {{"T", kOldFloats | kBytes}}},
                {.since = 11, .types = {{"T", kOldFloats}}},
                {.since = 10},
                {.since = 8, .attrs = {{kAutoPad, kKernel, kPads, kOrder, kStrides}}},
                {.since = 1, .attrs = {{kAutoPad, kKernel, kPads, kStrides}}, .out = {{{"Y", "T"}}}}},
};

}  // namespace sx::ops::max_pool
