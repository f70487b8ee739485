// SPDX-License-Identifier: Apache-2.0
// SHA-1, which the format uses as a checksum of external data files. Not for security. Internal to src/onnx.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace sx::onnx {

std::string sha1_hex(std::span<const uint8_t> bytes);

}  // namespace sx::onnx
