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
  size_t most_plans = 16;  // sets of dims kept ready
  bool profile = false;
  Log log;
  std::shared_ptr<WeightStore> weights;  // share packed weights with other sessions
};

struct RunOptions {
  const Cancel* cancel = nullptr;
};

}  // namespace sx
