// SPDX-License-Identifier: Apache-2.0
#include "onnx/wire.h"

#include <cstring>

#include "base/format.h"

namespace sx::onnx {
namespace {

using Kind = WireProblem::Kind;

Kind read_tag(const uint8_t*& p, const uint8_t* end, uint32_t& number, unsigned& type) {
  const uint8_t* const begin = p;
  uint64_t tag = 0;
  if (Kind k = read_varint(p, end, tag); k != Kind::none) return k;
  if (p - begin > 5 || tag > UINT32_MAX) return Kind::big_tag;
  number = uint32_t(tag >> 3);
  type = unsigned(tag & 7);
  return number == 0 ? Kind::field_zero : Kind::none;
}

WireProblem skip_simple(const uint8_t*& p, const uint8_t* end, uint32_t number, unsigned type,
                        uint64_t& value, const uint8_t*& payload) {
  const uint64_t left = uint64_t(end - p);
  payload = p;
  switch (WireType(type)) {
    case WireType::varint: {
      const Kind k = read_varint(p, end, value);
      return {k, number};
    }
    case WireType::fixed64:
      if (left < 8) return {Kind::past_end, number, 8, left};
      std::memcpy(&value, p, 8);
      p += 8;
      return {};
    case WireType::fixed32: {
      if (left < 4) return {Kind::past_end, number, 4, left};
      uint32_t v = 0;
      std::memcpy(&v, p, 4);
      value = v;
      p += 4;
      return {};
    }
    case WireType::length: {
      uint64_t length = 0;
      if (Kind k = read_varint(p, end, length); k != Kind::none) return {k, number};
      if (length > uint64_t(end - p)) return {Kind::past_end, number, length, uint64_t(end - p)};
      payload = p;
      p += length;
      return {};
    }
    default: return {Kind::bad_type, number, 0, type};
  }
}

// From after the start tag to after the matching end tag; no recursion.
WireProblem skip_group(const uint8_t*& p, const uint8_t* end, uint32_t number) {
  uint32_t open[kMaxGroupDepth];
  int depth = 0;
  open[depth++] = number;
  while (depth > 0) {
    if (p == end) return {Kind::open_group, open[depth - 1]};
    uint32_t field = 0;
    unsigned type = 0;
    if (Kind k = read_tag(p, end, field, type); k != Kind::none) return {k, field};
    if (type == unsigned(WireType::start_group)) {
      if (depth == kMaxGroupDepth) return {Kind::deep_group, field, kMaxGroupDepth};
      open[depth++] = field;
    } else if (type == unsigned(WireType::end_group)) {
      if (open[depth - 1] != field) return {Kind::wrong_end, field, open[depth - 1], field};
      --depth;
    } else {
      uint64_t value = 0;
      const uint8_t* payload = nullptr;
      if (WireProblem w = skip_simple(p, end, field, type, value, payload)) return w;
    }
  }
  return {};
}

}  // namespace

Kind read_varint_slow(const uint8_t*& p, const uint8_t* end, uint64_t& value) {
  uint64_t v = 0;
  for (int i = 0; i < 10; ++i) {
    if (p == end) return Kind::cut_number;
    const uint8_t byte = *p++;
    if (i == 9 && byte > 1) return Kind::long_number;
    v |= uint64_t(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      value = v;
      return Kind::none;
    }
  }
  return Kind::long_number;
}

WireProblem read_record(const uint8_t*& p, const uint8_t* end, Record& record) {
  record.begin = p;
  unsigned type = 0;
  if (Kind k = read_tag(p, end, record.number, type); k != Kind::none) return {k, record.number};
  record.type = WireType(type);
  if (record.type == WireType::start_group) {
    record.payload = p;
    if (WireProblem w = skip_group(p, end, record.number)) return w;
  } else if (record.type == WireType::end_group) {
    return {Kind::wrong_end, record.number, 0, record.number};
  } else if (WireProblem w = skip_simple(p, end, record.number, type, record.value, record.payload)) {
    return w;
  }
  record.end = p;
  return {};
}

void write_varint(uint8_t* to, uint64_t value, int width) {
  for (int i = 0; i + 1 < width; ++i) {
    to[i] = uint8_t(value | 0x80);
    value >>= 7;
  }
  to[width - 1] = uint8_t(value & 0x7f);
}

std::string describe(const WireProblem& w) {
  switch (w.kind) {
    case Kind::none: return "nothing wrong";
    case Kind::cut_number: return "the message ends inside a number";
    case Kind::long_number: return "a number takes more than 64 bits (at most 10 bytes are expected)";
    case Kind::big_tag: return "a field number takes more than 29 bits";
    case Kind::field_zero: return "found field number 0, which does not exist";
    case Kind::bad_type: return format("field {} has wire type {}, expected 0 to 5", w.number, w.found);
    case Kind::past_end:
      return format("field {} says it has {} bytes, its message has {} left", w.number, w.expected, w.found);
    case Kind::open_group: return format("group {} has no end", w.number);
    case Kind::wrong_end:
      if (w.expected == 0) return format("found the end of group {} without a start", w.found);
      return format("found the end of group {}, expected the end of group {}", w.found, w.expected);
    case Kind::deep_group: return format("groups are nested deeper than {} levels", w.expected);
  }
  return "unreadable";
}

}  // namespace sx::onnx
