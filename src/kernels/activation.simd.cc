// SPDX-License-Identifier: Apache-2.0
// Activations in place over rows of floats.
#include "kernels/epilogue_kinds.h"
#include "kernels/vec.h"
#include "kernels/vec_math.h"

namespace sx::SX_ISA {

using kernels::Activation;

template <class F>
SX_INLINE void each(float* rows, size_t nrows, size_t ncols, size_t stride, F f) {
  for (size_t r = 0; r < nrows; ++r) {
    float* p = rows + r * stride;
    size_t i = 0;
    for (; i + kLanes <= ncols; i += kLanes) store(p + i, f(load(p + i)));
    if (i < ncols) store_part(p + i, ncols - i, f(load_part(p + i, ncols - i)));
  }
}

SX_INLINE Vec clamp01(Vec x) { return min(set1(1.0f), max(zero(), x)); }

void activate(Activation kind, float low, float high, float* rows, size_t nrows, size_t ncols,
              size_t stride) {
  const Vec lo = set1(low), hi = set1(high);
#define SX_EACH(expression) each(rows, nrows, ncols, stride, [&](Vec x) { return expression; })
  switch (kind) {
    case Activation::none: break;
    case Activation::relu: SX_EACH(max(zero(), x)); break;
    case Activation::clip: SX_EACH(min(hi, max(lo, x))); break;
    case Activation::leaky_relu: SX_EACH(select(less(x, zero()), lo * x, x)); break;
    case Activation::sigmoid: SX_EACH(sigmoid(x)); break;
    case Activation::tanh: SX_EACH(tanh(x)); break;
    case Activation::silu: SX_EACH(silu(x)); break;
    case Activation::hard_sigmoid: SX_EACH(clamp01(fma(lo, x, hi))); break;
    case Activation::hard_swish: SX_EACH(x * clamp01(fma(set1(1.0f / 6.0f), x, set1(0.5f)))); break;
    case Activation::gelu: SX_EACH(gelu(x)); break;
    case Activation::gelu_tanh: SX_EACH(gelu_tanh(x)); break;
    case Activation::elu: SX_EACH(select(less(x, zero()), lo * expm1(x), x)); break;
    case Activation::softplus: SX_EACH(softplus(x)); break;
    case Activation::mish: SX_EACH(mish(x)); break;
  }
#undef SX_EACH
}

}  // namespace sx::SX_ISA
