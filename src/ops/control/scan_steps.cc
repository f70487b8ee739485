// SPDX-License-Identifier: Apache-2.0
#include "ops/control/scan_steps.h"

#include "base/cancel.h"
#include "ops/control/flow.h"

namespace sx::ops {

Status ScanSteps::run(const Eval& e) {
  const size_t n = states.size();
  std::vector<Value> args(n + inputs.size());
  for (int64_t step = 0; step < steps; ++step) {
    if (e.cancel) SX_TRY(e.cancel->check());
    for (size_t k = 0; k < n; ++k) args[k] = std::move(states[k]);
    for (size_t k = 0; k < inputs.size(); ++k) {
      SX_ASSIGN(Tensor slice, slice_at(inputs[k], axes[k], directions[k] ? steps - 1 - step : step));
      args[n + k] = std::move(slice);
    }
    SX_ASSIGN(std::vector<Value> found, e.run_body(body, args));
    if (found.size() < n + kept.size()) {
      return e.fail("the body gave {} outputs, expected {}", found.size(), n + kept.size());
    }
    for (size_t k = 0; k < n; ++k) states[k] = std::move(found[k]);
    for (size_t k = 0; k < kept.size(); ++k) kept[k].push_back(std::move(found[n + k].tensor));
  }
  return {};
}

Result<std::vector<int64_t>> one_each(const Attrs& attrs, std::string_view name, size_t n) {
  std::vector<int64_t> list = attrs.integers(name, std::vector<int64_t>(n, 0));
  if (list.size() != n) {
    return error(Code::invalid_model, "attribute {} has {} numbers, expected {}", name, list.size(), n);
  }
  return list;
}

Result<std::vector<int64_t>> reversals(const Attrs& attrs, std::string_view name, size_t n) {
  SX_ASSIGN(std::vector<int64_t> list, one_each(attrs, name, n));
  for (int64_t v : list) {
    if (v != 0 && v != 1) return error(Code::invalid_model, "attribute {} has {}, expected 0 or 1", name, v);
  }
  return list;
}

}  // namespace sx::ops
