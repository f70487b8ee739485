// SPDX-License-Identifier: Apache-2.0
#include "show.h"

#include "base/format.h"
#include "ops/engine/codec.h"
#include "terminal.h"

namespace sx::tools {
namespace {

std::string element(const Tensor& t, int64_t i) {
  if (t.type() == DType::string) return "'" + escaped(t.strings()[size_t(i)]) + "'";
  if (dtype_is_complex(t.type())) return "…";
  if (t.type() == DType::i64) return std::to_string(t.as<int64_t>()[size_t(i)]);
  double v = 0;
  decode<double>(t.type(), t.data(), i, 1, 1, &v);
  if (t.type() == DType::boolean) return v != 0 ? "true" : "false";
  return format("{:.6g}", v);
}

}  // namespace

std::string preview(const Value& value, size_t most) {
  std::string text;
  switch (value.kind) {
    case Value::Kind::tensor:
      for (int64_t i = 0; i < value.tensor.count() && size_t(i) < most; ++i)
        text += (i ? " " : "") + element(value.tensor, i);
      if (size_t(value.tensor.count()) > most) text += format(" … ({})", value.tensor.count());
      return text;
    case Value::Kind::sequence: {
      const auto& items = value.sequence->items;
      for (size_t i = 0; i < items.size() && i < 2; ++i) text += (i ? ", " : "") + preview(items[i], 4);
      if (items.size() > 2) text += format(", … ({} items)", items.size());
      return "[" + text + "]";
    }
    case Value::Kind::map:
      for (size_t i = 0; i < value.map->values.size() && i < 4; ++i) {
        const std::string key = value.map->key_type == DType::string ? escaped(value.map->string_keys[i])
                                                                     : std::to_string(value.map->int_keys[i]);
        text += (i ? ", " : "") + key + ": " + preview(value.map->values[i], 1);
      }
      return "{" + text + (value.map->values.size() > 4 ? ", …}" : "}");
    case Value::Kind::optional: return value.optional ? preview(*value.optional, most) : "empty";
    default: return std::string(kind_name(value.kind));
  }
}

}  // namespace sx::tools
