// SPDX-License-Identifier: Apache-2.0
// StringNormalizer: strings that are stop words are left out, the others change case. Of nothing one empty
// string remains. Case follows Unicode, whatever the locale.
#include <algorithm>
#include <unordered_set>

#include "base/workspace.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/text/utf8.h"
#include "tensor/text_account.h"

namespace sx::ops::string_normalizer {

static Status infer(Infer& i) {
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, DType::string);
    return {};
  }
  if (i.rank(0) != 1 && i.rank(0) != 2) return i.fail("X must be [C] or [1, C], found rank {}", i.rank(0));
  const auto* stop = i.attrs().get<std::vector<std::string>>("stopwords");
  std::vector<Dim> dims = i.dims(0);
  if ((stop && !stop->empty()) || !always_positive(dims.back())) dims.back() = i.fresh("kept");
  i.set_tensor(0, DType::string, Shape(std::move(dims)));
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const std::string action = e.text("case_change_action");
  if (action != "NONE" && action != "LOWER" && action != "UPPER") {
    return e.fail("case_change_action '{}' is not NONE, LOWER or UPPER", action);
  }
  if (x.rank() != 1 && !(x.rank() == 2 && x.dims()[0] == 1)) {
    return e.fail("X must be [C] or [1, C], found {}", to_string(x.dims()));
  }
  const bool exact = e.integer("is_case_sensitive") != 0;
  std::unordered_set<std::string> stop;
  for (const std::string& word : e.texts("stopwords")) stop.insert(exact ? word : lower_case(word));
  const std::span<const std::string> words = x.strings();
  Workspace<size_t> kept;
  kept.reserve(words.size());
  StopCheck<256 * 1024> letters;
  for (size_t k = 0; k < words.size() && !letters(words[k].size() + 64); ++k) {
    if (stop.empty() || !stop.count(exact ? words[k] : lower_case(words[k]))) kept.push_back(k);
  }
  const int64_t n = std::max<int64_t>(int64_t(kept.size()), 1);
  SX_TRY(e.allocate(0, DType::string, x.rank() == 1 ? Dims{n} : Dims{1, n}));
  const std::span<std::string> y = e.out(0).mutable_strings();
  TextAccount texts(e.out(0));
  for (size_t k = 0; k < kept.size(); ++k) {
    const std::string& s = words[kept[k]];
    if (letters(s.size() + 64)) return {};
    std::string text = action == "LOWER" ? lower_case(s) : action == "UPPER" ? upper_case(s) : s;
    if (!texts.take(text.size())) return {};
    y[k] = std::move(text);
  }
  return {};
}

extern const Op op = {
    .name = "StringNormalizer",
    .in = {{"X", "tensor(string)"}},
    .out = {{"Y", "tensor(string)"}},
    .attrs = {attr_text("case_change_action", "NONE"), attr_int("is_case_sensitive", 0),
              optional_attr("locale", AttrKind::text), optional_attr("stopwords", AttrKind::texts)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 10}},
};

}  // namespace sx::ops::string_normalizer
