// SPDX-License-Identifier: Apache-2.0
// CategoryMapper: strings to the integers beside them, or integers to strings.
#include "ops/ml/columns.h"

namespace sx::ops::category_mapper {

static Status infer(Infer& i) {
  i.set_tensor(0, i.elem(0) == DType::string ? DType::i64 : DType::string, i.in(0).shape);
  return {};
}

static Status eval(Eval& e) {
  const std::vector<std::string>& texts = texts_of(e.attrs(), "cats_strings");
  const std::vector<int64_t> ints = e.integers("cats_int64s");
  if (texts.size() != ints.size()) return e.fail("{} strings for {} integers", texts.size(), ints.size());
  if (e.in(0).type() == DType::string) {
    SX_ASSIGN(const Workspace<int64_t> places, KeyTable(texts).find_all(e.in(0)));
    const auto y = e.out(0).mutable_as<int64_t>();
    const int64_t otherwise = e.integer("default_int64");
    for (size_t k : turns(places.size())) y[k] = places[k] < 0 ? otherwise : ints[size_t(places[k])];
  } else {
    SX_ASSIGN(const Workspace<int64_t> places, KeyTable(ints).find_all(e.in(0)));
    const auto y = e.out(0).mutable_strings();
    const std::string otherwise = e.text("default_string");
    for (size_t k : turns(places.size())) y[k] = places[k] < 0 ? otherwise : texts[size_t(places[k])];
  }
  return {};
}

extern const Op op = {
    .name = "CategoryMapper",
    .domain = kMl,
    .in = {{"X", "T1"}},
    .out = {{"Y", "T2"}},
    .types = {{"T1", kLabels}, {"T2", kLabels}},
    .attrs = {optional_attr("cats_int64s", AttrKind::integers),
              optional_attr("cats_strings", AttrKind::texts), attr_int("default_int64", -1),
              attr_text("default_string", "_Unused")},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::category_mapper
