// SPDX-License-Identifier: Apache-2.0
// OneHotEncoder: each element becomes a row with a 1 at its category. An unknown one gives zeros, or an
// error.
#include "ops/ml/columns.h"

namespace sx::ops::one_hot_encoder {

static Status infer(Infer& i) {
  const size_t texts = texts_of(i.attrs(), "cats_strings").size(), ints = i.integers("cats_int64s").size();
  if ((texts == 0) == (ints == 0))
    return i.fail("needs cats_strings or cats_int64s, has {} and {} categories", texts, ints);
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, DType::f32);
    return {};
  }
  std::vector<Dim> dims = i.dims(0);
  dims.push_back(int64_t(texts + ints));
  i.set_tensor(0, DType::f32, Shape(std::move(dims)));
  return {};
}

static Status eval(Eval& e) {
  const std::vector<std::string>& texts = texts_of(e.attrs(), "cats_strings");
  const std::vector<int64_t> ints = e.integers("cats_int64s");
  const bool by_text = e.in(0).type() == DType::string;
  const size_t n = texts.size() + ints.size();
  // Of equal categories the last one counts: the table has them from the end.
  const KeyTable table = by_text ? KeyTable(std::vector<std::string>(texts.rbegin(), texts.rend()))
                                 : KeyTable(std::vector<int64_t>(ints.rbegin(), ints.rend()));
  SX_ASSIGN(const Workspace<int64_t> places, table.find_all(e.in(0)));
  Writer<double> y(e.out(0));
  y.fill(0);
  for (size_t k : turns(places.size())) {
    if (places[k] >= 0) {
      y[k * n + n - 1 - size_t(places[k])] = 1;
    } else if (!e.integer("zeros")) {
      return by_text ? e.fail("'{}' is not one of the categories, and zeros is 0", e.in(0).strings()[k])
                     : e.fail("{} is not one of the categories, and zeros is 0",
                              number_at<int64_t>(e.in(0), int64_t(k)));
    }
  }
  return {};
}

extern const Op op = {
    .name = "OneHotEncoder",
    .domain = kMl,
    .in = {{"X", "T"}},
    .out = {{"Y", "tensor(float)"}},
    .types = {{"T", kMlNumbers | kString}},
    .attrs = {optional_attr("cats_int64s", AttrKind::integers),
              optional_attr("cats_strings", AttrKind::texts), attr_int("zeros", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::one_hot_encoder
