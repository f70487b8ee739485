// SPDX-License-Identifier: Apache-2.0
// What a session and a run can be asked for.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/memory_budget.h"

namespace sx {

class WeightStore;

struct SessionOptions {
  unsigned threads = 0;                               // 0: as many as this process may use
  bool rules = true;                                  // graph optimisation
  std::vector<std::string> providers;                 // names, best first; empty: all that are linked in
  std::vector<std::string> plugins;                   // shared libraries that add providers, tried first
  std::vector<std::pair<std::string, int64_t>> dims;  // symbols fixed ahead
  std::vector<std::string> taps;                      // values that become outputs
  LoadMode load = LoadMode::map;
  bool allow_newer = false;   // models of an opset or IR version that this build does not know, or of none
  bool strict_names = false;  // dimensions of one name must be of one size; else such a name says nothing
  size_t most_plans = 16;     // sets of dims kept ready
  bool profile = false;
  Log log;
  std::shared_ptr<WeightStore> weights;  // share packed weights with other sessions
  size_t memory_limit = 0;               // bytes that the session may hold; 0: what the machine has
  std::shared_ptr<MemoryBudget> memory;  // an account shared with other sessions, with its own limit
  const Cancel* cancel = nullptr;        // stops the loading
};

// The account of a session with these options.
std::shared_ptr<MemoryBudget> budget_of(const SessionOptions& options);

struct RunOptions {
  const Cancel* cancel = nullptr;
  size_t memory_limit = 0;  // bytes that the session may hold while this run asks for more; 0: the session's
};

}  // namespace sx
