// SPDX-License-Identifier: Apache-2.0
// Map: y[i] = f(a[i], b[i], …) with multidirectional broadcasting, for every type. The lambda is generic over
// the compute class; a lambda that returns bool writes booleans.
//
//   Status eval(Eval& e) { return map1<kFloatClasses>(e, [](auto x) { return std::exp(x); }); }
//   Status eval(Eval& e) { return map2<kAllClasses>(e, [](auto x, auto y) { return x + y; }); }
//   Status eval(Eval& e) { return map2(e, [](auto x, auto y) { return x < y; }); }           // boolean out
//   Status eval(Eval& e) { return map_all(e, [](auto x, auto y) { return x > y ? x : y; }); } // Max of n
//   inputs map2_as<double>(e, e.in(0), e.in(1), e.out(0), [](double x, double y) { return std::pow(x, y); });
//
// Inputs are all decoded into the class of the first one (float16 → f32, int8 → i64, bool and uint8 → u64).
// Integers wrap around when they are encoded into a narrower type.
#pragma once
#include <array>

#include "ops/engine/codec.h"

namespace sx {

// Kernel on one block: in[k] points at n elements of class `in`, out at n elements of class `result`.
using MapKernel = FunctionRef<void(const void* const* in, void* out, size_t n)>;
Status map_blocks(const Eval& e, std::span<const Tensor* const> in, Tensor& out, Class in_class, Class result,
                  MapKernel kernel, const EncodeOptions& options = {});

template <class T, class F>
Status map1_as(Eval& e, const Tensor& x, Tensor& out, F f, const EncodeOptions& options = {}) {
  using R = ResultOf<decltype(f(T())), T>;
  const Tensor* in[] = {&x};
  return map_blocks(
      e, in, out, class_for<T>(), class_for<R>(),
      [&](const void* const* p, void* to, size_t n) {
        const T* a = static_cast<const T*>(p[0]);
        R* y = static_cast<R*>(to);
        for (size_t k = 0; k < n; ++k) y[k] = R(f(a[k]));
      },
      options);
}

template <class T, class F>
Status map2_as(Eval& e, const Tensor& x0, const Tensor& x1, Tensor& out, F f,
               const EncodeOptions& options = {}) {
  using R = ResultOf<decltype(f(T(), T())), T>;
  const Tensor* in[] = {&x0, &x1};
  return map_blocks(
      e, in, out, class_for<T>(), class_for<R>(),
      [&](const void* const* p, void* to, size_t n) {
        const T *a = static_cast<const T*>(p[0]), *b = static_cast<const T*>(p[1]);
        R* y = static_cast<R*>(to);
        for (size_t k = 0; k < n; ++k) y[k] = R(f(a[k], b[k]));
      },
      options);
}

template <class T, class F>
Status map3_as(Eval& e, const Tensor& x0, const Tensor& x1, const Tensor& x2, Tensor& out, F f,
               const EncodeOptions& options = {}) {
  using R = ResultOf<decltype(f(T(), T(), T())), T>;
  const Tensor* in[] = {&x0, &x1, &x2};
  return map_blocks(
      e, in, out, class_for<T>(), class_for<R>(),
      [&](const void* const* p, void* to, size_t n) {
        const T *a = static_cast<const T*>(p[0]), *b = static_cast<const T*>(p[1]),
                *c = static_cast<const T*>(p[2]);
        R* y = static_cast<R*>(to);
        for (size_t k = 0; k < n; ++k) y[k] = R(f(a[k], b[k], c[k]));
      },
      options);
}

template <unsigned Classes = kRealClasses, class F>
Status map1(Eval& e, const Tensor& x, Tensor& out, F f) {
  return with_class<Classes>(e, x.type(), [&](auto zero) { return map1_as<decltype(zero)>(e, x, out, f); });
}
template <unsigned Classes = kRealClasses, class F>
Status map2(Eval& e, const Tensor& a, const Tensor& b, Tensor& out, F f) {
  return with_class<Classes>(e, a.type(),
                             [&](auto zero) { return map2_as<decltype(zero)>(e, a, b, out, f); });
}
template <unsigned Classes = kRealClasses, class F>
Status map3(Eval& e, const Tensor& a, const Tensor& b, const Tensor& c, Tensor& out, F f) {
  return with_class<Classes>(e, a.type(),
                             [&](auto zero) { return map3_as<decltype(zero)>(e, a, b, c, out, f); });
}
// The same from the first inputs into output 0.
template <unsigned Classes = kRealClasses, class F>
Status map1(Eval& e, F f) {
  return map1<Classes>(e, e.in(0), e.out(0), f);
}
template <unsigned Classes = kRealClasses, class F>
Status map2(Eval& e, F f) {
  return map2<Classes>(e, e.in(0), e.in(1), e.out(0), f);
}

// All inputs folded from left to right into output 0, rounded once: Sum, Max, Min. `finish` sees the fold.
template <unsigned Classes = kRealClasses, class F, class G>
Status map_all(Eval& e, F f, G finish) {
  std::vector<const Tensor*> in;
  for (size_t i = 0; i < e.inputs(); ++i) in.push_back(&e.in(i));
  return with_class<Classes>(e, e.in(0).type(), [&](auto zero) {
    using T = decltype(zero);
    return map_blocks(e, in, e.out(0), class_for<T>(), class_for<T>(),
                      [&](const void* const* p, void* to, size_t n) {
                        T* y = static_cast<T*>(to);
                        for (size_t k = 0; k < n; ++k) y[k] = static_cast<const T*>(p[0])[k];
                        for (size_t i = 1; i < in.size(); ++i) {
                          const T* x = static_cast<const T*>(p[i]);
                          for (size_t k = 0; k < n; ++k) y[k] = T(f(y[k], x[k]));
                        }
                        for (size_t k = 0; k < n; ++k) y[k] = T(finish(y[k]));
                      });
  });
}
template <unsigned Classes = kRealClasses, class F>
Status map_all(Eval& e, F f) {
  return map_all<Classes>(e, f, [](auto v) { return v; });
}

}  // namespace sx
