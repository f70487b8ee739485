// SPDX-License-Identifier: Apache-2.0
// Models to graphs: what is refused and how it is said, functions, old versions, and the way back.
#include "convert/convert.h"

#include <doctest/doctest.h>

#include <string>

#include "base/format.h"
#include "graph/evaluate.h"
#include "onnx/text.h"

using namespace sx;

namespace {

Result<Graph> graph_of(std::string_view text, ConvertOptions options = {}) {
  SX_ASSIGN(auto model, onnx::parse_text(text));
  return to_graph(*model, options);
}

std::string refusal(std::string_view text, ConvertOptions options = {}) {
  auto g = graph_of(text, options);
  return g.ok() ? "accepted" : g.status().to_string();
}

void check_says(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  }
}

std::vector<float> run(const Graph& g, std::vector<float> x) {
  const Tensor t = Tensor::of<float>(DType::f32, {int64_t(x.size())}, x);
  auto y = evaluate_graph(g, std::vector<Value>{Value(t)}, {});
  INFO((y.ok() ? "" : y.status().to_string()));
  REQUIRE(y.ok());
  const auto values = (*y)[0].tensor.as<float>();
  return {values.begin(), values.end()};
}

constexpr std::string_view kHead = "<ir_version: 8, opset_import: [\"\" : 17]>\n";
std::string model(std::string_view body) { return std::string(kHead) + std::string(body); }

}  // namespace

TEST_CASE("all unknown operators are named at once, with counts") {
  check_says(refusal(model("g (float[N] x) => (float[N] y) {\n"
                           "[one] a = Foo(x)\n[two] b = Bar(a)\n[three] c = Foo(b)\n[four] y = Baz(c)\n}")),
             {"3 problems", "Foo", "2 nodes", "'one', 'three'", "Bar", "'two'", "Baz", "'four'"});
}

TEST_CASE("problems of several nodes are gathered") {
  check_says(refusal(model("g (float[N] x, int64[N] i) => (float[N] y) {\n"
                           "[first] a = Exp(i)\n[second] b = Add(x)\n[third] y = Softmax<axes = 3>(x)\n}")),
             {"'first' (Exp, opset 17)", "int64", "'second' (Add, opset 17)", "'B' is missing",
              "'third' (Softmax, opset 17)", "'axes' does not exist"});
}

TEST_CASE("an attribute of another kind") {
  check_says(refusal(model("g (float[N] x) => (float[N] y) { [n] y = Softmax<axis = 1.5>(x) }")),
             {"'axis' must be an integer, it is a float"});
}

TEST_CASE("names") {
  check_says(refusal(model("g (float[N] x) => (float[N] y) { [n] y = Add(x, nowhere) }")),
             {"'nowhere'", "not defined"});
  check_says(refusal(model("g (float[N] x) => (float[N] y) { y = Exp(x)\n y = Neg(x) }")),
             {"'y' is defined twice"});
  check_says(refusal(model("g (float[N] x) => (float[N] z) { y = Exp(x) }")), {"output 'z'"});
}

TEST_CASE("an unsorted file is sorted with a warning; a circle is refused") {
  std::string warning;
  ConvertOptions options;
  options.log.sink = [](void* to, LogLevel, std::string_view text) { *static_cast<std::string*>(to) = text; };
  options.log.context = &warning;
  auto g = graph_of(model("g (float[N] x) => (float[N] y) { y = Neg(a)\n a = Exp(x) }"), options);
  REQUIRE(g.ok());
  CHECK(warning.find("sorted") != std::string::npos);
  CHECK(run(*g, {0})[0] == -1.0f);
  check_says(refusal(model("g (float[N] x) => (float[N] y) { [p] y = Add(x, a)\n [q] a = Exp(y) }")),
             {"circle", "'p'", "'q'"});
}

TEST_CASE("two types that must agree") {
  check_says(refusal(model("g (float[N] x, double[N] z) => (float[N] y) { [n] y = Add(x, z) }")),
             {"must have the same type", "float32[N]", "float64[N]"});
}

TEST_CASE("a type that an operator's version does not have yet") {
  const std::string body =
      "g (float[N] x) => (float[N] y) {\n[c] a = Cast<to = 16>(x)\ny = Cast<to = 1>(a)\n}";
  check_says(refusal("<ir_version: 8, opset_import: [\"\" : 9]>\n" + body),
             {"'c' (Cast, opset 9)", "output 0", "would be bfloat16"});
  CHECK(refusal("<ir_version: 8, opset_import: [\"\" : 13]>\n" + body).find("output 0") == std::string::npos);
}

TEST_CASE("a declared output of another type is refused, of another shape only warned about") {
  check_says(refusal(model("g (float[N] x) => (int64[N] y) { y = Exp(x) }")),
             {"output 'y'", "int64", "float32"});
  CHECK(graph_of(model("g (float[2] x) => (float[3] y) { y = Exp(x) }")).ok());
}

TEST_CASE("functions are inlined with their own opsets, attributes and defaults") {
  auto g = graph_of(R"(<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
    g (float[N] x) => (float[N] y) { [call] y = f.twice <low = 1.0> (x) }
    <domain: "f", opset_import: ["" : 6, "f" : 1]>
    twice <low> (a) => (c) { b = f.clamp <low: float = @low> (a)
      c = Add(b, b) }
    <domain: "f", opset_import: ["" : 6]>
    clamp <low> (a) => (b) { b = Clip <min: float = @low> (a) })");
  INFO((g.ok() ? "" : g.status().to_string()));
  REQUIRE(g.ok());
  CHECK(run(*g, {0, 3}) == std::vector<float>{2, 6});
}

