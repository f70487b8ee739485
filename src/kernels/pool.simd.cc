// SPDX-License-Identifier: Apache-2.0
// One output line of a pooling: blocked, a vector for each position; plain, first down the lines, then along.
#include "kernels/pool_args.h"
#include "kernels/vec.h"

namespace sx::SX_ISA {
using kernels::kPoolBuffer;
using kernels::PoolLine;
namespace {

struct Most {
  static constexpr float start = -__builtin_inff();
  SX_INLINE Vec join(Vec a, Vec b) { return select(is_nan(b), b, max(b, a)); }
  SX_INLINE float join(float a, float b) { return b != b || b > a ? b : a; }
};
struct Total {
  static constexpr float start = 0.0f;
  SX_INLINE Vec join(Vec a, Vec b) { return a + b; }
  SX_INLINE float join(float a, float b) { return a + b; }
};

// Taps of output position o that fall on the line: [first, last).
SX_INLINE void taps(const PoolLine& p, size_t o, size_t& first, size_t& last) {
  const ptrdiff_t at = (ptrdiff_t)(o * p.stride) - (ptrdiff_t)p.pad, d = (ptrdiff_t)p.dilation;
  first = at < 0 ? (size_t)((-at + d - 1) / d) : 0;
  const ptrdiff_t room = (ptrdiff_t)p.in_width - at;
  const size_t fit = room <= 0 ? 0 : (size_t)((room + d - 1) / d);
  last = fit < p.kernel ? fit : p.kernel;
  if (first > last) first = last;
}

template <class J>
void blocked_line(const PoolLine& p) {
  const Mask real = first_lanes(p.lanes);
  for (size_t o = 0; o < p.out_width; ++o) {
    size_t first, last;
    taps(p, o, first, last);
    const ptrdiff_t step = (ptrdiff_t)(p.dilation * kLanes);
    const ptrdiff_t at = ((ptrdiff_t)(o * p.stride) - (ptrdiff_t)p.pad) * (ptrdiff_t)kLanes;
    Vec v = set1(J::start);
    for (size_t d = 0; d < p.planes; ++d)
      for (size_t l = 0; l < p.lines; ++l) {
        const float* x = p.x + (ptrdiff_t)d * p.plane_step + (ptrdiff_t)l * p.line_step + at;
        for (size_t k = first; k < last; ++k) v = J::join(v, load(x + (ptrdiff_t)k * step));
      }
    if (!p.max) v = v * p.divide[o];
    store(p.y + o * kLanes, select(real, v, zero()));
  }
}

// down[i] joins the lines at positions begin + i, i < n.
template <class J>
void down_lines(const PoolLine& p, size_t begin, size_t n, float* down) {
  size_t i = 0;
  for (; i < n; i += kLanes) {
    const size_t k = n - i < kLanes ? n - i : kLanes;
    Vec v = set1(J::start);
    for (size_t d = 0; d < p.planes; ++d)
      for (size_t l = 0; l < p.lines; ++l) {
        const float* x = p.x + (ptrdiff_t)d * p.plane_step + (ptrdiff_t)l * p.line_step + begin + i;
        v = J::join(v, k == kLanes ? load(x) : load_part(x, k));
      }
    k == kLanes ? store(down + i, v) : store_part(down + i, k, v);
  }
}

// Output positions [o, end) whose windows lie wholly in down, which begins at input position `begin`.
template <class J>
void along(const PoolLine& p, size_t o, size_t end, const float* down, size_t begin) {
  const float* x = down + (o * p.stride - p.pad - begin);
  if (p.stride == 1) {
    for (; o + kLanes <= end; o += kLanes, x += kLanes) {
      Vec v = load(x);
      for (size_t k = 1; k < p.kernel; ++k) v = J::join(v, load(x + k * p.dilation));
      store(p.y + o, p.max ? v : v * load(p.divide + o));
    }
  }
  for (; o < end; ++o, x += p.stride) {
    float v = *x;
    for (size_t k = 1; k < p.kernel; ++k) v = J::join(v, x[k * p.dilation]);
    p.y[o] = p.max ? v : v * p.divide[o];
  }
}

template <class J>
void plain_line(const PoolLine& p) {
  float down[kPoolBuffer];
  const size_t reach = (p.kernel - 1) * p.dilation + 1;
  // Windows that hang over an end of the line, or do not fit the buffer, go one at a time.
  const auto alone = [&](size_t o) {
    size_t first, last;
    taps(p, o, first, last);
    const ptrdiff_t at = (ptrdiff_t)(o * p.stride) - (ptrdiff_t)p.pad;
    float v = J::start;
    for (size_t d = 0; d < p.planes; ++d)
      for (size_t l = 0; l < p.lines; ++l)
        for (size_t k = first; k < last; ++k)
          v = J::join(v, p.x[(ptrdiff_t)d * p.plane_step + (ptrdiff_t)l * p.line_step + at +
                             (ptrdiff_t)(k * p.dilation)]);
    p.y[o] = p.max ? v : v * p.divide[o];
  };
  size_t o = 0;
  for (; o < p.out_width && o * p.stride < p.pad; ++o) alone(o);
  while (o < p.out_width && reach <= kPoolBuffer && o * p.stride - p.pad + reach <= p.in_width) {
    const size_t begin = o * p.stride - p.pad;
    size_t count = (kPoolBuffer - reach) / p.stride + 1;
    const size_t fit = (p.in_width - begin - reach) / p.stride + 1;
    if (count > fit) count = fit;
    if (count > p.out_width - o) count = p.out_width - o;
    down_lines<J>(p, begin, (count - 1) * p.stride + reach, down);
    along<J>(p, o, o + count, down, begin);
    o += count;
  }
  for (; o < p.out_width; ++o) alone(o);
}

}  // namespace

void pool_line_blocked(const PoolLine* p) { p->max ? blocked_line<Most>(*p) : blocked_line<Total>(*p); }
void pool_line_plain(const PoolLine* p) { p->max ? plain_line<Most>(*p) : plain_line<Total>(*p); }

}  // namespace sx::SX_ISA
