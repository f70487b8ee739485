// SPDX-License-Identifier: Apache-2.0
// StringSplit: each string cut at a delimiter, or at white space; pieces along a new last axis, filled with
// empty strings, and how many each string has.
#include <algorithm>

#include "base/task.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/text/utf8.h"
#include "tensor/text_account.h"

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

// Both give f(number of the piece, piece) for each piece, and how many there are.
template <class F>
static size_t split_at_space(std::string_view text, int64_t most, StopCheck<>& stop, F f) {
  size_t pieces = 0;
  text.remove_prefix(leading_space(text));
  while (!text.empty() && !stop()) {
    size_t end = text.size();
    if (most < 0 || int64_t(pieces) < most) {
      end = 0;
      while (end < text.size() && leading_space(text.substr(end)) == 0 && !stop()) ++end;
    }
    f(pieces++, text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(leading_space(text));
  }
  return pieces;
}

template <class F>
static size_t split_at(std::string_view text, std::string_view delimiter, int64_t most, StopCheck<>& stop,
                       F f) {
  for (size_t pieces = 0;;) {
    const size_t end = most < 0 || int64_t(pieces) < most ? text.find(delimiter) : text.npos;
    f(pieces++, text.substr(0, end));
    if (end == text.npos || stop(end + 1)) return pieces;
    text.remove_prefix(end + delimiter.size());
  }
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const std::string delimiter = e.text("delimiter");
  const int64_t most = e.has_attr("maxsplit") ? e.integer("maxsplit") : -1;
  const std::span<const std::string> all = x.strings();
  StopCheck<> stop;
  const auto split = [&](const std::string& s, auto f) {
    return delimiter.empty() ? split_at_space(s, most, stop, f) : split_at(s, delimiter, most, stop, f);
  };
  SX_TRY(e.allocate(1, DType::i64, x.dims()));
  const std::span<int64_t> counts = e.out(1).mutable_as<int64_t>();
  size_t width = 0;
  for (size_t k = 0; k < all.size() && !stop(); ++k) {
    const size_t n = split(all[k], [](size_t, std::string_view) {});
    counts[k] = int64_t(n);
    width = std::max(width, n);
  }
  SX_TRY(check_stop());
  Dims dims = x.dims();
  dims.push_back(int64_t(width));
  SX_TRY(e.allocate(0, DType::string, dims));
  const std::span<std::string> pieces = e.out(0).mutable_strings();
  TextAccount texts(e.out(0));
  for (size_t k = 0; k < all.size() && !stop(); ++k) {
    split(all[k], [&](size_t at, std::string_view piece) {
      if (texts.take(piece.size())) pieces[k * width + at] = piece;
    });
  }
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
