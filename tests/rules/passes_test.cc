// SPDX-License-Identifier: Apache-2.0
// Folding, sharing, branches whose condition is known, and what must be left alone.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/format.h"
#include "graph/builder.h"
#include "graph/evaluate.h"
#include "passes/optimize.h"

using namespace sx;

namespace {

size_t count(const Graph& g, std::string_view type) {
  size_t n = 0;
  for (NodeId i = 0; i < g.nodes(); ++i) n += !g.node(i).removed && g.node(i).type == type;
  return n;
}

struct Start {
  Graph g;
  Builder b{g, kMainBody};
  ValueId x;
  explicit Start(std::vector<Dim> dims = {2, 3}) {
    x = g.add_input(kMainBody, "x", Type::tensor(DType::f32, Shape(dims)));
  }
  void output(ValueId v, std::string name) {
    g.value(v).name = std::move(name);
    g.add_output(kMainBody, v);
  }
};

}  // namespace

TEST_CASE("nodes with constant inputs are folded") {
  Start s;
  const ValueId c = s.b.op("Add", {s.b.constant(Tensor::scalar_f32(2)), s.b.constant(Tensor::scalar_f32(3))});
  s.output(s.b.op("Mul", {s.x, c}), "y");
  REQUIRE(passes::optimize(s.g).ok());
  CHECK(count(s.g, "Add") == 0);
  const Node& mul = s.g.node(s.g.value(s.g.main().outputs[0]).producer);
  CHECK(s.g.value(mul.inputs[1]).constant.tensor.as<float>()[0] == 5.0f);
}

TEST_CASE("random numbers are neither folded nor shared") {
  Start s;
  const ValueId a = s.b.op("RandomNormal", {}, {{"shape", std::vector<int64_t>{2, 3}}});
  const ValueId b = s.b.op("RandomNormal", {}, {{"shape", std::vector<int64_t>{2, 3}}});
  if (!s.b.status().ok()) return;  // the operator is not there
  s.output(s.b.op("Sub", {a, b}), "y");
  REQUIRE(passes::optimize(s.g).ok());
  CHECK(count(s.g, "RandomNormal") == 2);
}

TEST_CASE("a result much larger than its inputs is not folded") {
  Start s;
  const ValueId big = s.b.op("ConstantOfShape", {s.b.ints({1024, 1024, 2})});
  s.output(s.b.op("Add", {s.b.op("ReduceMax", {s.x}), big}), "y");
  REQUIRE(passes::optimize(s.g).ok());
  CHECK(count(s.g, "ConstantOfShape") == 1);
}

TEST_CASE("an Einsum over many letters is left to the run") {
  Start s;
  std::string equation;
  std::vector<ValueId> in;
  for (char c = 'a'; c <= 'h'; ++c) {  // 100,000 to the eighth products for one number
    equation += format("{}{}", equation.empty() ? "" : ",", c);
    in.push_back(s.b.op("ConstantOfShape", {s.b.ints({100000})}));
  }
  s.output(s.b.op("Mul", {s.x, s.b.op("Einsum", in, {{"equation", equation + "->"}})}), "y");
  REQUIRE(s.b.status().ok());
  REQUIRE(passes::optimize(s.g).ok());
  CHECK(count(s.g, "Einsum") == 1);
  CHECK(count(s.g, "ConstantOfShape") == 0);

  Start t;
  const ValueId a = t.b.constant(Tensor::of<float>(DType::f32, {2, 2}, std::vector<float>{1, 2, 3, 4}));
  const ValueId trace = t.b.op("Einsum", {a}, {{"equation", std::string("...ii->...")}});
  t.output(t.b.op("Mul", {t.x, trace}), "y");
  REQUIRE(passes::optimize(t.g).ok());
  CHECK(count(t.g, "Einsum") == 0);
}

TEST_CASE("folds stay within their budgets of bytes, work and time") {
  auto scaled = [](passes::OptimizeOptions options) {
    Start s;
    ValueId c = s.b.constant(Tensor::of<float>(DType::f32, {2, 3}, std::vector<float>(6, 1.5f)));
    for (int k = 0; k < 100; ++k) c = s.b.op(k % 2 ? "Sin" : "Cos", {c});
    s.output(s.b.op("Add", {s.x, c}), "y");
    REQUIRE(passes::optimize(s.g, options).ok());
    return count(s.g, "Sin") + count(s.g, "Cos");
  };
  CHECK(scaled({}) == 0);
  CHECK(scaled({.fold_total = 240}) == 100 - (240 + 2 * 24) / 24);
  CHECK(scaled({.fold_work = 120}) == 100 - (120 + 4 * 24) / 12);
  CHECK(scaled({.fold_time = std::chrono::milliseconds(-1)}) == 100);
}

TEST_CASE("strings that double are not folded until memory ends") {
  Start s;
  ValueId text = s.b.constant(Tensor::of_strings({1}, {std::string(1000, 'a')}));
  for (int k = 0; k < 40; ++k) text = s.b.op("StringConcat", {text, text});
  s.output(text, "y");
  REQUIRE(s.b.status().ok());
  REQUIRE(passes::optimize(s.g).ok());
  CHECK(count(s.g, "StringConcat") > 25);
}

