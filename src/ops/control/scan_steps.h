// SPDX-License-Identifier: Apache-2.0
// The steps of Scan: slices of the scan inputs go through the body with the states; what it makes is kept.
#pragma once
#include <vector>

#include "graph/eval.h"

namespace sx::ops {

struct ScanSteps {
  BodyId body = kNoBody;
  std::vector<Value> states;        // before the first step; after the last one when done
  std::vector<Tensor> inputs;       // sliced along `axes`
  std::vector<size_t> axes;         // of the inputs
  std::vector<int64_t> directions;  // of the inputs; 1: from the end
  int64_t steps = 0;
  std::vector<std::vector<Tensor>> kept;  // for each scan output, one tensor a step

  Status run(const Eval& e);
};

// Attribute `name` with one number for each of n things; 0 where it is absent.
Result<std::vector<int64_t>> one_each(const Attrs& attrs, std::string_view name, size_t n);
// The same where each number says whether to go from the end: 0 or 1.
Result<std::vector<int64_t>> reversals(const Attrs& attrs, std::string_view name, size_t n);

// How many states stand before the scan inputs; `in_front` inputs stand before them. For Infer, and again for
// Eval: inference lets a Scan pass that stands in a branch, because it may never run.
template <class Site>
Result<size_t> scan_states(const Site& site, size_t in_front) {
  const int64_t scans = site.integer("num_scan_inputs"), inputs = int64_t(site.inputs()) - int64_t(in_front);
  if (scans < 1 || scans > inputs)
    return site.fail("num_scan_inputs is {}, expected 1 to the {} inputs", scans, inputs);
  const size_t states = size_t(inputs - scans);
  if (site.outputs() < states) return site.fail("has {} outputs for {} states", site.outputs(), states);
  return states;
}

}  // namespace sx::ops
