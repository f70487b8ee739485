// SPDX-License-Identifier: Apache-2.0
// The providers that are linked in. builtin.cc lists them for the runtime.
#pragma once
#include <memory>

#include "runtime/provider.h"

namespace sx::reference {
std::unique_ptr<Provider> make();
}
namespace sx::cpu {
std::unique_ptr<Provider> make();
}
