// SPDX-License-Identifier: Apache-2.0
// Recognises files that are certainly something else than an ONNX model, to say so. Internal to src/onnx.
#pragma once
#include <cstdint>
#include <span>

#include "base/result.h"

namespace sx::onnx {

Status refuse_other_format(std::span<const uint8_t> bytes);

}  // namespace sx::onnx
