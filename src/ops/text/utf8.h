// SPDX-License-Identifier: Apache-2.0
// The little of Unicode that the text operators need. Bytes that are no UTF-8 pass through unchanged.
#pragma once
#include <string>
#include <string_view>

namespace sx::ops {

std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);
// The length in bytes of the white space that `text` starts with; 0 if it starts with something else.
size_t leading_space(std::string_view text);

}  // namespace sx::ops
