// SPDX-License-Identifier: Apache-2.0
// Reduce: one number from each group of elements (fold, reduce), or one line from each line (along), for
// every type. `fold` goes through each group's elements in order and gathers nothing: rows of several groups
// are read as they lie. For the others the engine gathers a group or a line into a contiguous span of the
// compute class, whatever the axes.
//
//   fold(e, e.in(0), axes, e.out(0),                                                        // ReduceProd
//        Fold{[](auto zero) { return zero + 1; },                     // what a group of class T begins with
//             [](auto product, auto v) { return product * v; },       // one element more
//             [](auto zero, auto product, size_t n) { return product; }});  // the result, of n elements
//   reduce(e, e.in(0), axes, e.out(0), [](auto x) { return max_of(x); });                 // ReduceMax
//   reduce(e, e.in(0), axes, e.out(0), [](auto x) -> int64_t { … index of the best … });   // ArgMax: int64
//   out along<kFloatClasses>(e, e.in(0), {axis}, e.out(0), [](auto x, auto y) {                // Softmax
//     const auto top = max_of(x);
//     for (size_t k : turns(x.size())) y[k] = std::exp(x[k] - top);
//     const auto sum = sum_of(y);
//     for (auto& v : stoppable(y)) v /= sum;
//   });
//
// `x` is std::span<const T>, `y` std::span<T>. In `along` the output may be longer or shorter than the input
// along the axis (TopK), the other axes agree; with several axes the line is their product, in row-major
// order.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <limits>

#include "ops/engine/codec.h"
#include "ops/engine/wrap.h"

namespace sx {

// Axes: sorted, distinct, below the rank. No axes: every element is a group of its own.
using Axes = std::span<const size_t>;
using ReduceKernel = FunctionRef<void(const void* group, size_t n, void* result)>;
Status reduce_groups(const Eval& e, const Tensor& x, Axes axes, Tensor& out, Class c, Class result,
                     ReduceKernel kernel);
// What a fold does to several groups beside each other, each with a state of one cell.
struct FoldKernel {
  FunctionRef<void(void* states, size_t groups)> begin;
  FunctionRef<void(void* state, const void* line, size_t n)> along;        // n elements of one group
  FunctionRef<void(void* states, const void* row, size_t groups)> across;  // one element of each
  FunctionRef<void(const void* states, size_t groups, size_t n, void* results)> end;
};
Status fold_groups(const Eval& e, const Tensor& x, Axes axes, Tensor& out, Class c, const FoldKernel& kernel);
using AlongKernel = FunctionRef<void(const void* x, size_t nx, void* y, size_t ny)>;
Status along_lines(const Eval& e, const Tensor& x, Axes axes, Tensor& out, Class c, AlongKernel kernel);

template <unsigned Classes = kRealClasses, class F>
Status reduce(Eval& e, const Tensor& x, Axes axes, Tensor& out, F f) {
  return with_class<Classes>(e, x.type(), [&](auto zero) {
    using T = decltype(zero);
    using R = ResultOf<decltype(f(std::span<const T>())), T>;
    return reduce_groups(e, x, axes, out, class_for<T>(), class_for<R>(),
                         [&](const void* p, size_t n, void* to) {
                           *static_cast<R*>(to) = R(f(std::span<const T>(static_cast<const T*>(p), n)));
                         });
  });
}

template <class Begin, class Add, class End>
struct Fold {
  Begin begin;
  Add add;
  End end;
};
template <class Begin, class Add, class End>
Fold(Begin, Add, End) -> Fold<Begin, Add, End>;

template <unsigned Classes = kRealClasses, class Begin, class Add, class End>
Status fold(Eval& e, const Tensor& x, Axes axes, Tensor& out, const Fold<Begin, Add, End>& f) {
  return with_class<Classes>(e, x.type(), [&](auto zero) {
    using T = decltype(zero);
    using S = decltype(f.begin(zero));
    static_assert(sizeof(S) <= sizeof(complex128));  // a cell
    const auto begin = [&](void* p, size_t groups) {
      for (size_t g = 0; g < groups; ++g) static_cast<S*>(p)[g] = f.begin(T());
    };
    const auto along = [&](void* p, const void* line, size_t n) {
      S s = *static_cast<S*>(p);
      for (size_t k = 0; k < n; ++k) s = f.add(s, static_cast<const T*>(line)[k]);
      *static_cast<S*>(p) = s;
    };
    const auto across = [&](void* p, const void* row, size_t groups) {
      S* s = static_cast<S*>(p);
      for (size_t g = 0; g < groups; ++g) s[g] = f.add(s[g], static_cast<const T*>(row)[g]);
    };
    const auto end = [&](const void* p, size_t groups, size_t n, void* results) {
      for (size_t g = 0; g < groups; ++g)
        static_cast<T*>(results)[g] = T(f.end(T(), static_cast<const S*>(p)[g], n));
    };
    return fold_groups(e, x, axes, out, class_for<T>(), {begin, along, across, end});
  });
}

template <unsigned Classes = kRealClasses, class F>
Status along(Eval& e, const Tensor& x, Axes axes, Tensor& out, F f) {
  return with_class<Classes>(e, x.type(), [&](auto zero) {
    using T = decltype(zero);
    return along_lines(e, x, axes, out, class_for<T>(), [&](const void* p, size_t nx, void* to, size_t ny) {
      f(std::span<const T>(static_cast<const T*>(p), nx), std::span<T>(static_cast<T*>(to), ny));
    });
  });
}
template <unsigned Classes = kRealClasses, class F>
Status along(Eval& e, const Tensor& x, std::initializer_list<size_t> axes, Tensor& out, F f) {
  return along<Classes>(e, x, Axes(axes.begin(), axes.size()), out, f);
}

// Sums of float32 are held in float64: the result is rounded once.
template <class S>
auto sum_of(S x) {
  using T = std::remove_cv_t<typename S::element_type>;
  if constexpr (std::is_same_v<T, float>) {
    double sum = 0;
    for (float v : stoppable(x)) sum += v;
    return float(sum);
  } else {
    T sum = 0;
    for (const T& v : stoppable(x)) sum = wrap_add(sum, v);
    return sum;
  }
}
// Like numpy: a NaN anywhere is the result. Of nothing: the least (greatest) value of the class.
template <class S>
auto max_of(S x) {
  using T = std::remove_cv_t<typename S::element_type>;
  T top = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::lowest();
  for (T v : stoppable(x)) top = v > top || v != v ? v : top;
  return top;
}
template <class S>
auto min_of(S x) {
  using T = std::remove_cv_t<typename S::element_type>;
  T low = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::max();
  for (T v : stoppable(x)) low = v < low || v != v ? v : low;
  return low;
}

}  // namespace sx
