// SPDX-License-Identifier: Apache-2.0
// CastMap: the values of a map with integer keys as a tensor [1, n], in the order of the keys; SPARSE puts
// each at the place that its key names, up to max_map.
#include <algorithm>
#include <charconv>

#include "ops/engine/move.h"
#include "ops/ml/columns.h"

namespace sx::ops::cast_map {

static DType target(const std::string& cast_to) {
  return cast_to == "TO_STRING" ? DType::string : cast_to == "TO_INT64" ? DType::i64 : DType::f32;
}

static Status infer(Infer& i) {
  const Dim size = i.text("map_form") == "SPARSE" ? Dim(i.integer("max_map")) : i.fresh("keys");
  i.set_tensor(0, target(i.text("cast_to")), Shape({1, size}));
  return {};
}

static Status put(Eval& e, const Value& from, int64_t at) {
  Tensor& y = e.out(0);
  const Tensor& v = from.tensor;
  if (v.type() != DType::string && y.type() != DType::string) {
    const double number = number_at<double>(v);
    encode<double>(&number, 1, y.type(), y.mutable_data(), at, 1);
  } else if (v.type() != DType::string) {
    y.mutable_strings()[size_t(at)] = format("{:f}", number_at<double>(v));
  } else if (y.type() == DType::string) {
    y.mutable_strings()[size_t(at)] = v.strings()[0];
  } else {
    const std::string& text = v.strings()[0];
    double number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc()) return e.fail("'{}' is not a number", text);
    encode<double>(&number, 1, y.type(), y.mutable_data(), at, 1);
  }
  return {};
}

static Status eval(Eval& e) {
  if (e.value(0).kind != Value::Kind::map) return e.fail("X is a {}, not a map", kind_name(e.value(0).kind));
  const Map& map = *e.value(0).map;
  const bool sparse = e.text("map_form") == "SPARSE";
  const size_t n = sparse ? size_t(std::max<int64_t>(e.integer("max_map"), 0)) : map.values.size();
  SX_TRY(e.allocate(0, target(e.text("cast_to")), {1, int64_t(n)}));
  if (e.out(0).type() == DType::string) {
    // What onnxruntime writes where there is no key.
    for (std::string& s : stoppable(e.out(0).mutable_strings())) s = "0.f";
  } else {
    SX_ASSIGN(const Tensor zero, Tensor::zeros(e.out(0).type(), {}));
    fill(e.out(0), zero);
  }
  Workspace<size_t> order(map.values.size());
  StopCheck<> stop;
  for (size_t k = 0; k < order.size(); ++k) {
    stop.leave();
    order[k] = k;
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    stop.leave();
    return map.int_keys[a] < map.int_keys[b];
  });
  for (size_t k : turns(order.size())) {
    const int64_t key = map.int_keys[order[k]];
    if (sparse && key < 0) return e.fail("key {} is negative", key);
    const size_t at = sparse ? size_t(key) : k;
    if (at < n) SX_TRY(put(e, map.values[order[k]], int64_t(at)));
  }
  return {};
}

static TypeSet maps() {
  TypeSet s;
  s.maps = {{DType::i64, DType::string}, {DType::i64, DType::f32}};
  return s;
}

extern const Op op = {
    .name = "CastMap",
    .domain = kMl,
    .in = {{"X", "T1"}},
    .out = {{"Y", "T2"}},
    .types = {{"T1", maps()}, {"T2", kLabels | kF32}},
    .attrs = {attr_text("cast_to", "TO_FLOAT"), attr_text("map_form", "DENSE"), attr_int("max_map", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 1}},
};

}  // namespace sx::ops::cast_map
