// SPDX-License-Identifier: Apache-2.0
// Errors of the text parser point at their place; what the official syntax allows is read.
#include <doctest/doctest.h>

#include "onnx/tensor_data.h"
#include "onnx/text.h"
#include "onnx/write.h"

using namespace sx;
using namespace sx::onnx;

namespace {

std::string problem(const std::string& text) {
  const auto model = parse_text(text);
  return model.ok() ? "parsed" : model.status().to_string();
}

// The error, and the line of the text with a mark under the column.
void fails(const std::string& text, const std::string& message) {
  const std::string found = problem(text);
  INFO(found);
  CHECK(found.starts_with(message));
}

}  // namespace

TEST_CASE("errors say where and show the line") {
  CHECK(problem("<ir_version: 10>\ng (float[2] x) => (float y) {\n  y = Relu(x\n}") ==
        "line 4, column 1: expected ')' after the inputs of a node, found '}'\n  }\n  ^");
  CHECK(problem("g () => () { y = Conv <k: int = \"a\"> (x) }") ==
        "line 1, column 33: expected a value of type int, found string\n"
        "  g () => () { y = Conv <k: int = \"a\"> (x) }\n"
        "                                  ^");
}

TEST_CASE("what is wrong") {
  fails("", "line 1, column 1: expected the name of a graph, found the end of the text");
  fails("<ir_version 10> g () => () {}", "line 1, column 13: expected ':' after the keyword, found '10'");
  fails("<colour: 10> g () => () {}", "line 1, column 2: a model has no 'colour'");
  fails("<ir_version: 99999999999999999999> g () => () {}",
        "line 1, column 14: the number 99999999999999999999 does not fit");
  fails("<ir_version: \"x\"> g () => () {}", "line 1, column 14: expected a version");
  fails("g () > () {}", "line 1, column 6: expected '=' and '>' after the inputs of the graph, found '>'");
  fails("g () => ()", "line 1, column 11: expected '{' before the nodes, found the end");
  fails("g () => () { y = }", "line 1, column 18: expected the name of an operator, found '}'");
  fails("g () => () { y Relu (x) }",
        "line 1, column 16: expected '=' after the outputs of a node, found 'Relu'");
  fails("g (quux[2] x) => () {}", "line 1, column 8: expected ')' after the inputs of the graph, found '['");
  fails("g (seq(quux) x) => () {}", "line 1, column 8: 'quux' is not a type");
  fails("g (float[a b] x) => () {}", "line 1, column 12: expected ']' after the dimensions, found 'b'");
  fails("g () => () <float[2] w = {1, x}> {}", "line 1, column 30: expected a number of 32 bits");
  fails("g () => () <float[N] w = {1}> {}", "line 1, column 26: elements need dimensions that are numbers");
  fails("g () => () <float[] w = {1}> {}", "line 1, column 25: elements need a known shape");
  fails("g () => () <w = {1}> {}", "line 1, column 17: the initializer 'w' has no type");
  fails("g () => () <int8[1] w = {99999999999}> {}", "line 1, column 26: expected a whole number of 32 bits");
  fails("g () => () <uint64[1] w = {-1}> {}",
        "line 1, column 28: expected a whole number that is not negative");
  fails("g () => () { y = Op <a: ints = [1, 2.5]> () }",
        "line 1, column 36: expected a value of type int, found float");
  fails("g () => () { y = Op <a = []> () }", "line 1, column 27: an empty list needs a type");
  fails("g () => () { y = Op <a: int = [1]> () }", "line 1, column 32: a value of type int cannot be a list");
  fails("g () => () { y = Op <a: colour = 1> () }",
        "line 1, column 25: 'colour' is not a type of attributes");
  fails("g () => () { y = Op <a = 1e999> () }", "line 1, column 26: the number 1e999 does not fit");
  fails("g () => () { y = Op (\"x }", "line 1, column 22: this string has no end");
  fails("g () => () {} f () => (x", "line 1, column 25: expected ')' after the values of the function");
  fails("g () => () {}\n#@ graph.colour = 1", "line 2, column 1: GraphProto has no field 'colour'");
  fails("g () => () {}\n#@ graph.node[7].name = \"x\"",
        "line 2, column 1: 'node' has 0 elements, index 7 is too large");
  fails("g () => () {}\n#@ nonsense", "line 2, column 1: expected a note");
  fails("g () => () {}\n#@ graph.node[0:9999999999].name = \"x\"",
        "line 2, column 1: the notes ask for more");
}

