// SPDX-License-Identifier: Apache-2.0
#include "graph/op.h"

#include <algorithm>

namespace sx {
namespace {

void merge_types(std::vector<TypeVar>& types, const std::vector<TypeVar>& changed) {
  for (const TypeVar& c : changed) {
    auto it = std::find_if(types.begin(), types.end(), [&](const TypeVar& t) { return t.name == c.name; });
    if (it == types.end())
      types.push_back(c);
    else
      it->types = c.types;
  }
}

bool uses(const std::vector<Param>& params, std::string_view type) {
  return std::any_of(params.begin(), params.end(), [&](const Param& p) { return p.type == type; });
}

}  // namespace

OpVersion version_of(const Op& op, size_t history_index) {
  OpVersion v{op.since(), op.in, op.out, op.types, op.attrs, false};
  for (size_t i = 0; i <= history_index && i < op.history.size(); ++i) {
    const Version& h = op.history[i];
    v.since = h.since;
    v.removed = h.removed;
    if (h.in) v.in = *h.in;
    if (h.out) v.out = *h.out;
    if (h.attrs) v.attrs = *h.attrs;
    merge_types(v.types, h.types);
  }
  std::erase_if(v.types, [&](const TypeVar& t) { return !uses(v.in, t.name) && !uses(v.out, t.name); });
  return v;
}

int history_at(const Op& op, int opset) {
  if (op.history.empty()) return opset >= 1 ? 0 : -1;
  for (size_t i = 0; i < op.history.size(); ++i) {
    if (op.history[i].since <= opset) return int(i);
  }
  return -1;
}

}  // namespace sx
