// SPDX-License-Identifier: Apache-2.0
#include "ops/image/sampling.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace sx::ops {

Result<Outside> outside_named(std::string_view name) {
  if (name == "zeros") return Outside::zeros;
  if (name == "border") return Outside::border;
  if (name == "reflection") return Outside::reflection;
  return error(Code::invalid_model, "padding_mode '{}' is not zeros, border or reflection", name);
}

double SampleAxis::position(double normalised) const {
  return align_corners ? (normalised + 1) / 2 * double(size - 1) : ((normalised + 1) * double(size) - 1) / 2;
}

double SampleAxis::reflected(double x) const {
  const double low = align_corners ? 0 : -0.5, high = align_corners ? double(size - 1) : double(size) - 0.5;
  const double range = high - low;
  if (!(x < low || x > high)) return x;
  if (range <= 0 || !std::isfinite(x)) return low;
  const double far = x < low ? low - x : x - high;
  const double turns = std::floor(far / range), rest = far - turns * range;
  const bool from_low = (x < low) == (std::fmod(turns, 2) == 0);
  return from_low ? low + rest : high - rest;
}

double SampleAxis::inside(double position) const {
  if (outside == Outside::border) return std::clamp(position, 0.0, double(size - 1));
  return outside == Outside::reflection ? reflected(position) : position;
}

int64_t SampleAxis::element(int64_t index) const {
  if (index >= 0 && index < size) return index;
  if (outside == Outside::zeros || size == 0) return -1;
  if (outside == Outside::border) return std::clamp<int64_t>(index, 0, size - 1);
  return std::clamp<int64_t>(int64_t(reflected(double(index))), 0, size - 1);
}

Bilinear Bilinear::of(int64_t height, int64_t width, double y, double x) {
  Bilinear b;
  if (!(y >= -1 && y <= double(height) && x >= -1 && x <= double(width))) return b;
  y = std::max(y, 0.0);
  x = std::max(x, 0.0);
  int64_t top = int64_t(y), left = int64_t(x), bottom = top + 1, right = left + 1;
  if (top >= height - 1) y = double(top = bottom = height - 1);
  if (left >= width - 1) x = double(left = right = width - 1);
  const double fy = y - double(top), fx = x - double(left);
  const int64_t at[] = {top * width + left, top * width + right, bottom * width + left,
                        bottom * width + right};
  const double weight[] = {(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx};
  std::copy_n(at, 4, b.at);
  std::copy_n(weight, 4, b.weight);
  return b;
}

}  // namespace sx::ops
