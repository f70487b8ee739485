// SPDX-License-Identifier: Apache-2.0
// sx_dump_ops: every version of every operator record as JSON, for the comparison with onnx.defs.
#include <cstdio>
#include <string>

#include "base/format.h"
#include "ops/registry.h"

using namespace sx;

namespace {

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string onnx_element(DType t) {
  const std::string_view name = dtype_name(t);
  if (name == "float32") return "float";
  return name == "float64" ? "double" : std::string(name);
}

void add(DTypeSet set, std::string_view before, std::string_view after, std::string& out) {
  for (int t = 1; t < kDTypeCount; ++t) {
    if (!set.has(DType(t))) continue;
    out += out.empty() ? "" : ", ";
    out += quoted(std::string(before) + onnx_element(DType(t)) + std::string(after));
  }
}

std::string types_of(const TypeSet& set) {
  std::string out;
  add(set.tensor, "tensor(", ")", out);
  add(set.sequence, "seq(tensor(", "))", out);
  add(set.optional, "optional(tensor(", "))", out);
  add(set.optional_sequence, "optional(seq(tensor(", ")))", out);
  for (const TypeSet::MapType& m : set.maps) {
    const std::string map = "map(" + onnx_element(m.key) + ", " + onnx_element(m.value) + ")";
    out += out.empty() ? "" : ", ";
    out += quoted(m.in_sequence ? "seq(" + map + ")" : map);
  }
  return out;
}

std::string params_of(const std::vector<Param>& params) {
  std::string out;
  for (const Param& p : params) {
    const char* option = p.flags & kVariadic ? "Variadic" : p.flags & kOptional ? "Optional" : "Single";
    out += out.empty() ? "" : ", ";
    out +=
        format(R"({{"name": "{}", "type": "{}", "option": "{}", "same": {}, "least": {}}})", p.name, p.type,
               option, p.flags & kHeterogeneous ? "false" : "true", p.flags & kVariadic ? p.least : 1);
  }
  return "[" + out + "]";
}

std::string attrs_of(const std::vector<AttrDef>& attrs) {
  static const char* const kKinds[] = {
      "",        "INT",   "FLOAT",  "STRING",     "INTS",        "FLOATS",        "STRINGS",       "TENSOR",
      "TENSORS", "GRAPH", "GRAPHS", "TYPE_PROTO", "TYPE_PROTOS", "SPARSE_TENSOR", "SPARSE_TENSORS"};
  std::string out;
  for (const AttrDef& a : attrs) {
    std::string value = "null";
    if (a.need == AttrDef::Need::defaulted) {
      if (a.kind == AttrKind::integer) value = std::to_string(a.integer);
      if (a.kind == AttrKind::floating) value = format("{}", a.floating);
      if (a.kind == AttrKind::text) value = quoted(a.text);
    }
    out += out.empty() ? "" : ", ";
    out += format(R"({{"name": "{}", "kind": "{}", "required": {}, "default": {}}})", a.name,
                  kKinds[size_t(a.kind)], a.need == AttrDef::Need::required ? "true" : "false", value);
  }
  return "[" + out + "]";
}

}  // namespace

int main() {
  std::string out;
  for (const Op* op : all_ops()) {
    for (size_t h = 0; h < std::max<size_t>(1, op->history.size()); ++h) {
      const OpVersion v = version_of(*op, h);
      std::string types;
      for (const TypeVar& t : v.types) {
        types += (types.empty() ? "" : ", ") + quoted(t.name) + ": [" + types_of(t.types) + "]";
      }
      out += out.empty() ? "" : ",\n";
      out += format(
          R"({{"domain": "{}", "name": "{}", "since": {}, "removed": {}, "evaluates": {}, "inputs": {}, "outputs": {}, "types": {{{}}}, "attributes": {}}})",
          op->domain, op->name, v.since, v.removed ? "true" : "false",
          op->eval || op->body ? "true" : "false", params_of(v.in), params_of(v.out), types,
          attrs_of(v.attrs));
    }
  }
  std::printf("[%s]\n", out.c_str());
  return 0;
}
