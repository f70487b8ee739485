// SPDX-License-Identifier: Apache-2.0
// DictVectorizer: the values of a map in the order of a vocabulary, [1, n]; zero or empty where there is no
// key.
#include "ops/engine/move.h"
#include "ops/ml/columns.h"

namespace sx::ops::dict_vectorizer {

static Status infer(Infer& i) {
  const Type& x = i.in(0);
  if (!x.inner) return {};
  const size_t n = x.key == DType::string ? texts_of(i.attrs(), "string_vocabulary").size()
                                          : i.integers("int64_vocabulary").size();
  i.set_tensor(0, x.inner->elem, Shape({1, int64_t(n)}));
  return {};
}

static Status eval(Eval& e) {
  if (e.value(0).kind != Value::Kind::map) return e.fail("X is a {}, not a map", kind_name(e.value(0).kind));
  const Map& map = *e.value(0).map;
  const std::vector<std::string>& texts = texts_of(e.attrs(), "string_vocabulary");
  const std::vector<int64_t> ints = e.integers("int64_vocabulary");
  const bool by_text = map.key_type == DType::string;
  const KeyTable table = by_text ? KeyTable(texts) : KeyTable(ints);
  const DType type = map.values.empty() ? DType::f32 : map.values[0].tensor.type();
  SX_ASSIGN(Tensor y, Tensor::zeros(type, {1, int64_t(by_text ? texts.size() : ints.size())}));
  for (size_t k : turns(map.values.size())) {
    const int64_t place = by_text ? table.find(map.string_keys[k]) : table.find(map.int_keys[k]);
    if (place >= 0) move_one(map.values[k].tensor, 0, y, place);
  }
  e.set(0, std::move(y));
  return {};
}

static TypeSet maps() {
  TypeSet s;
  s.maps = {{DType::string, DType::i64}, {DType::i64, DType::string}, {DType::i64, DType::f32},
            {DType::i64, DType::f64},    {DType::string, DType::f32}, {DType::string, DType::f64}};
  return s;
}

extern const Op op = {
    .name = "DictVectorizer",
    .domain = kMl,
    .in = {{"X", "T1"}},
    .out = {{"Y", "T2"}},
    .types = {{"T1", maps()}, {"T2", DTypeSet::of(DType::i64, DType::f32, DType::f64, DType::string)}},
    .attrs = {optional_attr("int64_vocabulary", AttrKind::integers),
              optional_attr("string_vocabulary", AttrKind::texts)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::dict_vectorizer
