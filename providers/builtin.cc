// SPDX-License-Identifier: Apache-2.0
#include "providers.h"

namespace sx {

std::vector<std::unique_ptr<Provider>> builtin_providers() {
  std::vector<std::unique_ptr<Provider>> list;
  list.push_back(cpu::make());
  list.push_back(reference::make());
  return list;
}

}  // namespace sx
