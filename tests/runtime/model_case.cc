// SPDX-License-Identifier: Apache-2.0
#include "model_case.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/format.h"
#include "convert/convert.h"
#include "onnx/text.h"
#include "onnx/value_pb.h"

namespace sx::testing {

std::string model_path(const std::string& name) {
  return name == "digits" ? "models/digits/digits.onnx" : "build/test_models/" + name + "/model.onnx";
}

ModelCase load_case(const std::string& name, const Session& session, int data_set) {
  ModelCase c;
  c.model = model_path(name);
  const std::string folder = format("{}/test_data_set_{}/", c.model.substr(0, c.model.rfind('/')), data_set);
  auto read = [&](const char* kind, const std::vector<ValueDesc>& list, std::vector<Value>& to) {
    for (size_t i = 0; i < list.size(); ++i) {
      auto value = onnx::read_value_pb(format("{}{}_{}.pb", folder, kind, i), list[i].type.kind);
      REQUIRE_MESSAGE(value.ok(), value.status().to_string());
      to.push_back(std::move(value->value));
    }
  };
  read("input", session.inputs(), c.inputs);
  read("output", session.outputs(), c.expected);
  return c;
}

namespace {

double tensor_error(const Tensor& got, const Tensor& expected) {
  const double no = std::numeric_limits<double>::infinity();
  if (got.type() != expected.type() || !(got.dims() == expected.dims())) return no;
  if (got.type() == DType::string) {
    for (int64_t i = 0; i < got.count(); ++i) {
      if (got.strings()[size_t(i)] != expected.strings()[size_t(i)]) return no;
    }
    return 0;
  }
  if (got.type() != DType::f32) return std::memcmp(got.data(), expected.data(), got.bytes()) == 0 ? 0 : no;
  double most = 0, worst = 0;
  for (float v : expected.as<float>()) most = std::max(most, std::abs(double(v)));
  for (int64_t i = 0; i < got.count(); ++i) {
    const double difference =
        std::abs(double(got.as<float>()[size_t(i)]) - double(expected.as<float>()[size_t(i)]));
    worst = difference <= worst ? worst : difference;  // NaN is kept
  }
  return std::isnan(worst) ? no : most > 0 ? worst / most : worst;
}

}  // namespace

double worst_error(const std::vector<Value>& got, const std::vector<Value>& expected) {
  if (got.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    double e = std::numeric_limits<double>::infinity();
    if (got[i].kind == expected[i].kind) {
      if (got[i].is_tensor())
        e = tensor_error(got[i].tensor, expected[i].tensor);
      else if (got[i].kind == Value::Kind::sequence)
        e = worst_error(got[i].sequence->items, expected[i].sequence->items);
      else if (got[i].kind == Value::Kind::map)
        e = worst_error(got[i].map->values, expected[i].map->values);
    }
    worst = std::max(worst, e);
  }
  return worst;
}

bool bit_equal(const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].kind != b[i].kind) return false;
    if (a[i].kind == Value::Kind::sequence && !bit_equal(a[i].sequence->items, b[i].sequence->items))
      return false;
    if (a[i].kind == Value::Kind::map && !bit_equal(a[i].map->values, b[i].map->values)) return false;
    if (!a[i].is_tensor()) continue;
    const Tensor &x = a[i].tensor, &y = b[i].tensor;
    if (x.type() != y.type() || !(x.dims() == y.dims())) return false;
    if (x.type() == DType::string ? tensor_error(x, y) != 0 : std::memcmp(x.data(), y.data(), x.bytes()) != 0)
      return false;
  }
  return true;
}

std::vector<Value> run_all(Session& session, const std::vector<Value>& inputs) {
  std::vector<Value> outputs(session.outputs().size());
  const Status status = session.run(std::span<const Value>(inputs), std::span<Value>(outputs));
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  return outputs;
}

std::unique_ptr<Session> session_of(const std::string& name, SessionOptions options) {
  auto session = Session::load(model_path(name), std::move(options));
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  return std::move(session).value();
}

std::unique_ptr<Session> session_of_text(const std::string& text, SessionOptions options) {
  auto model = onnx::parse_text(text);
  REQUIRE_MESSAGE(model.ok(), model.status().to_string());
  auto graph = to_graph(**model);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  auto session = Session::from_graph(std::move(graph).value(), std::move(options));
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  return std::move(session).value();
}

Tensor numbers(Dims dims, uint32_t seed) {
  auto t = Tensor::allocate(DType::f32, std::move(dims));
  REQUIRE(t.ok());
  for (float& v : t->mutable_as<float>()) {
    seed = seed * 1664525u + 1013904223u;
    v = float(int32_t(seed >> 8) - (1 << 23)) / float(1 << 23);
  }
  return std::move(t).value();
}

}  // namespace sx::testing
