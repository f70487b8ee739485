// SPDX-License-Identifier: Apache-2.0
// ExportedProvider: a provider of ours as the C tables of the plugin door.
#pragma once
#include <memory>
#include <string>

#include "runtime/abi.h"

namespace sx::abi {

class ExportedProvider {
 public:
  explicit ExportedProvider(std::unique_ptr<Provider> provider);
  const sx_provider& table() const { return table_; }

 private:
  std::unique_ptr<Provider> provider_;
  std::string name_;
  sx_memory memory_ = {};
  sx_provider table_ = {};
};

}  // namespace sx::abi
