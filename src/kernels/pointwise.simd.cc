// SPDX-License-Identifier: Apache-2.0
// The steps of a pointwise program over one block. A slot is an address; a slot whose flag is set holds one
// number for the whole block. One switch a step, so a block goes through the chain without leaving the
// first-level cache.
#include "kernels/pointwise_code.h"
#include "kernels/vec_math.h"

namespace sx::SX_ISA {
using kernels::PwOp;
using kernels::PwStep;

namespace {

struct Block {
  void* const* slots;
  const uint8_t* one;
  size_t n;
};

SX_INLINE Vec mask_value(Mask m) { return select(m, set1(1.0f), zero()); }
SX_INLINE Mask truth(Vec v) { return not_equal(v, zero()); }

template <class F>
void fill(float* y, size_t n, F f) {
  const Vec v = f();
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, v);
  if (i < n) store_part(y + i, n - i, v);
}

template <class F>
SX_INLINE void unary(const Block& k, const PwStep& s, F f) {
  const float* a = (const float*)k.slots[s.a];
  float* y = (float*)k.slots[s.dst];
  if (k.one[s.a]) return fill(y, k.n, [&] { return f(set1(*a)); });
  size_t i = 0;
  for (; i + kLanes <= k.n; i += kLanes) store(y + i, f(load(a + i)));
  if (i < k.n) store_part(y + i, k.n - i, f(load_part(a + i, k.n - i)));
}

template <class F>
SX_INLINE void binary(const Block& k, const PwStep& s, F f) {
  const float *a = (const float*)k.slots[s.a], *b = (const float*)k.slots[s.b];
  float* y = (float*)k.slots[s.dst];
  const size_t n = k.n;
  size_t i = 0;
  if (k.one[s.a] && k.one[s.b]) {
    fill(y, n, [&] { return f(set1(*a), set1(*b)); });
  } else if (k.one[s.a]) {
    const Vec va = set1(*a);
    for (; i + kLanes <= n; i += kLanes) store(y + i, f(va, load(b + i)));
    if (i < n) store_part(y + i, n - i, f(va, load_part(b + i, n - i)));
  } else if (k.one[s.b]) {
    const Vec vb = set1(*b);
    for (; i + kLanes <= n; i += kLanes) store(y + i, f(load(a + i), vb));
    if (i < n) store_part(y + i, n - i, f(load_part(a + i, n - i), vb));
  } else {
    for (; i + kLanes <= n; i += kLanes) store(y + i, f(load(a + i), load(b + i)));
    if (i < n) store_part(y + i, n - i, f(load_part(a + i, n - i), load_part(b + i, n - i)));
  }
}

template <class F>
SX_INLINE void ternary(const Block& k, const PwStep& s, F f) {
  const float* x[3] = {(const float*)k.slots[s.a], (const float*)k.slots[s.b], (const float*)k.slots[s.c]};
  const size_t step[3] = {k.one[s.a] ? 0u : 1u, k.one[s.b] ? 0u : 1u, k.one[s.c] ? 0u : 1u};
  float* y = (float*)k.slots[s.dst];
  const Vec fixed[3] = {set1(k.n ? *x[0] : 0), set1(k.n ? *x[1] : 0), set1(k.n ? *x[2] : 0)};
  size_t i = 0;
  for (; i + kLanes <= k.n; i += kLanes) {
    const Vec a = step[0] ? load(x[0] + i) : fixed[0], b = step[1] ? load(x[1] + i) : fixed[1],
              c = step[2] ? load(x[2] + i) : fixed[2];
    store(y + i, f(a, b, c));
  }
  if (const size_t rest = k.n - i; rest) {
    const Vec a = step[0] ? load_part(x[0] + i, rest) : fixed[0],
              b = step[1] ? load_part(x[1] + i, rest) : fixed[1],
              c = step[2] ? load_part(x[2] + i, rest) : fixed[2];
    store_part(y + i, rest, f(a, b, c));
  }
}

// Integers: plain loops, which the compiler turns into vectors where the level has the instructions.
template <class Out, class A, class B, class F>
SX_INLINE void plain(const Block& k, const PwStep& s, F f) {
  const A* a = (const A*)k.slots[s.a];
  const B* b = (const B*)k.slots[s.b];
  Out* y = (Out*)k.slots[s.dst];
  if (!k.one[s.a] && !k.one[s.b]) {
    for (size_t i = 0; i < k.n; ++i) y[i] = f(a[i], b[i]);
    return;
  }
  const size_t sa = k.one[s.a] ? 0 : 1, sb = k.one[s.b] ? 0 : 1;
  for (size_t i = 0; i < k.n; ++i) y[i] = f(a[i * sa], b[i * sb]);
}

// clang-format off
#define SX_UNARY(name, expression) \
  case PwOp::name: return unary(k, s, [&](Vec x) { return expression; });
#define SX_BINARY(name, expression) \
  case PwOp::name: return binary(k, s, [&](Vec x, Vec y) { return expression; });
#define SX_PLAIN(name, out, a, b, expression) \
  case PwOp::name: return plain<out, a, b>(k, s, [](a x, [[maybe_unused]] b y) { return expression; });
#define SX_INT(name, expression) SX_PLAIN(name, int64_t, int64_t, int64_t, (int64_t)(expression))
#define SX_TEST(name, expression) SX_PLAIN(name, float, int64_t, int64_t, (expression) ? 1.0f : 0.0f)
// clang-format on

void cheap_step(const Block& k, const PwStep& s) {
  switch (s.op) {
    SX_UNARY(copy, x)
    SX_UNARY(neg, -x)
    SX_UNARY(abs, abs(x))
    SX_UNARY(square, x * x)
    SX_UNARY(sqrt, sqrt(x))
    SX_UNARY(rsqrt, 1.0f / sqrt(x))
    SX_UNARY(reciprocal, 1.0f / x)
    SX_UNARY(relu, max(zero(), x))
    SX_UNARY(leaky_relu, select(less(x, zero()), x * s.p, x))
    SX_UNARY(thresholded_relu, select(less(set1(s.p), x), x, zero()))
    SX_UNARY(clip, clamp_keep_nan(x, s.p, s.q))
    SX_UNARY(hard_sigmoid, clamp_keep_nan(fma(x, set1(s.p), set1(s.q)), 0.0f, 1.0f))
    SX_UNARY(hard_swish, x * clamp_keep_nan(fma(x, set1(1.0f / 6.0f), set1(0.5f)), 0.0f, 1.0f))
    SX_UNARY(softsign, x / (1.0f + abs(x)))
    SX_UNARY(floor, floor(x))
    SX_UNARY(ceil, ceil(x))
    SX_UNARY(round, round(x))
    SX_UNARY(sign, select(less(x, zero()), set1(-1.0f), select(less(zero(), x), set1(1.0f), x)))
    SX_UNARY(is_nan, mask_value(is_nan(x)))
    SX_UNARY(is_inf, select(equal(x, set1(kInf)), set1(s.p != 0 ? 1.0f : 0.0f),
                            select(equal(x, set1(-kInf)), set1(s.q != 0 ? 1.0f : 0.0f), zero())))
    SX_UNARY(logical_not, mask_value(mask_not(truth(x))))
    SX_BINARY(add, x + y)
    SX_BINARY(sub, x - y)
    SX_BINARY(mul, x * y)
    SX_BINARY(div, x / y)
    SX_BINARY(min, select(is_nan(x), x, min(x, y)))
    SX_BINARY(max, select(is_nan(x), x, max(x, y)))
    SX_BINARY(prelu, select(less(x, zero()), x * y, x))
    SX_BINARY(less, mask_value(less(x, y)))
    SX_BINARY(less_equal, mask_value(less_equal(x, y)))
    SX_BINARY(greater, mask_value(less(y, x)))
    SX_BINARY(greater_equal, mask_value(less_equal(y, x)))
    SX_BINARY(equal, mask_value(equal(x, y)))
    SX_BINARY(not_equal, mask_value(not_equal(x, y)))
    SX_BINARY(logical_and, mask_value(mask_and(truth(x), truth(y))))
    SX_BINARY(logical_or, mask_value(mask_or(truth(x), truth(y))))
    SX_BINARY(logical_xor, mask_value(not_equal(mask_value(truth(x)), mask_value(truth(y)))))
    case PwOp::mul_add: return ternary(k, s, [](Vec x, Vec y, Vec z) { return fma(x, y, z); });
    case PwOp::select: return ternary(k, s, [](Vec x, Vec y, Vec z) { return select(truth(x), y, z); });
    default: return;
  }
}

void function_step(const Block& k, const PwStep& s) {
  switch (s.op) {
    SX_UNARY(exp, exp(x))
    SX_UNARY(log, log(x))
    SX_UNARY(erf, erf(x))
    SX_UNARY(tanh, tanh(x))
    SX_UNARY(sigmoid, sigmoid(x))
    SX_UNARY(sin, sin(x))
    SX_UNARY(cos, cos(x))
    SX_UNARY(elu, select(less(x, zero()), expm1(x) * s.p, x))
    SX_UNARY(selu, select(less(zero(), x), x, expm1(x) * s.p) * s.q)
    SX_UNARY(celu, select(less(zero(), x), x, expm1_any(x / s.p) * s.p))  // p may be negative
    SX_UNARY(gelu, gelu(x))
    SX_UNARY(gelu_tanh, gelu_tanh(x))
    SX_UNARY(silu, silu(x))
    SX_UNARY(swish, x * sigmoid(x * s.p))
    SX_UNARY(mish, mish(x))
    SX_UNARY(softplus, softplus(x))
    default: return;
  }
}

void power_step(const Block& k, const PwStep& s) {
  if (k.one[s.b] && k.n) {
    const float y = *(const float*)k.slots[s.b];
    if (y == 1.0f) return unary(k, s, [](Vec x) { return x; });
    if (y == 2.0f) return unary(k, s, [](Vec x) { return x * x; });
    if (y == 3.0f) return unary(k, s, [](Vec x) { return x * x * x; });
    if (y == -1.0f) return unary(k, s, [](Vec x) { return 1.0f / x; });
  }
  binary(k, s, [](Vec x, Vec y) { return pow(x, y); });
}

void integer_step(const Block& k, const PwStep& s) {
  switch (s.op) {
    SX_INT(i_copy, x)
    SX_INT(i_neg, 0 - (uint64_t)x)
    SX_INT(i_abs, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
    SX_INT(i_wrap32, (int32_t)(uint32_t)(uint64_t)x)
    SX_INT(i_add, (uint64_t)x + (uint64_t)y)
    SX_INT(i_sub, (uint64_t)x - (uint64_t)y)
    SX_INT(i_mul, (uint64_t)x * (uint64_t)y)
    SX_INT(i_div, y == 0 ? 0 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y)
    SX_INT(i_min, x < y ? x : y)
    SX_INT(i_max, x > y ? x : y)
    SX_TEST(i_less, x < y)
    SX_TEST(i_less_equal, x <= y)
    SX_TEST(i_greater, x > y)
    SX_TEST(i_greater_equal, x >= y)
    SX_TEST(i_equal, x == y)
    SX_TEST(i_not_equal, x != y)
    SX_PLAIN(i_to_f, float, int64_t, int64_t, (float)x)
    SX_PLAIN(f_to_i, int64_t, float, float, (int64_t)x)
    case PwOp::i_select: {
      const float* m = (const float*)k.slots[s.a];
      const int64_t *x = (const int64_t*)k.slots[s.b], *z = (const int64_t*)k.slots[s.c];
      int64_t* y = (int64_t*)k.slots[s.dst];
      const size_t sm = k.one[s.a] ? 0 : 1, sx = k.one[s.b] ? 0 : 1, sz = k.one[s.c] ? 0 : 1;
      for (size_t i = 0; i < k.n; ++i) y[i] = m[i * sm] != 0.0f ? x[i * sx] : z[i * sz];
      return;
    }
    default: return;
  }
}

}  // namespace

void pointwise_steps(const PwStep* steps, size_t count, void* const* slots, const uint8_t* one, size_t n) {
  const Block k = {slots, one, n};
  for (size_t i = 0; i < count; ++i) {
    const PwStep& s = steps[i];
    if (s.op == PwOp::f_to_i || s.op >= PwOp::i_copy) {
      integer_step(k, s);
    } else if (s.op == PwOp::pow) {
      power_step(k, s);
    } else {
      switch (s.op) {
        case PwOp::exp:
        case PwOp::log:
        case PwOp::erf:
        case PwOp::tanh:
        case PwOp::sigmoid:
        case PwOp::sin:
        case PwOp::cos:
        case PwOp::elu:
        case PwOp::selu:
        case PwOp::celu:
        case PwOp::gelu:
        case PwOp::gelu_tanh:
        case PwOp::silu:
        case PwOp::swish:
        case PwOp::mish:
        case PwOp::softplus: function_step(k, s); break;
        default: cheap_step(k, s);
      }
    }
  }
}

}  // namespace sx::SX_ISA
