// SPDX-License-Identifier: Apache-2.0
// The engines of evaluation on sizes that tables of cases do not reach: rows longer than a block, groups
// whose elements lie apart and are read several groups at a time.
#include <doctest/doctest.h>

#include <numeric>

#include "graph/builder.h"
#include "graph/evaluate.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/codec.h"

using namespace sx;

namespace {

template <class T>
Tensor numbers(DType type, Dims dims) {
  std::vector<T> values(size_t(product(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = T(int64_t(i * 7 % 23) - 9);
  return Tensor::of<T>(type, dims, values);
}

Tensor evaluated(const char* op, const Attrs& attrs, std::vector<Value> inputs) {
  const Op* record = find_op("", op);
  REQUIRE(record);
  const bool wanted[] = {true};
  auto made = evaluate_op(*record, attrs, inputs, wanted, {});
  REQUIRE_MESSAGE(made.ok(), made.status().to_string());
  return made->front().tensor;
}

// Sums over all axes but the last.
template <class T>
void check_sums(DType type, const Dims& dims) {
  const Tensor x = numbers<T>(type, dims);
  std::vector<int64_t> axes(dims.size() - 1);
  std::iota(axes.begin(), axes.end(), 0);
  const Tensor which = Tensor::of<int64_t>(DType::i64, {int64_t(axes.size())}, axes);
  const Tensor sums = evaluated("ReduceSum", {{"keepdims", int64_t(0)}}, {Value(x), Value(which)});
  const size_t columns = size_t(dims.back());
  REQUIRE(sums.dims() == Dims{dims.back()});
  for (size_t c = 0; c < columns; ++c) {
    T expected = 0;
    for (size_t i = c; i < size_t(x.count()); i += columns) expected += x.as<T>()[i];
    CHECK(sums.as<T>()[c] == expected);
  }
}

// Where the largest stands along the first axis.
template <class T>
void check_largest(DType type, int64_t rows, int64_t columns) {
  const Tensor x = numbers<T>(type, {rows, columns});
  const Tensor found = evaluated("ArgMax", {{"keepdims", int64_t(0)}}, {Value(x)});
  REQUIRE(found.dims() == Dims{columns});
  for (int64_t c = 0; c < columns; ++c) {
    int64_t best = 0;
    for (int64_t r = 1; r < rows; ++r) {
      if (x.as<T>()[size_t(r * columns + c)] > x.as<T>()[size_t(best * columns + c)]) best = r;
    }
    CHECK(found.as<int64_t>()[size_t(c)] == best);
  }
}

// A row for all rows: x[r, c] * s[c].
template <class T>
void check_products(DType type, int64_t rows, int64_t columns) {
  const Tensor x = numbers<T>(type, {rows, columns}), s = numbers<T>(type, {columns});
  const Tensor y = evaluated("Mul", {}, {Value(x), Value(s)});
  REQUIRE(y.dims() == x.dims());
  for (size_t i = 0; i < size_t(x.count()); ++i)
    CHECK(y.as<T>()[i] == x.as<T>()[i] * s.as<T>()[i % size_t(columns)]);
}

}  // namespace

TEST_CASE("groups beside each other are reduced as each by itself") {
  for (int64_t columns : {1, 2, 15, 16, 17, 40, 257, 600}) {
    for (int64_t rows : {1, 3, 64, 1000}) {
      check_sums<float>(DType::f32, {rows, columns});
      check_sums<double>(DType::f64, {rows, columns});
      check_sums<int64_t>(DType::i64, {rows, 2, columns});
    }
  }
  check_sums<float>(DType::f32, {300'000, 5});  // several groups are more than is read together
}

TEST_CASE("groups beside each other are gathered as each by itself") {
  check_largest<float>(DType::f32, 50, 37);
  check_largest<float>(DType::f32, 1, 300);
  check_largest<double>(DType::f64, 301, 9);
  check_largest<int64_t>(DType::i64, 50, 18);
}

TEST_CASE("an evaluation that writes what nobody gave a size is an error") {
  const Op op = {.name = "Mistaken",
                 .out = {{"y", "tensor(float)"}},
                 .infer = [](Infer& i) -> Status {
                   i.set_unknown_shape(0, DType::f32);
                   return {};
                 },
                 .eval = [](Eval& e) -> Status {
                   Writer<float>(e.out(0)).fill(1);
                   return {};
                 },
                 .history = {{.since = 1}}};
  const bool wanted[] = {true};
  const auto made = evaluate_op(op, {}, {}, wanted, {});
  REQUIRE(!made.ok());
  CHECK(made.status().to_string().find("written before its sizes are known") != std::string::npos);
}

TEST_CASE("a row is repeated along rows of any length") {
  for (int64_t columns : {1, 63, 64, 65, 128, 255, 256, 257, 600}) {
    check_products<float>(DType::f32, 5, columns);
    check_products<int64_t>(DType::i64, 3, columns);
  }
}
