// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "ops/engine/codec.h"

namespace sx::testing {
namespace {

bool close(double made, double expected, const Tolerance& t) {
  if (std::isnan(made) || std::isnan(expected)) return std::isnan(made) && std::isnan(expected);
  if (made == expected) return true;
  return std::fabs(made - expected) <= t.absolute + t.relative * std::fabs(expected);
}

std::string numbers(const Tensor& made, const Tensor& expected, Tolerance tolerance) {
  // Two units in the last place, as onnx's own runner allows.
  if (expected.type() == DType::bf16) tolerance.relative = std::max(tolerance.relative, 0x1p-6);
  std::vector<double> a, b;
  as_doubles(made, a);
  as_doubles(expected, b);
  const bool exact = dtype_is_integer(expected.type()) || expected.type() == DType::boolean;
  size_t wrong = 0, first = 0;
  double worst = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    if (exact ? a[i] == b[i] : close(a[i], b[i], tolerance)) continue;
    if (wrong++ == 0) first = i;
    worst = std::max(worst, std::fabs(a[i] - b[i]));
  }
  if (wrong == 0) return "";
  return format("{} of {} elements differ, the first at {}: {} instead of {}; by {} at most", wrong, b.size(),
                first, a[first], b[first], worst);
}

std::string tensors(const Tensor& made, const Tensor& expected, const Tolerance& tolerance,
                    bool floats_may_differ) {
  const bool both_float = (dtype_is_float(made.type()) && dtype_is_float(expected.type())) ||
                          (dtype_is_complex(made.type()) && dtype_is_complex(expected.type()));
  if (made.type() != expected.type() && !(floats_may_differ && both_float)) {
    return format("is {}, expected {}", dtype_name(made.type()), dtype_name(expected.type()));
  }
  if (made.dims() != expected.dims()) {
    return format("has shape {}, expected {}", to_string(made.dims()), to_string(expected.dims()));
  }
  if (made.type() != DType::string) return numbers(made, expected, tolerance);
  for (size_t i = 0; i < size_t(made.count()); ++i) {
    if (made.strings()[i] != expected.strings()[i]) {
      return format("element {} is '{}', expected '{}'", i, made.strings()[i], expected.strings()[i]);
    }
  }
  return "";
}

std::string items(const std::vector<Value>& made, const std::vector<Value>& expected, const Tolerance& t,
                  bool loose) {
  if (made.size() != expected.size())
    return format("has {} items, expected {}", made.size(), expected.size());
  for (size_t i = 0; i < made.size(); ++i) {
    const std::string d = difference(made[i], expected[i], t, loose);
    if (!d.empty()) return format("item {} {}", i, d);
  }
  return "";
}

std::string maps(const Map& made, const Map& expected, const Tolerance& t, bool loose) {
  if (made.key_type != expected.key_type || made.int_keys != expected.int_keys ||
      made.string_keys != expected.string_keys) {
    return "has other keys";
  }
  return items(made.values, expected.values, t, loose);
}

}  // namespace

bool as_doubles(const Tensor& t, std::vector<double>& values) {
  if (t.type() == DType::string || t.type() == DType::undefined) return false;
  if (dtype_is_complex(t.type())) {
    std::vector<complex128> pairs(size_t(t.count()));
    decode<complex128>(t.type(), t.data(), 0, 1, pairs.size(), pairs.data());
    for (const complex128& c : pairs) values.push_back(c.real()), values.push_back(c.imag());
    return true;
  }
  values.resize(size_t(t.count()));
  decode<double>(t.type(), t.data(), 0, 1, values.size(), values.data());
  return true;
}

std::string difference(const Value& made, const Value& expected, const Tolerance& t, bool loose) {
  // An optional that holds something may be written as what it holds.
  if (made.kind == Value::Kind::optional && expected.kind != Value::Kind::optional && made.optional) {
    return difference(*made.optional, expected, t, loose);
  }
  if (expected.kind == Value::Kind::optional && made.kind != Value::Kind::optional && expected.optional) {
    return difference(made, *expected.optional, t, loose);
  }
  if (made.kind != expected.kind)
    return format("is a {}, expected a {}", kind_name(made.kind), kind_name(expected.kind));
  switch (made.kind) {
    case Value::Kind::tensor: return tensors(made.tensor, expected.tensor, t, loose);
    case Value::Kind::sequence: return items(made.sequence->items, expected.sequence->items, t, loose);
    case Value::Kind::map: return maps(*made.map, *expected.map, t, loose);
    case Value::Kind::optional:
      if (!made.optional || !expected.optional)
        return made.optional == expected.optional ? "" : "is or is not empty";
      return difference(*made.optional, *expected.optional, t, loose);
    default: return made.kind == Value::Kind::none ? "is missing" : "cannot be compared";
  }
}

}  // namespace sx::testing
