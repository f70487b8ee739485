// SPDX-License-Identifier: Apache-2.0
// Range: start, start + delta, … below limit.
#include <cmath>

#include "base/task.h"
#include "ops/common/checks.h"
#include "ops/engine/wrap.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::range {

static Result<int64_t> count_of(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  if (dtype_is_integer(start.type())) {
    const int64_t from = number_at<int64_t>(start), to = number_at<int64_t>(limit),
                  by = number_at<int64_t>(delta);
    if (by == 0) return error(Code::invalid_argument, "delta is 0");
    if (by > 0 ? to <= from : to >= from) return int64_t(0);
    const uint64_t span = by > 0 ? uint64_t(to) - uint64_t(from) : uint64_t(from) - uint64_t(to);
    const uint64_t pace = by > 0 ? uint64_t(by) : 0 - uint64_t(by);
    const uint64_t last = (span - 1) / pace;
    if (last >= uint64_t(INT64_MAX))
      return error(Code::invalid_argument, "{} to {} by {} has too many elements", from, to, by);
    return int64_t(last + 1);
  }
  const double from = number_at<double>(start), to = number_at<double>(limit), by = number_at<double>(delta);
  const double n = std::ceil((to - from) / by);
  if (!(std::abs(n) < 0x1p62))
    return error(Code::invalid_argument, "{} to {} by {} is no range", from, to, by);
  return int64_t(std::max(n, 0.0));
}

static Status infer(Infer& i) {
  constexpr std::string_view kNames[] = {"start", "limit", "delta"};
  for (size_t k = 0; k < 3; ++k) SX_TRY(require_one(i, k, kNames[k]));
  const Tensor *start = i.constant(0), *limit = i.constant(1), *delta = i.constant(2);
  if (start && limit && delta) {
    SX_ASSIGN(const int64_t n, count_of(*start, *limit, *delta));
    i.set_tensor(0, i.elem(0), Shape({Dim(n)}));
  } else {
    const auto *from = i.elements(0), *to = i.elements(1), *by = i.elements(2);
    const bool known = from && to && by && from->size() == 1 && to->size() == 1 && by->size() == 1 &&
                       (*by)[0].is_constant() && (*by)[0].constant() != 0;
    if (!known) {
      i.set_ranked(0, i.elem(0), 1);
      return {};
    }
    const int64_t step = (*by)[0].constant();
    const Dim span = step > 0 ? (*to)[0] - (*from)[0] : (*from)[0] - (*to)[0];
    i.set_tensor(0, i.elem(0), Shape({max(ceildiv(span, step > 0 ? Dim(step) : Dim(-1) * step), 0)}));
  }
  const auto *from = i.elements(0), *by = i.elements(2);
  const Dim n = i.out(0).shape.dims[0];
  if (!from || !by || from->size() != 1 || by->size() != 1 || !n.is_constant() || n.constant() > 64)
    return {};
  std::vector<Dim> out;
  for (int64_t k = 0; k < n.constant(); ++k) out.push_back((*from)[0] + (*by)[0] * k);
  i.set_elements(0, std::move(out));
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(const int64_t n, count_of(e.in(0), e.in(1), e.in(2)));
  SX_TRY(e.allocate(0, e.in(0).type(), Dims{n}));
  return with_class<kRealClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const T start = number_at<T>(e.in(0)), delta = number_at<T>(e.in(2));
    Writer<T> y(e.out(0));
    StopCheck<> stop;
    for (int64_t k = 0; k < n && !stop(); ++k) y[size_t(k)] = wrap_add(start, wrap_mul(T(k), delta));
    return {};
  });
}

inline constexpr DTypeSet kOldTypes =
    DTypeSet::of(DType::f32, DType::f64, DType::i16, DType::i32, DType::i64);

extern const Op op = {
    .name = "Range",
    .in = {{"start", "T"}, {"limit", "T"}, {"delta", "T"}},
    .out = {{"output", "T"}},
    .types = {{"T", kOldTypes | kFloats}},
    .attrs = {attr_int("stash_type", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 27}, {.since = 11, .types = {{"T", kOldTypes}}, .attrs = std::vector<AttrDef>()}},
};

}  // namespace sx::ops::range
