// SPDX-License-Identifier: Apache-2.0
// The flags that every verb which runs a model shares.
#pragma once
#include <string>
#include <vector>

#include "command.h"
#include "inputs.h"
#include "runtime/session.h"

namespace sx::tools {

struct SessionFlags {
  std::string model;
  std::vector<std::string> providers, plugins, dims;
  std::string isa, memory;
  bool no_rules = false, allow_newer = false, strict_names = false;

  void add(Options& o, bool with_model = true);
  Result<SessionOptions> options(const Common& common) const;
  Result<std::unique_ptr<Session>> load(const SessionOptions& options, Terminal& out) const;
};

struct InputFlags {
  InputSource source;

  void add(Options& o);
};

}  // namespace sx::tools
