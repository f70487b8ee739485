// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/format.h"
#include "ops/engine/codec.h"

namespace sx::tools {
namespace {

Difference differ(std::string what) {
  Difference d;
  d.same = false;
  d.of_largest = d.absolute = INFINITY;
  d.what = std::move(what);
  return d;
}

// Real and imaginary parts count as elements of their own.
std::vector<double> numbers(const Tensor& t) {
  if (t.type() == DType::c64) {
    const float* p = static_cast<const float*>(t.data());
    return std::vector<double>(p, p + 2 * t.count());
  }
  if (t.type() == DType::c128) {
    const double* p = static_cast<const double*>(t.data());
    return std::vector<double>(p, p + 2 * t.count());
  }
  std::vector<double> v(size_t(t.count()));
  if (!v.empty()) decode<double>(t.type(), t.data(), 0, 1, v.size(), v.data());
  return v;
}

Difference compare_numbers(const Tensor& got, const Tensor& expected, Tolerance tolerance) {
  // Two units in the last place, as onnx's own runner allows.
  if (expected.type() == DType::bf16) tolerance.relative = std::max(tolerance.relative, 0x1p-6);
  const std::vector<double> a = numbers(got), b = numbers(expected);
  double largest = 0;
  for (double v : b) largest = std::isfinite(v) ? std::max(largest, std::abs(v)) : largest;
  Difference d;
  const bool exact = !dtype_is_float(expected.type()) && !dtype_is_complex(expected.type());
  for (size_t i = 0; i < a.size(); ++i) {
    const bool equal = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (equal) continue;
    const double gap = std::abs(a[i] - b[i]);
    const double allowed = exact ? 0
                                 : std::max(tolerance.of_largest * largest,
                                            tolerance.absolute + tolerance.relative * std::abs(b[i]));
    d.absolute = std::isnan(gap) ? INFINITY : std::max(d.absolute, gap);
    if (!(gap <= allowed) && d.same) {
      d.same = false;
      d.what = format("element {} is {:.9g}, expected {:.9g}", i, a[i], b[i]);
    }
  }
  d.of_largest = d.absolute == 0 ? 0 : largest > 0 ? d.absolute / largest : d.absolute;
  return d;
}

Difference compare_tensors(const Tensor& got, const Tensor& expected, const Tolerance& tolerance,
                           bool any_float) {
  const bool both_float = (dtype_is_float(got.type()) && dtype_is_float(expected.type())) ||
                          (dtype_is_complex(got.type()) && dtype_is_complex(expected.type()));
  if (got.type() != expected.type() && !(any_float && both_float)) {
    return differ(format("is {}, expected {}", dtype_name(got.type()), dtype_name(expected.type())));
  }
  if (!(got.dims() == expected.dims()))
    return differ(format("has shape {}, expected {}", to_string(got.dims()), to_string(expected.dims())));
  if (expected.type() != DType::string) return compare_numbers(got, expected, tolerance);
  for (int64_t i = 0; i < got.count(); ++i) {
    const std::string &a = got.strings()[size_t(i)], &b = expected.strings()[size_t(i)];
    if (a != b) return differ(format("element {} is '{}', expected '{}'", i, a, b));
  }
  return {};
}

void merge(Difference& all, Difference one, const std::string& where) {
  all.of_largest = std::max(all.of_largest, one.of_largest);
  all.absolute = std::max(all.absolute, one.absolute);
  if (!one.same && all.same) {
    all.same = false;
    all.what = where + " " + one.what;
  }
}

Difference compare_maps(const Map& got, const Map& expected, const Tolerance& tolerance, bool any_float) {
  if (got.values.size() != expected.values.size()) {
    return differ(format("has {} entries, expected {}", got.values.size(), expected.values.size()));
  }
  auto key = [](const Map& m, size_t i) {
    return m.key_type == DType::string ? m.string_keys[i] : std::to_string(m.int_keys[i]);
  };
  Difference all;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    size_t at = 0;
    while (at < got.values.size() && key(got, at) != key(expected, i)) ++at;
    if (at == got.values.size()) return differ(format("has no key '{}'", key(expected, i)));
    merge(all, compare(got.values[at], expected.values[i], tolerance, any_float),
          format("key '{}'", key(expected, i)));
  }
  return all;
}

}  // namespace

Difference compare(const Value& got, const Value& expected, const Tolerance& tolerance, bool any_float) {
  // An optional that holds something may be written as what it holds.
  if (got.kind == Value::Kind::optional && expected.kind != Value::Kind::optional && got.optional) {
    return compare(*got.optional, expected, tolerance, any_float);
  }
  if (expected.kind == Value::Kind::optional && got.kind != Value::Kind::optional && expected.optional) {
    return compare(got, *expected.optional, tolerance, any_float);
  }
  if (got.kind != expected.kind)
    return differ(format("is a {}, expected a {}", kind_name(got.kind), kind_name(expected.kind)));
  switch (expected.kind) {
    case Value::Kind::tensor: return compare_tensors(got.tensor, expected.tensor, tolerance, any_float);
    case Value::Kind::sequence: {
      const auto &a = got.sequence->items, &b = expected.sequence->items;
      if (a.size() != b.size()) return differ(format("has {} items, expected {}", a.size(), b.size()));
      Difference all;
      for (size_t i = 0; i < a.size(); ++i)
        merge(all, compare(a[i], b[i], tolerance, any_float), format("item {}", i));
      return all;
    }
    case Value::Kind::map: return compare_maps(*got.map, *expected.map, tolerance, any_float);
    case Value::Kind::optional:
      if (bool(got.optional) != bool(expected.optional))
        return differ(got.optional ? "is not empty" : "is empty");
      return got.optional ? compare(*got.optional, *expected.optional, tolerance, any_float) : Difference();
    case Value::Kind::sparse: return differ("is a sparse tensor, which cannot be compared");
    case Value::Kind::none: return {};
  }
  return {};
}

}  // namespace sx::tools
