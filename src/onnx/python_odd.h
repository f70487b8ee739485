// SPDX-License-Identifier: Apache-2.0
// What of a message the onnx package cannot be told in Python: texts that are not UTF-8, NaNs of unusual
// bits, numbers that an enumeration does not have, unknown fields. It can read them, so they become bytes for
// MergeFromString. Internal to src/onnx.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/utf8.h"
#include "onnx/known.h"
#include "onnx/python_literal.h"
#include "onnx/schema.h"
#include "onnx/wire.h"

namespace sx::onnx {

struct Oddities {
  std::vector<std::string_view> fields;  // names of fields that are in `bytes`
  std::string bytes;                     // records
  Status problem;
  bool none() const { return bytes.empty(); }
  bool has(std::string_view field) const {
    return std::find(fields.begin(), fields.end(), field) != fields.end();
  }
};

// The fields that the schema calls bytes; the others are text.
template <class M>
constexpr bool is_bytes_field(std::string_view name) {
  return (std::is_same_v<M, AttributeProto> && (name == "s" || name == "strings")) ||
         (std::is_same_v<M, TensorProto> && (name == "raw_data" || name == "string_data"));
}

template <class M>
struct OddFields {
  Oddities& odd;

  void put_varint(uint64_t value) {
    uint8_t buffer[10];
    const int width = varint_size(value);
    write_varint(buffer, value, width);
    odd.bytes.append(reinterpret_cast<const char*>(buffer), size_t(width));
  }
  void put_tag(uint32_t number, WireType type) { put_varint(uint64_t(number) << 3 | uint64_t(type)); }
  template <class T>
  void put_scalar(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      odd.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      put_varint(uint64_t(value));
    }
  }
  void put_text(uint32_t number, const Bytes& f) {
    put_tag(number, WireType::length);
    put_varint(f.size());
    odd.bytes += f.view();
  }
  template <class T>
  static bool in_enumeration(std::string_view name, T value) {
    if (std::is_same_v<M, AttributeProto> && name == "type") return value >= 0 && value <= 14;
    if (std::is_same_v<M, TensorProto> && name == "data_location") return value == 0 || value == 1;
    return true;
  }

  template <class T>
  bool operator()(uint32_t number, const char* name, const Opt<T>& f) {
    if (!f.present || (is_sayable(f.value) && in_enumeration(name, f.value))) return false;
    odd.fields.push_back(name);
    put_tag(number, wire_type_of<T>());
    put_scalar(f.value);
    return false;
  }
  bool operator()(uint32_t number, const char* name, const Bytes& f) {
    if (!f.present() || is_bytes_field<M>(name) || is_utf8(f)) return false;
    odd.fields.push_back(name);
    put_text(number, f);
    return false;
  }
  bool operator()(uint32_t number, const char* name, const std::vector<Bytes>& f) {
    if (is_bytes_field<M>(name) ||
        std::all_of(f.begin(), f.end(), [](const Bytes& b) { return is_utf8(b); })) {
      return false;
    }
    odd.fields.push_back(name);
    for (const Bytes& b : f) put_text(number, b);
    return false;
  }
  template <class T, class... Rest>
  bool operator()(uint32_t number, const char* name, const Numbers<T>& f, Rest...) {
    if (!f.has_bytes()) return false;
    if (Status s = f.check(); !s.ok() && odd.problem.ok()) odd.problem = std::move(s).in(name);
    if constexpr (std::is_floating_point_v<T>) {
      const std::vector<T> values = f.values();
      if (std::all_of(values.begin(), values.end(), is_sayable<T>)) return false;
      odd.fields.push_back(name);
      for (T v : values) {  // readers take a packed field in single records too
        put_tag(number, wire_type_of<T>());
        put_scalar(v);
      }
    }
    return false;
  }
  template <class C>
  bool operator()(uint32_t, const char*, const Box<C>&) {
    return false;
  }
  template <class C>
  bool operator()(uint32_t, const char*, const std::vector<C>&) {
    return false;
  }
};

template <class M>
Oddities oddities(const M& m) {
  Oddities odd;
  Schema<M>::fields(OddFields<M>{odd}, m);
  odd.bytes += unknown_records(m);
  return odd;
}

}  // namespace sx::onnx
