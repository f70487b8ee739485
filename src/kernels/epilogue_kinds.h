// SPDX-License-Identifier: Apache-2.0
// The activations that an epilogue can apply, and their parameters.
#pragma once
#include <cstdint>

namespace sx::kernels {

// With the parameters low and high of Epilogue: clip to [low, high], leaky_relu of slope low, elu of scale
// low, hard_sigmoid max(0, min(1, low * x + high)). hard_swish is x * hard_sigmoid(x; 1/6, 1/2).
enum class Activation : uint8_t {
  none,
  relu,
  clip,
  leaky_relu,
  sigmoid,
  tanh,
  silu,
  hard_sigmoid,
  hard_swish,
  gelu,
  gelu_tanh,
  elu,
  softplus,
  mish,
};

}  // namespace sx::kernels
