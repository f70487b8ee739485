// SPDX-License-Identifier: Apache-2.0
// Providers that live in shared libraries and speak the C tables of include/sardonyx/plugin.h.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/provider.h"

namespace sx {

// Opens the library, checks its tables and adapts each provider in it; it stays open as long as one of them
// lives. `number` tells the plugins of one session apart, and with them the layouts that only they know.
Result<std::vector<std::unique_ptr<Provider>>> load_plugin(const std::string& path, uint32_t number = 0);

}  // namespace sx
