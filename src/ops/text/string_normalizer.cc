// SPDX-License-Identifier: Apache-2.0
// StringNormalizer: strings that are stop words are left out, the others change case. Of nothing one empty
// string remains. Case follows Unicode, whatever the locale.
#include <unordered_set>

#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/text/utf8.h"

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
  std::vector<std::string> kept;
  for (const std::string& s : x.strings()) {
    if (!stop.empty() && stop.count(exact ? s : lower_case(s))) continue;
    kept.push_back(action == "LOWER" ? lower_case(s) : action == "UPPER" ? upper_case(s) : s);
  }
  if (kept.empty()) kept.emplace_back();
  const int64_t n = int64_t(kept.size());
  e.set(0, Tensor::of_strings(x.rank() == 1 ? Dims{n} : Dims{1, n}, std::move(kept)));
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