TEST_CASE("functions that double at every level are refused by name before they are inlined") {
  std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"local\" : 1]>\n"
      "g (float[N] x) => (float[N] y) { y = local.f40(x) }\n"
      "<domain: \"local\", opset_import: [\"\" : 17]>\nf0 (x) => (y) { y = Neg(x) }\n";
  for (int k = 1; k <= 40; ++k) {
    text += format(
        "<domain: \"local\", opset_import: [\"\" : 17, \"local\" : 1]>\n"
        "f{} (x) => (y) {{ a = local.f{}(x)  y = local.f{}(a) }}\n",
        k, k - 1, k - 1);
  }
  check_says(refusal(text), {"function 'local.f40'", "nodes", "250000"});
}

TEST_CASE("functions that are nested too deeply are refused, a long list of them is not") {
  auto nested = [](int depth) {
    std::string text = "<ir_version: 8, opset_import: [\"\" : 17, \"local\" : 1]>\n" +
                       format("g (float[N] x) => (float[N] y) {{ y = local.f{}(x) }}\n", depth) +
                       "<domain: \"local\", opset_import: [\"\" : 17]>\nf1 (x) => (y) { y = Neg(x) }\n";
    for (int k = 2; k <= depth; ++k) {
      text += format(
          "<domain: \"local\", opset_import: [\"\" : 17, \"local\" : 1]>\n"
          "f{} (x) => (y) {{ y = local.f{}(x) }}\n",
          k, k - 1);
    }
    return text;
  };
  CHECK(graph_of(nested(64)).ok());
  check_says(refusal(nested(65)), {"more than 64 deep", "function 'local.f"});
  check_says(refusal(nested(5000)), {"more than 64 deep"});
}

TEST_CASE("the budget of inlined nodes leaves the file's own nodes alone") {
  std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"local\" : 1]>\n"
      "g (float[N] x) => (float[N] y) {\n";
  for (int k = 0; k < 20; ++k) text += format("v{} = local.twice({})\n", k, k ? format("v{}", k - 1) : "x");
  text +=
      "y = Neg(v19) }\n<domain: \"local\", opset_import: [\"\" : 17]>\n"
      "twice (x) => (y) { y = Add(x, x) }\n";
  ConvertOptions enough, few;
  enough.most_inlined = 40;
  few.most_inlined = 10;
  CHECK(graph_of(text, enough).ok());
  check_says(refusal(text, few), {"local.twice", "10"});
}

TEST_CASE("a function that calls itself is refused") {
  check_says(refusal(R"(<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
    g (float[N] x) => (float[N] y) { y = f.again(x) }
    <domain: "f", opset_import: ["" : 17, "f" : 1]> again (a) => (b) { b = f.again(a) })"),
             {"function 'f.again' calls itself"});
  check_says(refusal(R"(<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
    g (float[N] x) => (float[N] y) { y = f.again(x) }
    <domain: "f", opset_import: ["" : 17, "f" : 1]> again (a) => (b) { c = f.again(a)
      d = f.again(a)
      b = Add(c, d) })"),
             {"function 'f.again' calls itself"});
}

TEST_CASE("an initializer that is listed as an input is a constant unless asked otherwise") {
  const std::string text =
      model("g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }");
  auto g = graph_of(text);
  REQUIRE(g.ok());
  CHECK(g->main().inputs.size() == 1);
  std::vector<InputDefault> defaults;
  ConvertOptions keep;
  keep.overridable_initializers = true;
  keep.defaults = &defaults;
  auto open = graph_of(text, keep);
  REQUIRE(open.ok());
  CHECK(open->main().inputs.size() == 2);
  REQUIRE(defaults.size() == 1);
  CHECK(defaults[0].name == "w");
}

TEST_CASE("names of sizes become symbols; nameless ones are all different") {
  auto g =
      graph_of(model("g (float[N, 3] x, float[N, ?] z, float[?, 3] u) => (float[N, 3] y) { y = Exp(x) }"));
  REQUIRE(g.ok());
  const auto& in = g->main().inputs;
  auto dim = [&](size_t i, size_t axis) { return g->value(in[i]).type.shape.dims[axis]; };
  CHECK(dim(0, 0) == dim(1, 0));
  CHECK(dim(1, 1) != dim(2, 0));
}

TEST_CASE("branches see outer names and may be nested") {
  auto g = graph_of(model(R"(g (float[2] x) => (float[2] y) {
    zero = Constant <value_float = 0.0> ()
    s = ReduceSum <keepdims = 0> (x)
    c = Greater(s, zero)
    y = If (c) <then_branch = yes () => (float[2] p) { p = Exp(x) },
                else_branch = no () => (float[2] q) { q = Neg(x) }>
  })"));
  INFO((g.ok() ? "" : g.status().to_string()));
  REQUIRE(g.ok());
  CHECK(run(*g, {-1, -2}) == std::vector<float>{1, 2});
}

TEST_CASE("a graph goes out and comes back the same") {
  auto g = graph_of(model(R"(g (float[2] x) => (float[2] y, float[2] z) <float[2] w = {1, 2}> {
    a = Add(x, w)
    y = Softmax <axis = 0> (a)
    z = Identity(x)
  })"));
  REQUIRE(g.ok());
  auto out = to_model(*g);
  REQUIRE(out.ok());
  auto again = to_graph(*out);
  INFO((again.ok() ? "" : again.status().to_string()));
  REQUIRE(again.ok());
  CHECK(print(*again) == print(*g));
  CHECK(run(*again, {0, 1}) == run(*g, {0, 1}));
  // Nothing in it needs a newer opset.
  CHECK(int64_t(out->opset_import[0].version) <= 14);
}
