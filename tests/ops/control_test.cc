// SPDX-License-Identifier: Apache-2.0
// Control flow, sequences of maps and the text of models around them: If, Loop, Scan, SequenceMap, ZipMap and
// kin. Numbers are from numpy or onnxruntime; small ones are counted by hand.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "base/cancel.h"
#include "convert/convert.h"
#include "graph/builder.h"
#include "graph/evaluate.h"
#include "onnx/text.h"
#include "table.h"

using namespace sx;

namespace {

Result<Graph> graph_of(const std::string& text) {
  SX_ASSIGN(const auto model, onnx::parse_text(text));
  return to_graph(*model);
}

Value value(const char* text) {
  auto v = testing::parse_value(text);
  REQUIRE_MESSAGE(v.ok(), v.status().to_string());
  return *v;
}

Result<std::vector<Value>> run(const std::string& text, std::vector<const char*> inputs,
                               const EvaluateOptions& options = {}) {
  SX_ASSIGN(const Graph graph, graph_of(text));
  std::vector<Value> values;
  for (const char* t : inputs) values.push_back(value(t));
  return evaluate_graph(graph, values, options);
}

// A value as text, to compare whole.
std::string shown(const Value& v) {
  std::string s;
  if (v.kind == Value::Kind::sequence) {
    for (const Value& item : v.sequence->items) s += shown(item) + ";";
    return "(" + s + ")";
  }
  if (v.kind == Value::Kind::map) {
    for (size_t k = 0; k < v.map->values.size(); ++k) {
      s += (v.map->key_type == DType::string ? v.map->string_keys[k] : std::to_string(v.map->int_keys[k])) +
           ":" + shown(v.map->values[k]) + ",";
    }
    return "{" + s + "}";
  }
  if (v.kind == Value::Kind::optional) return v.optional ? "some " + shown(*v.optional) : "none";
  s = to_string(v.tensor.dims());
  for (int64_t k = 0; k < v.tensor.count(); ++k) {
    switch (v.tensor.type()) {
      case DType::f32: s += format(" {}", v.tensor.as<float>()[size_t(k)]); break;
      case DType::f64: s += format(" {}", v.tensor.as<double>()[size_t(k)]); break;
      case DType::i64: s += format(" {}", v.tensor.as<int64_t>()[size_t(k)]); break;
      case DType::string: s += " " + v.tensor.strings()[size_t(k)]; break;
      default: s += format(" {}", int(v.tensor.as<uint8_t>()[size_t(k)])); break;
    }
  }
  return s;
}

std::string result(const Result<std::vector<Value>>& values) {
  if (!values.ok()) return "error: " + values.status().to_string();
  std::string s;
  for (const Value& v : *values) s += (s.empty() ? "" : " | ") + shown(v);
  return s;
}

std::string type_of_output(const std::string& text, size_t k) {
  auto graph = graph_of(text);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  return to_string(graph->value(graph->main().outputs[k]).type);
}

const char* const kIf = R"(<ir_version: 8, opset_import: ["":17]>
g (bool c, float[N] x, float[M] z) => (float[K] y) {
  y = If (c) <
    then_branch = t () => (a) { a = Add(x, x) },
    else_branch = e () => (b) { b = Neg(z) }
  >
})";

const char* const kCount = R"(<ir_version: 8, opset_import: ["":17]>
g (int64 m, bool c, float a) => (float last, float[T] all) {
  last, all = Loop (m, c, a) <body = b (int64 i, bool go, float x) => (on, y, s) {
    three = Constant<value = int64 {3}>()
    on = Less(i, three)
    y = Add(x, x)
    s = Identity(x)
  }>
})";

}  // namespace

TEST_CASE("If runs one branch, and its type covers both") {
  CHECK(result(run(kIf, {"bool 1", "f32[2] 1 2", "f32[1] 5"})) == "[2] 2 4");
  CHECK(result(run(kIf, {"bool 0", "f32[2] 1 2", "f32[1] 5"})) == "[1] -5");
  CHECK(type_of_output(R"(<ir_version: 8, opset_import: ["":17]>
g (bool c, float[N,3] x, float[N,4] z) => (y) {
  y = If (c) <then_branch = t () => (a) { a = Neg(x) }, else_branch = e () => (b) { b = Neg(z) }>
})",
                       0)
            .starts_with("float32[N, "));
}

