// SPDX-License-Identifier: Apache-2.0
// Op: the record of one operator: its inputs, outputs and attributes, how types and shapes follow, how old
// versions are said in the newest one, and a portable evaluation. One file in src/ops makes one record.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "graph/attrs.h"
#include "tensor/dims.h"
#include "tensor/dtype.h"

namespace sx {

class Infer;
class Eval;
class Lift;
class BodyBuilder;

// What a type variable may be: tensors of some element types, and perhaps kinds other than tensors.
struct TypeSet {
  DTypeSet tensor;             // tensor(T)
  DTypeSet sequence;           // seq(tensor(T))
  DTypeSet optional;           // optional(tensor(T))
  DTypeSet optional_sequence;  // optional(seq(tensor(T)))
  // map(key, value) and sequences of them, which only ONNX-ML has.
  struct MapType {
    DType key, value;
    bool in_sequence = false;
  };
  std::vector<MapType> maps;
  TypeSet() = default;
  TypeSet(DTypeSet t) : tensor(t) {}
};

struct TypeVar {
  std::string_view name;  // "T"
  TypeSet types;
};

enum ParamFlags : unsigned { kOnce = 0, kOptional = 1, kVariadic = 2, kHeterogeneous = 4 };
struct Param {
  std::string_view name;
  std::string_view type;  // a type variable's name, or a fixed type such as "tensor(int64)"
  unsigned flags = kOnce;
  int least = 1;  // for variadic ones
};

// An attribute: required where it has no default and is not optional.
struct AttrDef {
  std::string_view name;
  AttrKind kind = AttrKind::integer;
  enum class Need : uint8_t { required, optional, defaulted } need = Need::optional;
  int64_t integer = 0;  // the defaults, by kind
  float floating = 0;
  std::string_view text = {};
};
constexpr AttrDef attr_int(std::string_view name, int64_t value) {
  return {name, AttrKind::integer, AttrDef::Need::defaulted, value};
}
constexpr AttrDef attr_float(std::string_view name, float value) {
  return {name, AttrKind::floating, AttrDef::Need::defaulted, 0, value};
}
constexpr AttrDef attr_text(std::string_view name, std::string_view value) {
  return {name, AttrKind::text, AttrDef::Need::defaulted, 0, 0, value};
}
constexpr AttrDef optional_attr(std::string_view name, AttrKind kind) {
  return {name, kind, AttrDef::Need::optional};
}
constexpr AttrDef required_attr(std::string_view name, AttrKind kind) {
  return {name, kind, AttrDef::Need::required};
}

// One version of an operator. `history` runs from the newest downwards; each entry says only what differs
// from the entry before it. `lift` says this version's meaning in the next newer one; null: the meaning is
// the same.
struct Version {
  int since = 1;
  std::vector<TypeVar> types = {};                 // variables whose set differs
  std::optional<std::vector<AttrDef>> attrs = {};  // the whole list, where it differs
  std::optional<std::vector<Param>> in = {}, out = {};
  Status (*lift)(Lift&) = nullptr;
  bool removed = false;  // the standard took the operator away at this version
};

// Outputs of Op::view_of's operators can be views of an input: the same memory under other dims and strides.
struct ViewArgs {
  const Attrs& attrs;
  std::span<const int64_t> dims, strides;  // of the input that is looked at, in elements
  std::span<const int64_t> out_dims;       // of the output
  FunctionRef<bool(size_t input, std::vector<int64_t>& v)> ints;  // contents of an integer input, where known
  size_t outputs = 1;                                             // of the node
};
struct ViewMap {
  int64_t offset = 0;  // in elements
  Dims strides;
};

struct Op {
  std::string_view name;
  std::string_view domain = "";  // "", "ai.onnx.ml", "sx", "sx.legacy"
  std::vector<Param> in, out;
  std::vector<TypeVar> types;
  std::vector<AttrDef> attrs;
  Status (*infer)(Infer&) = nullptr;
  Status (*eval)(Eval&) = nullptr;         // or
  Status (*body)(BodyBuilder&) = nullptr;  // the operator written in other operators
  std::vector<Version> history;            // newest first; the first entry has `since` alone
  // Where output `output` can be a view of input `view_of`: fills its offset and strides; false: it must be
  // copied.
  bool (*view)(const ViewArgs&, size_t output, ViewMap&) = nullptr;
  int view_of = 0;
  bool view_keeps_order = false;  // a contiguous input always gives a contiguous view
  bool pure = true;               // false: random numbers; never folded or merged
  bool control_flow = false;      // has bodies that run: If, Loop, Scan, SequenceMap

  int since() const { return history.empty() ? 1 : history.front().since; }
};

// The finished table of one version: the record with the deltas down to it applied.
struct OpVersion {
  int since = 1;
  std::vector<Param> in, out;
  std::vector<TypeVar> types;
  std::vector<AttrDef> attrs;
  bool removed = false;
};
// Output `output` of a node as a view, if the record can say it as one that stays within what it looks at.
bool make_view(const Op& op, const ViewArgs& args, size_t output, ViewMap& map);

OpVersion version_of(const Op& op, size_t history_index);
// Index into history of the version in force at `opset`; -1 if the operator is younger than that.
int history_at(const Op& op, int opset);

// Common type sets.
inline constexpr DTypeSet kF32 = DTypeSet::of(DType::f32);
inline constexpr DTypeSet kOldFloats = DTypeSet::of(DType::f16, DType::f32, DType::f64);
inline constexpr DTypeSet kFloats = kOldFloats | DTypeSet::of(DType::bf16);
inline constexpr DTypeSet kSignedInts = DTypeSet::of(DType::i8, DType::i16, DType::i32, DType::i64);
inline constexpr DTypeSet kUnsignedInts = DTypeSet::of(DType::u8, DType::u16, DType::u32, DType::u64);
inline constexpr DTypeSet kInts = kSignedInts | kUnsignedInts;
inline constexpr DTypeSet kIndices = DTypeSet::of(DType::i32, DType::i64);
inline constexpr DTypeSet kOldNumbers = kOldFloats | kInts;
inline constexpr DTypeSet kNumbers = kFloats | kInts;
inline constexpr DTypeSet kComplex = DTypeSet::of(DType::c64, DType::c128);
inline constexpr DTypeSet kBool = DTypeSet::of(DType::boolean);
inline constexpr DTypeSet kString = DTypeSet::of(DType::string);
inline constexpr DTypeSet kOldAll =
    kOldNumbers | kComplex | kBool | kString;  // all types before bfloat16 (opset ≤ 12)
inline constexpr DTypeSet kAll13 = kOldAll | DTypeSet::of(DType::bf16);
inline constexpr DTypeSet kFloat8 =
    DTypeSet::of(DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz);
inline constexpr DTypeSet kAll19 = kAll13 | kFloat8;                                     // IR 9
inline constexpr DTypeSet kAll21 = kAll19 | DTypeSet::of(DType::u4, DType::i4);          // IR 10
inline constexpr DTypeSet kAll23 = kAll21 | DTypeSet::of(DType::f4e2m1);                 // IR 11
inline constexpr DTypeSet kAll24 = kAll23 | DTypeSet::of(DType::f8e8m0);                 // IR 12
inline constexpr DTypeSet kAll25 = kAll24 | DTypeSet::of(DType::u2, DType::i2);          // IR 13
inline constexpr DTypeSet kAll28 = kAll25 | DTypeSet::of(DType::f6e2m3, DType::f6e3m2);  // IR 14

}  // namespace sx
