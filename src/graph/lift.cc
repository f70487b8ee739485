// SPDX-License-Identifier: Apache-2.0
// What version steps are written with.
#include "graph/lift.h"

#include "graph/builder.h"
#include "graph/op.h"

namespace sx {

const Tensor* Lift::constant(size_t i) const {
  if (!has(i)) return nullptr;
  const Value& v = graph_.value(in(i)).constant;
  return v.is_tensor() ? &v.tensor : nullptr;
}

void Lift::set_input(size_t i, ValueId v) {
  while (inputs() <= i) graph_.append_input(node_, kNoValue);
  graph_.set_input(node_, i, v);
}

void Lift::set_type(std::string_view op_name, std::string_view domain) {
  become_ = find_op(domain, op_name);
  Node& n = graph_.node(node_);
  n.op = become_;
  n.type = op_name;
  n.domain = domain;
  if (!become_ && status_.ok()) status_ = fail("there is no operator {} to say it with", op_name);
}

void Lift::attr_to_input(std::string_view name, size_t i) {
  const auto* list = attrs().get<std::vector<int64_t>>(name);
  if (!list) return;
  const ValueId v = ints(std::span<const int64_t>(*list));
  attrs().erase(name);
  set_input(i, v);
}

ValueId Lift::constant(Tensor t) { return graph_.add_constant(graph_.node(node_).body, Value(std::move(t))); }
ValueId Lift::ints(std::initializer_list<int64_t> v) { return ints(std::span(v.begin(), v.size())); }
ValueId Lift::ints(std::span<const int64_t> v) { return constant(Tensor::vector_i64(v)); }

ValueId Lift::node(std::string_view op, std::vector<ValueId> inputs, Attrs attrs, std::string_view domain) {
  return nodes(op, std::move(inputs), std::move(attrs), 1, domain)[0];
}

std::vector<ValueId> Lift::nodes(std::string_view op, std::vector<ValueId> inputs, Attrs attrs,
                                 size_t outputs, std::string_view domain) {
  Builder builder(graph_, graph_.node(node_).body, node_);
  builder.set_origin(sx::format("{}-{}", graph_.node(node_).type, from_));
  auto made = builder.ops(op, std::move(inputs), std::move(attrs), outputs, domain);
  graph_.node(builder.last()).name = graph_.node(node_).name;
  graph_.node(builder.last()).version = graph_.node(node_).version;
  if (status_.ok()) status_ = builder.status();
  return made;
}

void Lift::replace(std::initializer_list<ValueId> outputs) {
  size_t i = 0;
  for (ValueId v : outputs) {
    const ValueId old = i < this->outputs() ? graph_.node(node_).outputs[i] : kNoValue;
    ++i;
    if (old == kNoValue || v == kNoValue) continue;
    const std::string name = graph_.value(old).name;
    const bool made_here =
        graph_.value(v).producer != kNoNode && graph_.value(v).name.find('~') != std::string::npos;
    substitute(graph_, old, v);
    if (made_here) graph_.value(v).name = name;
  }
  results_ = outputs;
  replaced_ = true;
}

}  // namespace sx
