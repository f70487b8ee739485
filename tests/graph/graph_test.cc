// SPDX-License-Identifier: Apache-2.0
// Editing, order, invariants and inference of graphs.
#include "graph/graph.h"

#include <doctest/doctest.h>

#include <array>

#include "base/format.h"
#include "graph/builder.h"
#include "graph/infer_graph.h"

using namespace sx;

namespace {
Type floats(std::vector<Dim> dims) { return Type::tensor(DType::f32, Shape(std::move(dims))); }
Type ints(DType type, std::vector<Dim> dims = {}) { return Type::tensor(type, Shape(std::move(dims))); }

// A Loop whose body holds a Loop, `levels` deep; the innermost doubles what all of them carry.
ValueId add_loops(Graph& g, BodyId home, ValueId trips, ValueId x, int levels) {
  if (levels == 0) return Builder(g, home).op("Concat", {x, x}, {{"axis", int64_t(0)}});
  const BodyId body = g.add_body();
  g.add_input(body, "turn", ints(DType::i64));
  const ValueId go = g.add_input(body, "go", ints(DType::boolean));
  const ValueId carried = g.add_input(body, "carried", Type());
  const ValueId next = add_loops(g, body, trips, carried, levels - 1);
  g.set_outputs(body, {Builder(g, body).op("Identity", {go}), next});
  return Builder(g, home).op("Loop", {trips, kNoValue, x}, {{"body", BodyRef{body}}});
}
}  // namespace

TEST_CASE("uses follow every edit") {
  Graph g;
  Builder b(g, kMainBody);
  const ValueId x = g.add_input(kMainBody, "x", floats({2}));
  const ValueId a = b.op("Exp", {x}), y = b.op("Add", {a, a});
  g.set_outputs(kMainBody, {y});
  CHECK(g.use_count(a) == 2);
  REQUIRE(g.verify().ok());
  g.replace_uses(a, x);
  CHECK(g.use_count(a) == 0);
  CHECK(g.use_count(x) == 3);
  CHECK(g.remove_unused() == 1);
  REQUIRE(g.verify().ok());
  CHECK(g.main().nodes.size() == 1);
}

TEST_CASE("verify names what is broken") {
  Graph g;
  Builder b(g, kMainBody);
  const ValueId x = g.add_input(kMainBody, "x", floats({2}));
  const ValueId a = b.op("Exp", {x}), y = b.op("Neg", {a});
  g.set_outputs(kMainBody, {y});
  g.move_before(g.main().nodes.back(), g.main().nodes.front());
  const Status s = g.verify();
  REQUIRE(!s.ok());
  CHECK(s.message().find("not defined") != std::string::npos);
  REQUIRE(g.sort(kMainBody).ok());
  CHECK(g.verify().ok());
}

TEST_CASE("outputs of bodies are uses, and follow every edit") {
  Graph g;
  Builder b(g, kMainBody);
  const ValueId x = g.add_input(kMainBody, "x", floats({2}));
  const ValueId a = b.op("Exp", {x}), y = b.op("Neg", {a});
  g.set_outputs(kMainBody, {a, y, a});
  CHECK(g.use_count(a) == 3);
  CHECK(g.is_main_output(a));
  g.replace_uses(a, y);
  CHECK(g.use_count(a) == 0);
  CHECK(g.main().outputs == std::vector<ValueId>{y, y, y});
  g.set_output(kMainBody, 1, x);
  CHECK(g.main().outputs == std::vector<ValueId>{y, x, y});
  CHECK(g.value(y).output_uses.size() == 2);
  g.set_outputs(kMainBody, {x});
  CHECK(!g.is_output(y));
  CHECK(g.is_output(x));
}

TEST_CASE("nodes are put in and taken out anywhere, also while they are walked") {
  Graph g;
  Builder b(g, kMainBody);
  ValueId v = g.add_input(kMainBody, "x", floats({2}));
  const ValueId x = v;
  for (int k = 0; k < 6; ++k) v = b.op("Exp", {v});
  g.set_outputs(kMainBody, {v});
  size_t walked = 0;
  for (NodeId n : g.main().nodes) {
    if (walked++ % 2 == 1) continue;
    Builder(g, kMainBody, n).op("Neg", {x});
    g.replace_uses(g.node(n).outputs[0], g.node(n).inputs[0]);
    g.remove_node(n);
  }
  CHECK(walked == 6);
  CHECK(g.main().nodes.size() == 6);
  CHECK(g.remove_unused() == 3);
  const std::vector<NodeId> left = g.main().nodes;
  CHECK(left == std::vector<NodeId>{1, 3, 5});
  CHECK(std::vector<NodeId>(g.main().nodes.rbegin(), g.main().nodes.rend()) == std::vector<NodeId>{5, 3, 1});
  CHECK(g.next(1) == 3);
  CHECK(g.next(5) == kNoNode);
  CHECK(g.verify().ok());
}

