// SPDX-License-Identifier: Apache-2.0
// Providers that live in shared libraries and speak the C tables of include/sardonyx/plugin.h.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/provider.h"

namespace sx {

// Opens the library, checks the version of its tables and adapts each provider in it. The library stays open.
Result<std::vector<std::unique_ptr<Provider>>> load_plugin(const std::string& path);

}  // namespace sx
