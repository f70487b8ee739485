// SPDX-License-Identifier: Apache-2.0
// AbiProvider: a provider behind the C tables as one of ours.
#pragma once
#include <memory>
#include <string>

#include "runtime/abi.h"

namespace sx::abi {

// `library` keeps the table's code in memory. `owner` tells its own layouts from those of others.
Result<std::unique_ptr<Provider>> make_provider(const sx_provider* table, std::shared_ptr<const void> library,
                                                uint32_t owner);

}  // namespace sx::abi