TEST_CASE("a guard is kept once for each body, the stronger one wins") {
  Graph g;
  Builder b(g, kMainBody);
  const ValueId x = g.add_input(kMainBody, "x", floats({2}));
  b.op("Exp", {x});
  const NodeId node = b.last();
  const Dim n = g.pool().symbol("n"), m = g.pool().symbol("m");
  g.add_guard({n, m, true, node, ""});
  g.add_guard({m, n, true, node, ""});
  CHECK(g.guards().size() == 1);
  g.add_guard({n, m, false, node, ""});
  CHECK(g.guards().size() == 2);
  g.add_guard({n, m, true, node, ""});
  CHECK(g.guards().size() == 2);
  g.edit_guards([](const Guard& guard) { return guard.broadcast; });
  CHECK(g.guards().size() == 1);
  g.add_guard({n, m, false, node, ""});
  CHECK(g.guards().size() == 2);
}

TEST_CASE("sort names a cycle") {
  Graph g;
  Builder b(g, kMainBody);
  const ValueId x = g.add_input(kMainBody, "x", floats({2}));
  const ValueId a = b.op("Exp", {x});
  const NodeId first = b.last();
  const ValueId y = b.op("Neg", {a});
  g.set_input(first, 0, y);
  const Status s = g.sort(kMainBody);
  REQUIRE(!s.ok());
  CHECK(s.message().find("cycle") != std::string::npos);
}

TEST_CASE("a value of a body cannot be read outside it") {
  Graph g;
  Builder b(g, kMainBody);
  const ValueId x = g.add_input(kMainBody, "x", floats({2}));
  const ValueId c = g.add_input(kMainBody, "c", Type::tensor(DType::boolean, Shape(std::vector<Dim>())));
  const BodyId yes = g.add_body(), no = g.add_body();
  const ValueId inner = Builder(g, yes).op("Exp", {x});
  g.set_outputs(yes, {inner});
  g.set_outputs(no, {Builder(g, no).op("Neg", {x})});
  const ValueId y = b.op("If", {c}, {{"then_branch", BodyRef{yes}}, {"else_branch", BodyRef{no}}});
  g.set_outputs(kMainBody, {y});
  REQUIRE(b.status().ok());
  CHECK(g.verify().ok());
  CHECK(to_string(g.value(y).type) == "float32[2]");
  g.set_outputs(kMainBody, {inner});
  CHECK(!g.verify().ok());
}

TEST_CASE("removing a node removes its bodies and frees what they used") {
  Graph g;
  Builder b(g, kMainBody);
  const ValueId x = g.add_input(kMainBody, "x", floats({2}));
  const ValueId c = g.add_input(kMainBody, "c", Type::tensor(DType::boolean, Shape(std::vector<Dim>())));
  const ValueId outer = b.op("Abs", {x});
  const BodyId yes = g.add_body(), no = g.add_body();
  g.set_outputs(yes, {Builder(g, yes).op("Exp", {outer})});
  g.set_outputs(no, {Builder(g, no).op("Neg", {outer})});
  b.op("If", {c}, {{"then_branch", BodyRef{yes}}, {"else_branch", BodyRef{no}}});
  const ValueId y = b.op("Sqrt", {x});
  g.set_outputs(kMainBody, {y});
  CHECK(g.remove_unused() == 4);  // If, both branches' nodes, and Abs
  CHECK(g.verify().ok());
  CHECK(g.value(outer).uses.empty());
}

TEST_CASE("inference contradicting a declared type names both") {
  Graph g;
  const ValueId x = g.add_input(kMainBody, "x", floats({2, 3}));
  const ValueId y = g.add_value(kMainBody, "y", Type::tensor(DType::i64, floats({4, 4}).shape));
  const NodeId n = g.add_node(kMainBody, find_op("", "Exp"), {x}, {}, std::vector<ValueId>{y});
  g.node(n).name = "wave";
  const Status s = infer_node(g, n);
  REQUIRE(!s.ok());
  const std::string text = s.to_string();
  for (const char* part : {"wave", "Exp", "'y'", "[4, 4]", "[2, 3]"})
    CHECK(text.find(part) != std::string::npos);
}

TEST_CASE("sizes that follow from the inputs replace declared ones") {
  Graph g;
  const ValueId x = g.add_input(kMainBody, "x", floats({2, 3}));
  const ValueId y = g.add_value(kMainBody, "y", floats({4, 4, 4}));
  const NodeId n = g.add_node(kMainBody, find_op("", "Exp"), {x}, {}, std::vector<ValueId>{y});
  REQUIRE(infer_node(g, n).ok());
  CHECK(g.value(y).type == floats({2, 3}));
}

TEST_CASE("inference keeps the more exact of two shapes") {
  Graph g;
  const Dim n = g.pool().symbol("N");
  const ValueId x = g.add_input(kMainBody, "x", floats({n, 3}));
  const ValueId y = g.add_value(kMainBody, "y", floats({5, 3}));
  const NodeId node = g.add_node(kMainBody, find_op("", "Exp"), {x}, {}, std::vector<ValueId>{y});
  REQUIRE(infer_node(g, node).ok());
  CHECK(to_string(g.value(y).type) == "float32[5, 3]");
}