TEST_CASE("a short note cannot ask for much memory") {
  const std::string text(1000000, 'x');
  for (const std::string& note :
       {"node[0:100000].name = \"" + text + '"', "node[0].input[0:100000] = \"" + text + '"',
        "metadata_props[0:100000] = \"" + text + "\": \"\"", "node[0:1900000].name = \"x\"\n# " + text,
        "node[1900000].name = \"x\"\n# " + text}) {
    CAPTURE(note.substr(0, 40));
    const std::string why = problem("g () => () {}\n#@ graph." + note);
    CHECK(why.find("line 2, column 1: the notes ask for more") != std::string::npos);
  }
}

TEST_CASE("nesting is bounded") {
  std::string types = "g (", graphs = "g () => () {";
  for (int i = 0; i < 30000; ++i) types += "seq(";
  for (int i = 0; i < 30000; ++i) graphs += "y = If <a = b () => () {";
  CHECK(problem(types).find("nested deeper than 200 levels") != std::string::npos);
  CHECK(problem(graphs).find("nested deeper than 200 levels") != std::string::npos);
  std::string note = "g () => () {}\n#@ graph";
  for (int i = 0; i < 30000; ++i) note += ".node[0].attribute[0].g";
  CHECK(problem(note + ".name = \"x\"").find("nested deeper than 200 levels") != std::string::npos);
}

TEST_CASE("notes may come in any order") {
  const auto model = parse_text(R"(g () => () {}
#@ graph.node[1].attribute[0:2].strings[1] = "b"
#@ graph.node[0].name = "n"
#@ graph.node[1].attribute[1].strings[0] = "a"
#@ graph.node[1].attribute[0].strings[0] = "A")");
  REQUIRE_MESSAGE(model.ok(), model.status().to_string());
  const GraphProto& g = *(*model)->graph;
  REQUIRE(g.node.size() == 2);
  CHECK(g.node[0].name == "n");
  REQUIRE(g.node[1].attribute.size() == 2);
  CHECK(g.node[1].attribute[0].strings[0] == "A");
  CHECK(g.node[1].attribute[1].strings[0] == "a");
  CHECK(g.node[1].attribute[1].strings[1] == "b");
  // But none may be left out.
  CHECK(problem("g () => () {}\n#@ graph.node[1].name = \"a\"\n#@ graph.node[2].name = \"b\"")
            .find("line 2, column 1: 'node' has 0 elements, index 1 is too large") != std::string::npos);
}

TEST_CASE("a model in text") {
  const auto model = parse_text(R"(
    <ir_version: 10, opset_import: ["": 21, "local": 1]>
    agraph (float[N, 128] X, int64 n = {5}) => (float[N, 10] C)
    <float[2] w = {1, -2.5}, int4[3] small = {1, -2, 3}, float[?] v>
    { # a comment
      [first] T = local.Square:two (X)
      C, "" = Softmax <axis = -1, alpha = 1.5, modes = ["a", "b\"c"], t: tensor = float[1] {nan}> (T, , n)
    }
    <domain: "local", opset_import: ["": 21], overload: "two">
    Square <k, axis: int = 1> (x) => (y) { y = Mul (x, x) })");
  REQUIRE_MESSAGE(model.ok(), model.status().to_string());
  const GraphProto& g = *(*model)->graph;
  CHECK(g.name == "agraph");
  CHECK(print_text(*g.input[0].type) == "float[N,128]");
  REQUIRE(g.initializer.size() == 3);
  CHECK(to_tensor(g.initializer[0], {})->as<int64_t>()[0] == 5);
  CHECK(to_tensor(g.initializer[1], {})->as<float>()[1] == -2.5f);
  const auto small = to_tensor(g.initializer[2], {});
  REQUIRE(small.ok());
  CHECK(small->as<uint8_t>()[0] == 0xe1);  // 1, -2
  const NodeProto& square = g.node[0];
  CHECK(square.name == "first");
  CHECK(square.domain == "local");
  CHECK(square.op_type == "Square");
  CHECK(square.overload == "two");
  const NodeProto& softmax = g.node[1];
  CHECK(softmax.output[1] == "");
  CHECK(softmax.input.size() == 3);
  CHECK(softmax.input[1] == "");
  CHECK(find_attribute(softmax, "axis")->i == -1);
  CHECK(find_attribute(softmax, "alpha")->f == 1.5f);
  CHECK(find_attribute(softmax, "modes")->strings[1] == "b\"c");
  CHECK(find_attribute(softmax, "t")->t->data_type == 1);
  const FunctionProto& f = (*model)->functions[0];
  CHECK(f.attribute[0] == "k");
  CHECK(f.attribute_proto[0].i == 1);
}
