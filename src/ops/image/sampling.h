// SPDX-License-Identifier: Apache-2.0
// Sampling at positions between the elements: what GridSample does outside the image, and bilinear samples of
// a plane.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace sx::ops {

enum class Outside : uint8_t { zeros, border, reflection };
Result<Outside> outside_named(std::string_view name);

// One axis of an image that is sampled at normalised positions, -1 to 1.
struct SampleAxis {
  int64_t size = 1;
  bool align_corners = false;
  Outside outside = Outside::zeros;

  double position(double normalised) const;  // in elements
  double inside(double position) const;      // moved into the image where `outside` says so
  int64_t element(int64_t index) const;      // -1: zero
 private:
  double reflected(double x) const;
};

// The four neighbours of a point in a plane [height, width], with their weights; none where it is too far
// outside.
struct Bilinear {
  int64_t at[4] = {0, 0, 0, 0};
  double weight[4] = {0, 0, 0, 0};
  static Bilinear of(int64_t height, int64_t width, double y, double x);
};

}  // namespace sx::ops