TEST_CASE("nodes that differ in an attribute alone stay apart, whatever its kind") {
  Start s;
  ValueId sum = s.b.op("Exp", {s.x});
  for (int64_t k : {0, 1, 0}) {
    const ValueId a = s.b.op("LeakyRelu", {s.x}, {{"alpha", float(k)}});
    const ValueId t = s.b.op("Transpose", {s.x}, {{"perm", std::vector<int64_t>{k, 1 - k}}});
    sum = s.b.op("Add", {sum, s.b.op("Mul", {a, s.b.op("ReduceMax", {s.b.op("Exp", {t})})})});
  }
  s.output(sum, "y");
  REQUIRE(s.b.status().ok());
  REQUIRE(passes::optimize(s.g, {.without = {"drop_transpose"}}).ok());
  CHECK(count(s.g, "LeakyRelu") == 2);
  CHECK(count(s.g, "Transpose") == 2);
}

TEST_CASE("equal nodes are shared, outputs keep their names") {
  Start s;
  const ValueId a = s.b.op("Exp", {s.x}), b = s.b.op("Exp", {s.x});
  s.output(s.b.op("Add", {a, b}), "y");
  s.output(s.b.op("Neg", {a}), "p");
  s.output(s.b.op("Neg", {b}), "q");
  REQUIRE(passes::optimize(s.g).ok());
  CHECK(count(s.g, "Exp") == 1);
  CHECK(s.g.value(s.g.main().outputs[1]).name == "p");
  CHECK(s.g.value(s.g.main().outputs[2]).name == "q");
}

TEST_CASE("shape arithmetic folds where sizes are numbers, and stays as elements where they are not") {
  Dim n;
  Start s({2, 3});
  const ValueId shape = s.b.op("Shape", {s.x});
  s.output(s.b.op("Reshape", {s.x, s.b.op("Gather", {shape, s.b.ints({1, 0})})}), "y");
  REQUIRE(passes::optimize(s.g).ok());
  CHECK(count(s.g, "Shape") == 0);

  Start t;
  n = t.g.pool().symbol("N");
  const ValueId z = t.g.add_input(kMainBody, "z", Type::tensor(DType::f32, Shape({n, 3})));
  const ValueId target = t.b.op("Gather", {t.b.op("Shape", {z}), t.b.ints({0, 0, 1})});
  t.output(t.b.op("Expand", {z, target}), "y");
  REQUIRE(passes::optimize(t.g).ok());
  const Node& expand = t.g.node(t.g.value(t.g.main().outputs[0]).producer);
  REQUIRE(t.g.value(expand.inputs[1]).has_elements);
  CHECK(t.g.value(expand.inputs[1]).elements[1] == n);
}

TEST_CASE("the branch that is taken replaces its If") {
  Start s;
  const BodyId yes = s.g.add_body(), no = s.g.add_body();
  Builder in_yes(s.g, yes), in_no(s.g, no);
  s.g.set_outputs(yes, {in_yes.op("Neg", {s.x})});
  s.g.set_outputs(no, {in_no.op("Exp", {s.x})});
  const ValueId condition = s.b.constant(scalar_of(DType::boolean, 0));
  const ValueId y = s.b.op("If", {condition}, {{"then_branch", BodyRef{yes}}, {"else_branch", BodyRef{no}}});
  REQUIRE(s.b.status().ok());
  s.output(y, "y");
  REQUIRE(s.g.verify().ok());
  REQUIRE(passes::optimize(s.g).ok());
  CHECK(count(s.g, "If") == 0);
  CHECK(count(s.g, "Exp") == 1);
  CHECK(count(s.g, "Neg") == 0);
  CHECK(s.g.value(s.g.main().outputs[0]).name == "y");
}

TEST_CASE("an input that is given out keeps a node of its own") {
  Start s;
  s.output(s.b.op("Identity", {s.x}), "y");
  REQUIRE(passes::optimize(s.g).ok());
  CHECK(count(s.g, "Identity") == 1);
  CHECK(s.g.value(s.g.main().outputs[0]).name == "y");
}

TEST_CASE("rules can be turned off and say what they did") {
  Start s;
  s.output(s.b.op("Mul", {s.x, s.b.op("Sigmoid", {s.x})}), "y");
  auto copy = s.g.clone();
  REQUIRE(copy.ok());
  std::vector<passes::Applied> details;
  passes::OptimizeOptions options;
  options.details = &details;
  REQUIRE(passes::optimize(s.g, options).ok());
  REQUIRE(details.size() == 1);
  CHECK(details[0].rule == "fuse_swish");
  CHECK(details[0].before.find("Sigmoid") != std::string::npos);
  options.without = {"fuse_swish"};
  REQUIRE(passes::optimize(*copy, options).ok());
  CHECK(count(*copy, "Sigmoid") == 1);
}
