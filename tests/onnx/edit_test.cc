// SPDX-License-Identifier: Apache-2.0
// An edit changes its own bytes and the lengths around them, nothing else.
#include <doctest/doctest.h>

#include <string>

#include "onnx/read.h"
#include "onnx/tensor_data.h"
#include "onnx/write.h"

using namespace sx;
using namespace sx::onnx;

namespace {

std::string varint(uint64_t v) {
  std::string out;
  for (; v >= 0x80; v >>= 7) out += char(v | 0x80);
  return out + char(v);
}
std::string msg(int number, const std::string& body) {
  return varint(uint64_t(number) << 3 | 2) + varint(body.size()) + body;
}
std::string num(int number, uint64_t value) { return varint(uint64_t(number) << 3) + varint(value); }

const std::string kUnknown = num(50, 3);
std::string node(const std::string& name) {
  return msg(1, kUnknown + msg(4, "Relu") + msg(3, name) + msg(2, "y") + msg(1, "x"));
}
// Fields out of order, with unknown ones between them.
std::string model_bytes(const std::string& first, const std::string& second, const std::string& more = "") {
  return msg(8, num(2, 21)) + kUnknown +
         msg(7, msg(2, "g") + node(first) + num(60, 1) + node(second) + more) + num(1, 10);
}

std::shared_ptr<Model> read(const std::string& bytes) {
  auto model = read_model(MappedFile::from_bytes("test", bytes.data(), bytes.size()), "");
  REQUIRE_MESSAGE(model.ok(), model.status().to_string());
  return *model;
}
std::string written(const Model& model) { return message_bytes<ModelProto>(model); }

}  // namespace

TEST_CASE("an untouched model keeps its bytes") {
  const std::string bytes = model_bytes("a", "b");
  CHECK(written(*read(bytes)) == bytes);
}

TEST_CASE("a name of another length") {
  auto model = read(model_bytes("a", "b"));
  model->graph->node[1].name = std::string(300, 'n');
  CHECK(written(*model) == model_bytes("a", std::string(300, 'n')));
  model->graph->node[1].name = "b";
  CHECK(written(*model) == model_bytes("a", "b"));
}

TEST_CASE("a field that was not there comes last, one that is cleared goes") {
  auto model = read(model_bytes("a", "b"));
  model->producer_name = "me";
  CHECK(written(*model) == model_bytes("a", "b") + msg(2, "me"));
  model->ir_version.clear();
  const std::string all = model_bytes("a", "b");
  CHECK(written(*model) == all.substr(0, all.size() - num(1, 10).size()) + msg(2, "me"));
}

TEST_CASE("an empty text differs from none") {
  auto model = read(model_bytes("a", "b"));
  model->doc_string = "";
  CHECK(written(*model) == model_bytes("a", "b") + msg(6, ""));
  model->doc_string.clear();
  CHECK(written(*model) == model_bytes("a", "b"));
}

TEST_CASE("elements are removed and added in place") {
  auto model = read(model_bytes("a", "b", msg(13, msg(1, "v"))));
  model->graph->node.push_back(model->graph->node[0]);
  model->graph->node[2].name = "c";
  const std::string with =
      msg(8, num(2, 21)) + kUnknown +
      msg(7, msg(2, "g") + node("a") + num(60, 1) + node("b") + node("c") + msg(13, msg(1, "v"))) +
      num(1, 10);
  CHECK(written(*model) == with);
  model->graph->node.erase(model->graph->node.begin());
  CHECK(written(*model) == model_bytes("b", "c", msg(13, msg(1, "v"))));
}

TEST_CASE("numbers keep their form, packed or not") {
  const std::string packed = msg(8, "\x01\x02"), apart = num(8, 1) + num(8, 2);
  for (const std::string& form : {packed, apart}) {
    const auto model_of = [&](const std::string& ints) {
      return num(1, 10) + msg(7, msg(1, msg(5, msg(1, "axes") + ints + num(20, 7))));
    };
    auto model = read(model_of(form));
    AttributeProto& a = model->graph->node[0].attribute[0];
    CHECK(a.ints.values() == std::vector<int64_t>{1, 2});
    a.ints = {1, 2, 3};
    CHECK(written(*model) == model_of(form == packed ? msg(8, "\x01\x02\x03") : apart + num(8, 3)));
    a.ints = std::vector<int64_t>{};
    CHECK(written(*model) == model_of(""));
  }
}

TEST_CASE("a message in parts becomes one when it is changed") {
  const std::string parts = num(1, 10) + msg(7, msg(2, "g")) + num(5, 1) + msg(7, node("a"));
  auto model = read(parts);
  CHECK(written(*model) == parts);
  CHECK(model->graph->node.size() == 1);
  model->graph->node[0].name = "b";
  CHECK(written(*model) == num(1, 10) + num(5, 1) + msg(7, msg(2, "g") + node("b")));
}

TEST_CASE("a copy of a message takes its unknown fields along") {
  auto model = read(model_bytes("a", "b"));
  const NodeProto copy = model->graph->node[0];
  CHECK(message_bytes(copy) == node("a").substr(2));
  CHECK(message_bytes(copy, {.canonical = true}) == msg(1, "x") + msg(2, "y") + msg(3, "a") + msg(4, "Relu"));
}

TEST_CASE("payloads are used where they lie") {
  std::string payload(4 << 20, '\1');
  const std::string bytes =
      num(1, 10) +
      msg(7, msg(5, num(1, 1 << 10) + num(1, 1 << 10) + num(2, 1) + msg(8, "w") + msg(9, payload)));
  auto model = read(bytes);
  auto tensor = to_tensor(*model, model->graph->initializer[0]);
  REQUIRE(tensor.ok());
  const auto* data = static_cast<const uint8_t*>(tensor->data());
  CHECK(data >= model->file->bytes().data());
  CHECK(data < model->file->bytes().data() + bytes.size());
  model.reset();  // the tensor keeps the file
  CHECK(data[5] == 1);
}

TEST_CASE("kinds of attributes without a type") {
  AttributeProto a;
  CHECK(a.kind() == AttributeType::undefined);
  a.ints = {1};
  CHECK(a.kind() == AttributeType::ints);
  a.type = 2;
  CHECK(a.kind() == AttributeType::i);
}

TEST_CASE("external data of a model without a folder") {
  const std::string entry = msg(13, msg(1, "location") + msg(2, "w.bin"));
  auto model = read(num(1, 10) + msg(7, msg(5, num(1, 2) + num(2, 1) + entry + num(14, 1))));
  model->external = nullptr;
  const auto tensor = to_tensor(*model, model->graph->initializer[0]);
  REQUIRE(!tensor.ok());
  CHECK(tensor.status().to_string().find("came from memory without a folder") != std::string::npos);
}
