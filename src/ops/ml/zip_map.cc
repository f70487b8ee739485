// SPDX-License-Identifier: Apache-2.0
// ZipMap: each row of scores as a map from class label to score.
#include "base/task.h"
#include "ops/ml/columns.h"

namespace sx::ops::zip_map {

static Status infer(Infer& i) {
  const bool text = !texts_of(i.attrs(), "classlabels_strings").empty();
  const Type score = Type::tensor(i.elem(0), Shape(std::vector<Dim>()));
  i.out(0) = Type::sequence(Type::map(text ? DType::string : DType::i64, score));
  return {};
}

static Status eval(Eval& e) {
  const Labels labels = Labels::of(e.attrs(), "classlabels_strings", "classlabels_int64s");
  const Tensor& x = e.in(0);
  const Columns m = columns_of(x);
  if (int64_t(labels.size()) != m.cols) return e.fail("{} labels for {} columns", labels.size(), m.cols);
  const size_t bytes = x.count() ? x.bytes() / size_t(x.count()) : 0;
  // Scores stay where they are: each is a scalar over the memory of X.
  const size_t start =
      x.count() ? size_t(static_cast<const char*>(x.data()) - static_cast<const char*>(x.buffer()->data()))
                : 0;
  std::vector<Value> rows;
  rows.reserve(size_t(m.rows));
  constexpr size_t kScore = 64;  // about as many short turns
  for (int64_t r : turns(m.rows, kScore * size_t(m.cols + 1))) {
    Map map;
    map.key_type = labels.type();
    map.int_keys = labels.texts.empty() ? labels.ints : std::vector<int64_t>();
    map.string_keys = labels.texts;
    map.values.reserve(size_t(m.cols));
    for (int64_t c : turns(m.cols, kScore)) {
      SX_ASSIGN(Tensor score, Tensor::over(x.buffer(), start + size_t(r * m.cols + c) * bytes, x.type(), {}));
      map.values.emplace_back(std::move(score));
    }
    rows.push_back(Value::of_map(std::move(map)));
  }
  e.set(0, Value::of_sequence(std::move(rows)));
  return {};
}

static TypeSet maps() {
  TypeSet s;
  s.maps = {{DType::string, DType::f32, true}, {DType::i64, DType::f32, true}};
  return s;
}

extern const Op op = {
    .name = "ZipMap",
    .domain = kMl,
    .in = {{"X", "tensor(float)"}},
    .out = {{"Z", "T"}},
    .types = {{"T", maps()}},
    .attrs = {optional_attr("classlabels_int64s", AttrKind::integers),
              optional_attr("classlabels_strings", AttrKind::texts)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::zip_map
