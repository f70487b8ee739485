// SPDX-License-Identifier: Apache-2.0
// Text from a model, made fit to be shown: control characters and bytes that are not UTF-8 are escaped.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace sx::onnx {

// Length of the well-formed UTF-8 sequence at `i` that is safe to show, or 0.
size_t shown_sequence(std::string_view text, size_t i);
std::string escaped(std::string_view text);                     // a\nb, \x80
std::string quoted(std::string_view text, size_t limit = 120);  // 'a\nb', cut with … after `limit` bytes
// An error without its advice: lines of our own making stay lines, everything else that a terminal could obey
// is escaped.
std::string shown(const Status& status);

}  // namespace sx::onnx
