// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor/scatter_reduce.h"

#include "base/task.h"
#include "ops/engine/codec.h"
#include "ops/engine/move.h"

namespace sx::ops {
namespace {

template <class T>
T combine(const std::string& how, T old, T now) {
  if (how == "add") return std::is_integral_v<T> ? T(uint64_t(old) + uint64_t(now)) : old + now;
  if (how == "mul") return std::is_integral_v<T> ? T(uint64_t(old) * uint64_t(now)) : old * now;
  if (how == "max") return now > old || now != now ? now : old;
  return now < old || now != now ? now : old;
}

// Update `k` has one index, or one for each axis that indices name.
Status outside(const Eval& e, int64_t k, int64_t runs) {
  const Reader<int64_t> indices(e.in(1));
  const size_t depth = indices.size() / size_t(runs);
  return e.fail("update {} goes to {}, outside of {}", k,
                to_string(std::span(indices.data() + size_t(k) * depth, depth)), to_string(e.in(0).dims()));
}

}  // namespace

Status scatter(Eval& e, const Tensor& data, const Tensor& updates, int64_t runs, int64_t run,
               FunctionRef<int64_t(int64_t k)> place) {
  const std::string how = e.text("reduction");
  if (how != "none" && how != "add" && how != "mul" && how != "max" && how != "min") {
    return e.fail("reduction '{}' is not one of none, add, mul, max and min", how);
  }
  Tensor& out = e.out(0);
  copy_all(data, out);
  if (how == "none") {
    StopCheck<16 * 1024> stop;
    for (int64_t k = 0; k < runs && !stop(size_t(run) + 1); ++k) {
      const int64_t at = place(k);
      if (at < 0) return outside(e, k, runs);
      move_run(updates, k * run, out, at, run);
    }
    return {};
  }
  return with_class<kRealClasses>(e, data.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> old(data), now(updates);
    Writer<T> y(out);
    copy_numbers(old.data(), old.size(), y.data());
    for (int64_t k : turns(runs, size_t(run))) {
      const int64_t at = place(k);
      if (at < 0) return outside(e, k, runs);
      for (int64_t j : turns(run))
        y[size_t(at + j)] = combine(how, y[size_t(at + j)], now[size_t(k * run + j)]);
    }
    return {};
  });
}

}  // namespace sx::ops
