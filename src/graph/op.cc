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

// The lowest and the highest element that a view touches, from where it starts; false where they do not fit.
bool extent(std::span<const int64_t> dims, std::span<const int64_t> strides, int64_t& low, int64_t& high) {
  low = high = 0;
  for (size_t k = 0; k < dims.size(); ++k) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(dims[k] - 1, strides[k], &reach)) return false;
    if (__builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) return false;
  }
  return true;
}

bool uses(const std::vector<Param>& params, std::string_view type) {
  return std::any_of(params.begin(), params.end(), [&](const Param& p) { return p.type == type; });
}

}  // namespace

bool make_view(const Op& op, const ViewArgs& args, size_t output, ViewMap& map) {
  if (!op.view || !op.view(args, output, map) || map.strides.size() != args.out_dims.size()) return false;
  auto empty = [](std::span<const int64_t> dims) {
    return std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d <= 0; });
  };
  if (empty(args.out_dims)) {
    map.offset = 0;
    return true;
  }
  int64_t low = 0, high = 0, first = 0, last = 0;
  if (empty(args.dims) || !extent(args.dims, args.strides, low, high)) return false;
  if (!extent(args.out_dims, map.strides, first, last)) return false;
  if (__builtin_add_overflow(first, map.offset, &first) || __builtin_add_overflow(last, map.offset, &last))
    return false;
  return first >= low && last <= high;
}

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
