// SPDX-License-Identifier: Apache-2.0
// Values as a person likes to see them: a few elements, not a flood.
#pragma once
#include <string>

#include "tensor/value.h"

namespace sx::tools {

std::string preview(const Value& value, size_t most = 8);  // "0.12 0.98 … (1000)"

}  // namespace sx::tools
