// SPDX-License-Identifier: Apache-2.0
// StringSplit: each string cut at a delimiter, or at white space; pieces along a new last axis, filled with
// empty strings, and how many each string has.
#include <algorithm>

#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/text/utf8.h"

namespace sx::ops::string_split {

static Status infer(Infer& i) {
  if (i.rank_known(0)) {
    std::vector<Dim> dims = i.dims(0);
    dims.push_back(i.fresh("pieces"));
    i.set_tensor(0, DType::string, Shape(std::move(dims)));
  } else {
    i.set_unknown_shape(0, DType::string);
  }
  i.set_tensor(1, DType::i64, i.in(0).shape);
  return {};
}

static std::vector<std::string> split_at_space(std::string_view text, int64_t most) {
  std::vector<std::string> pieces;
  text.remove_prefix(leading_space(text));
  while (!text.empty()) {
    size_t end = text.size();
    if (most < 0 || int64_t(pieces.size()) < most) {
      end = 0;
      while (end < text.size() && leading_space(text.substr(end)) == 0) ++end;
    }
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(leading_space(text));
  }
  return pieces;
}

static std::vector<std::string> split_at(std::string_view text, std::string_view delimiter, int64_t most) {
  std::vector<std::string> pieces;
  for (;;) {
    const size_t end = most < 0 || int64_t(pieces.size()) < most ? text.find(delimiter) : text.npos;
    pieces.emplace_back(text.substr(0, end));
    if (end == text.npos) return pieces;
    text.remove_prefix(end + delimiter.size());
  }
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const std::string delimiter = e.text("delimiter");
  const int64_t most = e.has_attr("maxsplit") ? e.integer("maxsplit") : -1;
  std::vector<std::vector<std::string>> all;
  size_t width = 0;
  for (const std::string& s : x.strings()) {
    all.push_back(delimiter.empty() ? split_at_space(s, most) : split_at(s, delimiter, most));
    width = std::max(width, all.back().size());
  }
  Dims dims = x.dims();
  dims.push_back(int64_t(width));
  std::vector<std::string> pieces(all.size() * width);
  std::vector<int64_t> counts;
  for (size_t k = 0; k < all.size(); ++k) {
    counts.push_back(int64_t(all[k].size()));
    std::move(all[k].begin(), all[k].end(), pieces.begin() + ptrdiff_t(k * width));
  }
  e.set(0, Tensor::of_strings(dims, std::move(pieces)));
  e.set(1, Tensor::of<int64_t>(DType::i64, x.dims(), counts));
  return {};
}

extern const Op op = {
    .name = "StringSplit",
    .in = {{"X", "T1"}},
    .out = {{"Y", "T2"}, {"Z", "T3"}},
    .types = {{"T1", kString}, {"T2", kString}, {"T3", DTypeSet::of(DType::i64)}},
    .attrs = {optional_attr("delimiter", AttrKind::text), optional_attr("maxsplit", AttrKind::integer)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 20}},
};

}  // namespace sx::ops::string_split