TEST_CASE("Loop counts, stops by its condition, and may not run at all") {
  CHECK(result(run(kCount, {"i64 2", "bool 1", "f32 1"})) == "[] 4 | [2] 1 2");
  CHECK(result(run(kCount, {"i64 100", "bool 1", "f32 1"})) == "[] 16 | [4] 1 2 4 8");
  CHECK(result(run(kCount, {"i64 0", "bool 1", "f32 1"})) == "[] 1 | [0]");
  CHECK(result(run(kCount, {"i64 5", "bool 0", "f32 1"})) == "[] 1 | [0]");
}

TEST_CASE("Loop without a count and without a condition ends by the body's condition") {
  const std::string text = R"(<ir_version: 8, opset_import: ["":17]>
g (float a) => (float last) {
  last = Loop ("", "", a) <body = b (int64 i, bool go, float x) => (on, y) {
    three = Constant<value = int64 {3}>()
    on = Less(i, three)
    y = Add(x, x)
  }>
})";
  CHECK(result(run(text, {"f32 1"})) == "[] 16");
}

TEST_CASE("a Loop that is cancelled or late ends at once") {
  const std::string text = R"(<ir_version: 8, opset_import: ["":17]>
g (float a) => (float last) {
  yes = Constant<value = bool {1}>()
  last = Loop ("", yes, a) <body = b (int64 i, bool go, float x) => (on, y) { on = Identity(go) y = Neg(x) }>
})";
  Cancel late;
  late.set_timeout(std::chrono::milliseconds(20));
  EvaluateOptions options;
  options.cancel = &late;
  auto r = run(text, {"f32 1"}, options);
  REQUIRE(!r.ok());
  CHECK(r.status().code() == Code::deadline);
  Cancel stopped;
  stopped.request();
  options.cancel = &stopped;
  r = run(text, {"f32 1"}, options);
  REQUIRE(!r.ok());
  CHECK(r.status().code() == Code::cancelled);
}

TEST_CASE("a sequence grows in a Loop and shares its tensors") {
  const std::string text = R"(<ir_version: 8, opset_import: ["":17]>
g (int64 n, float[M] x) => (kept, int64 count) {
  yes = Constant<value = bool {1}>()
  none = SequenceEmpty()
  kept = Loop (n, yes, none) <body = b (int64 i, bool go, seq(float[M]) s) => (on, more) {
    on = Identity(go)
    more = SequenceInsert(s, x)
  }>
  count = SequenceLength(kept)
})";
  auto r = run(text, {"i64 3", "f32[2] 1 2"});
  CHECK(result(r) == "([2] 1 2;[2] 1 2;[2] 1 2;) | [] 3");
  const auto& items = (*r)[0].sequence->items;
  CHECK(items[0].tensor.data() == items[2].tensor.data());
  CHECK(result(run(text, {"i64 0", "f32[2] 1 2"})) == "() | [] 0");
}

TEST_CASE("shapes that a Loop keeps are known, shapes that it changes are not") {
  const std::string head = R"(<ir_version: 8, opset_import: ["":17]>
g (int64 n, float[N,3] x) => (y) {
  yes = Constant<value = bool {1}>()
  y = Loop (n, yes, x) <body = b (int64 i, bool go, v) => (on, w) { on = Identity(go) )";
  CHECK(type_of_output(head + "w = Neg(v) }> }", 0) == "float32[N, 3]");
  const std::string grown = type_of_output(head + "w = Concat<axis = 0>(v, v) }> }", 0);
  CHECK(grown.starts_with("float32["));
  CHECK(grown.ends_with(", 3]"));
  CHECK(grown.find("N") == std::string::npos);
}

TEST_CASE("Scan walks along axes, backwards where asked") {
  const std::string text = R"(<ir_version: 8, opset_import: ["":17]>
g (float[2] s, float[2,K] x) => (last, all) {
  last, all = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [-1],
                    scan_output_directions = [1],
                    body = b (a, v) => (sum, copy) { sum = Add(a, v) copy = Identity(sum) }> (s, x)
})";
  // Sums of columns from the last to the first, then written from the last to the first again.
  CHECK(result(run(text, {"f32[2] 0 0", "f32[2,3] 1 2 3 / 10 20 30"})) == "[2] 6 60 | [2, 3] 6 5 3 60 50 30");
  CHECK(type_of_output(text, 1) == "float32[2, K]");
}

