// SPDX-License-Identifier: Apache-2.0
// The wire format of Protocol Buffers: varints, records, groups. Lengths have 64 bits. Internal to src/onnx.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace sx::onnx {

enum class WireType : uint8_t {
  varint = 0,
  fixed64 = 1,
  length = 2,
  start_group = 3,
  end_group = 4,
  fixed32 = 5
};

// Why a record cannot be read.
struct WireProblem {
  enum class Kind : uint8_t {
    none,
    cut_number,
    long_number,
    big_tag,
    field_zero,
    bad_type,
    past_end,
    open_group,
    wrong_end,
    deep_group,
  };
  Kind kind = Kind::none;
  uint32_t number = 0;  // the field
  uint64_t expected = 0, found = 0;
  explicit operator bool() const { return kind != Kind::none; }
};
std::string describe(const WireProblem& problem);

struct Record {
  uint32_t number = 0;
  WireType type = WireType::varint;
  uint64_t value = 0;                // of varint, fixed32 and fixed64
  const uint8_t* begin = nullptr;    // of the tag
  const uint8_t* payload = nullptr;  // after tag and length
  const uint8_t* end = nullptr;
  std::span<const uint8_t> whole() const { return {begin, size_t(end - begin)}; }
  std::span<const uint8_t> bytes() const { return {payload, size_t(end - payload)}; }
};

inline constexpr int kMaxGroupDepth = 100;

// Advances `p`. A varint of more than ten bytes or more than 64 bits is refused; padded ones are not.
WireProblem::Kind read_varint_slow(const uint8_t*& p, const uint8_t* end, uint64_t& value);
inline WireProblem::Kind read_varint(const uint8_t*& p, const uint8_t* end, uint64_t& value) {
  if (p < end && *p < 0x80) {
    value = *p++;
    return WireProblem::Kind::none;
  }
  return read_varint_slow(p, end, value);
}

// The record at `p`, which must be before `end`; advances `p` past it. A group is one record with its end
// tag.
WireProblem read_record(const uint8_t*& p, const uint8_t* end, Record& record);

inline int varint_size(uint64_t value) { return value == 0 ? 1 : (63 - __builtin_clzll(value)) / 7 + 1; }
// Writes `value` in exactly `width` bytes (at least varint_size, at most 10), padded if it is wider.
void write_varint(uint8_t* to, uint64_t value, int width);

}  // namespace sx::onnx
