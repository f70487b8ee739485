// SPDX-License-Identifier: Apache-2.0
#include "tensor/value.h"

#include "base/task.h"

namespace sx {
namespace {

// Something whose memory is counted in the account of the task that made it.
template <class T>
struct Counted {
  T thing;
  MemoryCharge charge;
};
template <class T>
std::shared_ptr<const T> counted(T thing, size_t bytes) {
  MemoryBudget* memory = current_task().memory;
  MemoryCharge charge(memory ? memory->shared_from_this() : nullptr, 0);
  charge.add(bytes);
  auto holder = std::make_shared<Counted<T>>(Counted<T>{std::move(thing), std::move(charge)});
  return std::shared_ptr<const T>(holder, &holder->thing);
}

}  // namespace

Value Value::of_sequence(std::vector<Value> items) {
  Value v;
  v.kind = Kind::sequence;
  const size_t bytes = items.capacity() * sizeof(Value);
  v.sequence = counted(Sequence{std::move(items)}, bytes);
  return v;
}

Value Value::of_map(Map map) {
  Value v;
  v.kind = Kind::map;
  size_t bytes = map.values.capacity() * sizeof(Value) + map.int_keys.capacity() * sizeof(int64_t);
  for (const std::string& key : map.string_keys) bytes += sizeof(std::string) + key.capacity();
  v.map = counted(std::move(map), bytes);
  return v;
}

Value Value::of_sparse(SparseTensor sparse) {
  Value v;
  v.kind = Kind::sparse;
  v.sparse = std::make_shared<const SparseTensor>(std::move(sparse));
  return v;
}

Value Value::of_optional(Value inner) {
  Value v;
  v.kind = Kind::optional;
  v.optional = std::make_shared<const Value>(std::move(inner));
  return v;
}

Value Value::empty_optional() {
  Value v;
  v.kind = Kind::optional;
  return v;
}

std::string_view kind_name(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::none: return "nothing";
    case Value::Kind::tensor: return "tensor";
    case Value::Kind::sequence: return "sequence";
    case Value::Kind::map: return "map";
    case Value::Kind::optional: return "optional";
    case Value::Kind::sparse: return "sparse tensor";
  }
  return "?";
}

}  // namespace sx