TEST_CASE("Scan of opset 8 has a batch axis and lengths") {
  const std::string text = R"(<ir_version: 3, opset_import: ["":8]>
g (int64[B] len, float[B,1] s, float[B,T,1] x) => (last, all) {
  last, all = Scan <num_scan_inputs = 1, body = b (float[1] a, float[1] v) => (float[1] sum, float[1] copy) {
    sum = Add(a, v) copy = Identity(sum) }> (len, s, x)
})";
  CHECK(result(run(text, {"i64[2] 3 1", "f32[2,1] 0 100", "f32[2,3,1] 1 2 3 / 4 5 6"})) ==
        "[2, 1] 6 104 | [2, 3, 1] 1 3 6 104 0 0");
}

TEST_CASE("SequenceMap runs its body on each element") {
  const std::string text = R"(<ir_version: 8, opset_import: ["":17]>
g (seq(float[N]) s, float[1] k) => (y) {
  y = SequenceMap (s, k) <body = b (float[N] v, float[1] f) => (w) { w = Mul(v, f) }>
})";
  CHECK(result(run(text, {"seq(f32[2] 1 2; f32[1] 3)", "f32[1] 10"})) == "([2] 10 20;[1] 30;)");
}

TEST_CASE("bodies see values around them, two levels up too") {
  const std::string text = R"(<ir_version: 8, opset_import: ["":17]>
g (int64 n, float a, float step) => (float y) {
  yes = Constant<value = bool {1}>()
  y = Loop (n, yes, a) <body = b (int64 i, bool go, float x) => (on, z) {
    on = Identity(go)
    two = Constant<value = int64 {2}>()
    zero = Constant<value = int64 {0}>()
    rest = Mod(i, two)
    even = Equal(rest, zero)
    z = If (even) <then_branch = t () => (p) { p = Add(x, step) }, else_branch = e () => (q) { q = Mul(x, step) }>
  }>
})";
  CHECK(result(run(text, {"i64 4", "f32 1", "f32 3"})) == "[] 45");  // ((1 + 3)·3 + 3)·3
}

TEST_CASE("maps: ZipMap, DictVectorizer, CastMap") {
  const std::string zip = R"(<ir_version: 8, opset_import: ["":17, "ai.onnx.ml":3]>
g (float[N,2] x) => (z) { z = ai.onnx.ml.ZipMap <classlabels_strings = ["no", "yes"]> (x) })";
  CHECK(result(run(zip, {"f32[2,2] 0.25 0.75 / 1 0"})) == "({no:[] 0.25,yes:[] 0.75,};{no:[] 1,yes:[] 0,};)");
  CHECK(result(run(zip, {"f32[1,3] 1 2 3"})).find("2 labels for 3 columns") != std::string::npos);

  Map map;
  map.int_keys = {3, 1};
  map.values = {Value(Tensor::scalar_f32(1.25f)), Value(Tensor::scalar_f32(-2.75f))};
  const Value in[] = {Value::of_map(map)};
  const bool wanted[] = {true};
  auto cast = [&](Attrs attrs) {
    return result(evaluate_op(*find_op("ai.onnx.ml", "CastMap"), attrs, in, wanted, {}));
  };
  // from: onnxruntime
  CHECK(cast({}) == "[1, 2] -2.75 1.25");
  CHECK(cast({{"map_form", std::string("SPARSE")}, {"max_map", int64_t(4)}}) == "[1, 4] 0 -2.75 0 1.25");
  CHECK(cast({{"cast_to", std::string("TO_INT64")}}) == "[1, 2] -2 1");
  CHECK(cast({{"cast_to", std::string("TO_STRING")}}) == "[1, 2] -2.750000 1.250000");
  const Attrs words = {{"int64_vocabulary", std::vector<int64_t>{1, 2, 3}}};
  CHECK(result(evaluate_op(*find_op("ai.onnx.ml", "DictVectorizer"), words, in, wanted, {})) ==
        "[1, 3] -2.75 0 1.25");
}
