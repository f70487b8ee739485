// SPDX-License-Identifier: Apache-2.0
#include "ops/common/quant.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "ops/engine/codec.h"

namespace sx::ops {

Result<ScaleMap> ScaleMap::of(std::span<const int64_t> x, std::span<const int64_t> scale, int64_t axis,
                              int64_t block) {
  ScaleMap m;
  if (product(scale) == 1) return m;
  const int64_t rank = int64_t(x.size()), k = axis < 0 ? axis + rank : axis;
  const auto wrong = [&](std::string_view expected) {
    return error(Code::invalid_argument, "scale {} does not fit the input {} at axis {}: {}",
                 to_string(scale), to_string(x), axis, expected);
  };
  if (k < 0 || k >= rank) return wrong("no such axis");
  m.one_ = false;
  m.size_ = x[size_t(k)];
  m.inner_ = std::max<int64_t>(1, product(x.subspan(size_t(k) + 1)));
  if (block <= 0) {
    if (scale.size() != 1 || scale[0] != m.size_) return wrong("a vector as long as the axis is expected");
    return m;
  }
  Dims expected(x);
  expected[size_t(k)] = m.size_ == 0 ? 0 : (m.size_ - 1) / block + 1;
  if (Dims(scale) != expected) return wrong(format("blocks of {} make {}", block, to_string(expected)));
  m.block_ = block;
  m.blocks_ = expected[size_t(k)];
  return m;
}

Result<Spread> along_axis(const Tensor& parameter, const Tensor& t, size_t axis) {
  Dims dims(parameter.dims());
  if (parameter.count() == 1) {
    dims.clear();
  } else if (dims.size() == 1 && axis < t.rank()) {
    dims.resize(t.rank() - axis, 1);
  }
  bool fits = dims.size() <= t.rank();
  for (size_t k = 0; fits && k < dims.size(); ++k) {
    fits = dims[k] == 1 || dims[k] == t.dims()[t.rank() - dims.size() + k];
  }
  if (!fits) {
    return error(Code::invalid_argument, "a scale or zero point {} does not fit the tensor {}",
                 to_string(parameter.dims()), to_string(t.dims()));
  }
  return Spread(dims, t.dims());
}

Result<Workspace<int32_t>> centred(const Tensor& t, const Tensor* zero_point, size_t axis) {
  const Reader<int64_t> x(t);
  Workspace<int32_t> y(x.size());
  for (size_t k : turns(x.size())) y[k] = int32_t(x[k]);
  SX_TRY(check_stop());
  if (!zero_point) return y;
  SX_ASSIGN(const Spread at, along_axis(*zero_point, t, axis));
  const Reader<int64_t> zero(*zero_point);
  for (size_t k : turns(y.size())) y[k] -= int32_t(zero[size_t(at.at(int64_t(k)))]);
  return y;
}

double quantised(double x, double zero, DType type) {
  const double steps = std::ldexp(1.0, dtype_bits(type));
  const double low = dtype_is_signed(type) ? -steps / 2 : 0, high = low + steps - 1;
  const double y = std::nearbyint(x) + zero;
  return y != y ? zero : std::clamp(y, low, high);
}

}  // namespace sx::ops
