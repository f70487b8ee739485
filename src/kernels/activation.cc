// SPDX-License-Identifier: Apache-2.0
// Picks the activation code of a vector level.
#include "kernels/activation.h"

#include <limits>

#include "kernels/dispatch.h"

SX_LEVELS(void activate(kernels::Activation kind, float low, float high, float* rows, size_t nrows,
                        size_t ncols, size_t stride))

namespace sx::kernels {

ActivateFn activate_rows() { return SX_PICK(activate); }

bool is_clip(const Epilogue& epilogue, float& low, float& high) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (epilogue.activation) {
    case Activation::relu: low = 0.0f, high = kInfinity; return true;
    case Activation::clip: low = epilogue.low, high = epilogue.high; return true;
    default: return false;
  }
}

}  // namespace sx::kernels
