// SPDX-License-Identifier: Apache-2.0
#include "ops/engine/walk.h"

namespace sx {

void Walk::simplify() {
  Dims merged;
  std::vector<Dims> steps(strides.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    bool joins = !merged.empty();
    for (size_t k = 0; joins && k < strides.size(); ++k) joins = steps[k].back() == strides[k][i] * dims[i];
    if (joins) {
      merged.back() *= dims[i];
      for (size_t k = 0; k < strides.size(); ++k) steps[k].back() = strides[k][i];
    } else {
      merged.push_back(dims[i]);
      for (size_t k = 0; k < strides.size(); ++k) steps[k].push_back(strides[k][i]);
    }
  }
  if (merged.empty()) {
    merged.push_back(1);
    for (Dims& s : steps) s.push_back(1);
  }
  dims = std::move(merged);
  strides = std::move(steps);
}

void Walk::step(Dims& at, std::vector<int64_t>& offsets) const {
  for (size_t i = dims.size() - 1; i-- > 0;) {
    for (size_t k = 0; k < strides.size(); ++k) offsets[k] += strides[k][i];
    if (++at[i] < dims[i]) return;
    at[i] = 0;
    for (size_t k = 0; k < strides.size(); ++k) offsets[k] -= strides[k][i] * dims[i];
  }
}

bool broadcast_strides(std::span<const int64_t> dims, std::span<const int64_t> out, Dims& strides) {
  if (dims.size() > out.size()) return false;
  strides = Dims(out.size(), 0);
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    const size_t at = i + out.size() - dims.size();
    if (dims[i] != 1 && dims[i] != out[at]) return false;
    if (dims[i] != 1) strides[at] = step;
    step *= dims[i];
  }
  return true;
}

}  // namespace sx
