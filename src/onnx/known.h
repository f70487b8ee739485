// SPDX-License-Identifier: Apache-2.0
// Which records a message has a field for. The others are unknown fields, which are kept. Internal to
// src/onnx.
#pragma once
#include <string>
#include <type_traits>

#include "onnx/schema.h"
#include "onnx/wire.h"

namespace sx::onnx {

template <class T>
constexpr WireType wire_type_of() {
  return std::is_same_v<T, float>    ? WireType::fixed32
         : std::is_same_v<T, double> ? WireType::fixed64
                                     : WireType::varint;
}

template <class F>
bool takes(const Opt<F>&, WireType t) {
  return t == wire_type_of<F>();
}
template <class F>
bool takes(const Numbers<F>&, WireType t) {
  return t == wire_type_of<F>() || t == WireType::length;
}
template <class F>
bool takes(const F&, WireType t) {
  return t == WireType::length;
}

// Whether a record belongs to a field of the message, or is an unknown one.
struct Known {
  const Record& record;
  bool known = false;
  template <class F, class... Rest>
  bool operator()(uint32_t number, const char*, const F& f, Rest...) {
    if (number != record.number) return false;
    known = takes(f, record.type);
    return true;
  }
};

template <class M>
bool is_known(const Record& record, const M& m) {
  Known known{record};
  Schema<M>::fields(known, m);
  return known.known;
}

// The unknown fields of a message as they were read, one after the other.
template <class M>
std::string unknown_records(const M& m) {
  std::string records;
  const uint8_t* p = m.origin.data();
  const uint8_t* const end = p + m.origin.size();
  Record r;
  while (p < end && !read_record(p, end, r)) {
    if (!is_known(r, m)) records.append(reinterpret_cast<const char*>(r.begin), size_t(r.end - r.begin));
  }
  return records;
}

}  // namespace sx::onnx
