// SPDX-License-Identifier: Apache-2.0
// The C++ wrapper over the C API, with nothing but its header and library.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "sardonyx/sardonyx.hpp"

using namespace sardonyx;

namespace {

std::string file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<float> sample(int digit) {
  const std::string bytes = file("models/digits/sample_" + std::to_string(digit) + ".npy");
  std::vector<float> pixels(64);
  REQUIRE(bytes.size() > 256);
  std::memcpy(pixels.data(), bytes.data() + bytes.size() - 256, 256);
  return pixels;
}

int answer(const Tensor& t) {
  return int(std::max_element(t.data<float>(), t.data<float>() + 10) - t.data<float>());
}

}  // namespace

TEST_CASE("a model from a file and from memory") {
  Session session("models/digits/digits.onnx", Options().threads(2));
  REQUIRE(session.inputs().size() == 1);
  CHECK(session.inputs()[0].name == "image");
  CHECK(session.inputs()[0].dims == std::vector<int64_t>{-1, 1, 8, 8});
  CHECK(session.inputs()[0].dim_names[0] == "N");
  const std::string bytes = file("models/digits/digits.onnx");
  Session copy =
      Session::from_memory(bytes.data(), bytes.size(), Options().plugin(SX_LOOPBACK).provider("loopback"));
  for (int digit : {0, 2, 3, 7, 8}) {
    const Tensor image = Tensor::of<float>({1, 1, 8, 8}, sample(digit));
    const std::vector<Tensor> a = session.run({{"image", image}});
    const std::vector<Tensor> b = copy.run({{"image", image}}, {session.outputs()[0].name.c_str()});
    CHECK(answer(a[0]) == digit);
    CHECK(std::memcmp(a[0].raw(), b[0].raw(), a[0].bytes()) == 0);
    std::vector<float> memory(10);
    std::vector<Tensor> bound;
    bound.push_back(Tensor::over({1, 10}, memory.data()));
    const Feed feeds[] = {{"image", image}};
    session.run_into(feeds, 1, nullptr, bound);
    CHECK(std::memcmp(a[0].raw(), memory.data(), 40) == 0);
  }
}

TEST_CASE("failures are exceptions that say what was expected") {
  CHECK_THROWS_WITH_AS(Session("nowhere.onnx"), doctest::Contains("nowhere.onnx"), Error);
  Session session("models/digits/digits.onnx");
  const Tensor image = Tensor::of<float>({1, 1, 8, 8}, sample(3));
  CHECK_THROWS_WITH_AS(session.run({{"picture", image}}), doctest::Contains("image  float32[N, 1, 8, 8]"),
                       Error);
  CHECK_THROWS_WITH_AS(session.run({}), doctest::Contains("not given"), Error);
  CHECK_THROWS_AS(Tensor::of<float>({2, 2}, {1.0f}), Error);
  CHECK_THROWS_AS((void)image.data<int64_t>(), Error);
  try {
    session.run({{"image", Tensor::of<int64_t>({1}, {1})}});
    CHECK(false);
  } catch (const Error& e) {
    CHECK(e.code() == SX_CODE_INVALID_ARGUMENT);
  }
}

TEST_CASE("strings") {
  const Tensor words = Tensor::of({2}, std::vector<std::string>{"one", std::string("t\0o", 3)});
  CHECK(words.text(1) == std::string_view("t\0o", 3));
  CHECK_THROWS_AS(words.text(2), Error);
}
