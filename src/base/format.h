// SPDX-License-Identifier: Apache-2.0
// format(): text from values, and error(): a Status with a formatted message.
#pragma once
#include <fmt/core.h>

#include <string>

#include "base/result.h"

namespace sx {

template <class... Args>
std::string format(fmt::format_string<Args...> text, Args&&... args) {
  return fmt::vformat(text, fmt::make_format_args(args...));
}

template <class... Args>
Status error(Code code, fmt::format_string<Args...> text, Args&&... args) {
  return Status(code, fmt::vformat(text, fmt::make_format_args(args...)));
}

}  // namespace sx