TEST_CASE("sizes flow through shape arithmetic") {
  Graph g;
  Builder b(g, kMainBody);
  const Dim n = g.pool().symbol("N"), s = g.pool().symbol("S");
  const ValueId x = g.add_input(kMainBody, "x", floats({n, s, 12}));
  const ValueId shape = b.op("Shape", {x});
  const ValueId first = b.op("Gather", {shape, b.scalar(0)}), second = b.op("Gather", {shape, b.scalar(1)});
  const ValueId both = b.op("Unsqueeze", {b.op("Mul", {first, second}), b.ints({0})});
  const ValueId target = b.op("Concat", {both, b.ints({12})}, {{"axis", int64_t(0)}});
  const ValueId y = b.op("Reshape", {x, target});
  REQUIRE(b.status().ok());
  REQUIRE(g.value(target).has_elements);
  CHECK(g.value(target).elements[0] == n * s);
  CHECK(g.value(y).type.shape == Shape({n * s, 12}));
}

TEST_CASE("broadcasting unlike symbols leaves one guard that names the node") {
  Graph g;
  Builder b(g, kMainBody);
  const Dim n = g.pool().symbol("N"), m = g.pool().symbol("M");
  const ValueId x = g.add_input(kMainBody, "x", floats({n})), z = g.add_input(kMainBody, "z", floats({m}));
  b.op("Add", {x, z});
  b.op("Mul", {x, z});
  CHECK(g.guards().size() == 1);
}

TEST_CASE("loops in loops whose carried shapes change are inferred in one walk") {
  for (const int levels : {1, 14, 60}) {
    Graph g;
    const ValueId trips = g.add_input(kMainBody, "trips", ints(DType::i64));
    const ValueId x = g.add_input(kMainBody, "x", floats({3, 4}));
    const ValueId y = add_loops(g, kMainBody, trips, x, levels);
    g.set_outputs(kMainBody, {y});
    const Status inferred = infer_graph(g);
    REQUIRE_MESSAGE(inferred.ok(), inferred.to_string());
    const Type& type = g.value(y).type;
    REQUIRE(type.shape.rank() == 2);
    CHECK(mentions_fresh(type.shape.dims[0]));
    CHECK(type.shape.dims[1] == Dim(4));
    // The symbols that stand for sizes that turns change: a few for each level and walk.
    CHECK(g.pool().symbols() < size_t(40 * levels * levels + 40));
  }
}

TEST_CASE("contents that wrap around are left to the operator") {
  Graph g;
  Builder b(g, kMainBody);
  auto elements = [&](std::string_view op, std::vector<int64_t> x, std::vector<int64_t> y) {
    const ValueId v = b.op(op, {b.ints(x), b.ints(y)});
    REQUIRE(b.status().ok());
    const ValueInfo& info = g.value(v);
    return info.has_elements ? to_string(std::span<const Dim>(info.elements)) : "none";
  };
  CHECK(elements("Add", {INT64_MAX}, {1}) == "none");
  CHECK(elements("Add", {INT64_MIN}, {-1}) == "none");
  CHECK(elements("Sub", {INT64_MIN}, {1}) == "none");
  CHECK(elements("Mul", {int64_t(1) << 62}, {2}) == "none");
  CHECK(elements("Add", {INT64_MAX - 1}, {1}) == format("[{}]", INT64_MAX));
  CHECK(elements("Div", {-7, 7, -7}, {2, -2, -2}) == "[-3, -3, 3]");
  CHECK(elements("Mod", {-7, 7}, {3, 3}) == "[2, 1]");
  // int32 wraps at its own width.
  const auto narrow = [&](ValueId v) { return b.op("Cast", {v}, {{"to", int64_t(DType::i32)}}); };
  const ValueId large = narrow(b.ints({int64_t(1) << 31}));
  CHECK(!g.value(large).has_elements);
  const ValueId half = narrow(b.ints({int64_t(1) << 30}));
  CHECK(g.value(half).has_elements);
  CHECK(!g.value(b.op("Add", {half, half})).has_elements);
}

TEST_CASE("sizes that would not fit into int32 contents are refused by a guard") {
  Graph g;
  Builder b(g, kMainBody);
  const Dim n = g.pool().symbol("N");
  const ValueId x = g.add_input(kMainBody, "x", floats({n}));
  const ValueId v = b.op("Cast", {b.op("Shape", {x})}, {{"to", int64_t(DType::i32)}});
  REQUIRE(b.status().ok());
  REQUIRE(g.value(v).has_elements);
  REQUIRE(g.guards().size() == 1);
  int64_t a = 0, c = 0;
  for (const int64_t size : {int64_t(5), int64_t(INT32_MAX), int64_t(INT32_MAX) + 1}) {
    const std::array<int64_t, 1> symbols{size};
    REQUIRE(evaluate(g.guards()[0].a, symbols, a));
    REQUIRE(evaluate(g.guards()[0].b, symbols, c));
    CHECK((a == c) == (size <= INT32_MAX));
  }
}
