// SPDX-License-Identifier: Apache-2.0
#include "graph/evaluate.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "base/contained.h"
#include "base/task.h"
#include "graph/builder.h"
#include "graph/infer.h"
#include "graph/infer_graph.h"
#include "graph/op.h"

namespace sx {
namespace {

using Values = std::vector<Value>;

// The node's own inference on concrete types: checks the inputs and says which outputs can be allocated now.
Status prepare_outputs(const Op& op, const Attrs& attrs, Eval& e, const EvaluateOptions& options) {
  std::vector<Infer::In> in(e.inputs());
  for (size_t i = 0; i < in.size(); ++i) {
    const Value& v = e.value(i);
    if (v.kind == Value::Kind::none) continue;
    in[i] = {true, type_of(v), &v, nullptr};
  }
  DimPool pool;
  Infer infer(op, attrs, std::move(in), e.outputs(), pool);
  infer.widen = options.widen;
  for (size_t i = 0; i < e.outputs(); ++i) infer.results()[i].wanted = e.wanted(i);
  // The values given are wrong, not the model.
  if (Status s = infer.run(); !s.ok()) return Status(Code::invalid_argument, s.message());
  for (size_t i = 0; i < e.outputs(); ++i) {
    const Type& type = infer.results()[i].type;
    const bool written = e.wanted(i) || (i < op.out.size() && op.out[i].flags == kOnce);
    if (!written || !type.is_tensor() || type.elem == DType::undefined || !type.shape.is_constant()) continue;
    Dims dims;
    for (Dim d : type.shape.dims) dims.push_back(d.constant());
    SX_TRY(e.allocate(i, options.widen ? widened(type.elem) : type.elem, std::move(dims)));
  }
  return {};
}

// An operator that is written in others: its body in a graph of its own.
Result<Values> evaluate_expansion(const Op& op, const Attrs& attrs, std::span<const Value> inputs,
                                  size_t outputs, const EvaluateOptions& options) {
  Graph graph;
  std::vector<ValueId> in;
  for (const Value& v : inputs) {
    in.push_back(v.kind == Value::Kind::none ? kNoValue : graph.add_input(kMainBody, {}, type_of(v)));
  }
  const NodeId node = graph.add_node(kMainBody, &op, in, attrs, outputs);
  BodyBuilder builder(graph, node);
  SX_TRY(op.body(builder));
  SX_TRY(builder.status());
  std::vector<ValueId> results = builder.results();
  results.resize(outputs, kNoValue);
  graph.remove_node(node);
  Values given;
  for (const Value& v : inputs) {
    if (v.kind != Value::Kind::none) given.push_back(v);
  }
  std::vector<ValueId> made;
  for (ValueId v : results) {
    if (v != kNoValue) made.push_back(v);
  }
  graph.set_outputs(kMainBody, made);
  EvaluateOptions inner = options;
  inner.tap = {};
  SX_ASSIGN(Values values, evaluate_body(graph, kMainBody, given, inner));
  Values out(outputs);
  for (size_t i = 0, k = 0; i < outputs; ++i) {
    if (results[i] != kNoValue) out[i] = std::move(values[k++]);
  }
  return out;
}

void add_bodies(const AttrValue& v, std::vector<BodyId>& bodies) {
  if (const auto* one = std::get_if<BodyRef>(&v)) bodies.push_back(one->id);
  if (const auto* many = std::get_if<std::vector<BodyRef>>(&v)) {
    for (const BodyRef& b : *many) bodies.push_back(b.id);
  }
}

// The values of one run of a body, each kept until the last node that reads it.
class Frame {
 public:
  Frame(const Graph& graph, BodyId body, const EvaluateOptions& options, FindValue outer)
      : graph_(graph), body_(graph.body(body)), options_(options), outer_(outer) {
    size_t at = 0;
    for (NodeId n : body_.nodes) note_uses(n, at++);
    for (ValueId v : body_.outputs) last_use_[v] = SIZE_MAX;
  }

  Result<Values> run(std::span<const Value> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!options_.widen)
        values_[body_.inputs[i]] = inputs[i];
      else {
        SX_ASSIGN(values_[body_.inputs[i]], widen(inputs[i]));
      }
    }
    size_t at = 0;
    for (NodeId n : body_.nodes) {
      if (options_.cancel) SX_TRY(options_.cancel->check());
      SX_TRY(step(n));
      release(at++);
    }
    Values out;
    for (ValueId v : body_.outputs) {
      const Value* found = find(v);
      if (!found) return missing(v);
      out.push_back(*found);
    }
    return out;
  }

 private:
  Status step(NodeId id) {
    const Node& node = graph_.node(id);
    Values in(node.inputs.size());
    for (size_t i = 0; i < in.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      const Value* v = find(node.inputs[i]);
      if (!v) return missing(node.inputs[i]).in(describe(graph_, id));
      in[i] = *v;
    }
    auto made = evaluate_node(graph_, id, in, options_, [this](ValueId v) { return find(v); });
    if (!made.ok()) return std::move(made).status().in(describe(graph_, id));
    Values& out = *made;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      if (options_.tap) options_.tap(node.outputs[i], out[i]);
      values_[node.outputs[i]] = std::move(out[i]);
    }
    return {};
  }

  const Value* find(ValueId id) {
    if (auto it = values_.find(id); it != values_.end()) return &it->second;
    const ValueInfo& info = graph_.value(id);
    if (info.is_constant()) {
      if (!options_.widen) return &info.constant;
      auto wide = widen(info.constant);
      if (!wide.ok()) return nullptr;
      return &(values_[id] = std::move(wide).value());
    }
    return outer_ ? outer_(id) : nullptr;
  }

  Status missing(ValueId v) const {
    return error(Code::internal, "value '{}' is read before it is made", graph_.value(v).name);
  }

  void note_uses(NodeId id, size_t at) {
    const Node& node = graph_.node(id);
    for (ValueId v : node.inputs) note_use(v, at);
    std::vector<BodyId> bodies;
    for (const Attr& a : node.attrs.list()) add_bodies(a.value, bodies);
    for (BodyId b : bodies) {
      for (NodeId n : graph_.body(b).nodes) note_uses(n, at);
      for (ValueId v : graph_.body(b).outputs) note_use(v, at);
    }
  }
  void note_use(ValueId v, size_t at) {
    if (v == kNoValue) return;
    last_use_[v] = at;
    if (ends_.size() <= at) ends_.resize(at + 1);
    ends_[at].push_back(v);
  }
  void release(size_t at) {
    if (at >= ends_.size()) return;
    for (ValueId v : ends_[at]) {
      if (last_use_[v] == at) values_.erase(v);
    }
  }

  const Graph& graph_;
  const Body& body_;
  const EvaluateOptions& options_;
  FindValue outer_;
  std::unordered_map<ValueId, Value> values_;
  std::unordered_map<ValueId, size_t> last_use_;
  std::vector<std::vector<ValueId>> ends_;
};

double from_half(uint16_t h) {
  const int exponent = h >> 10 & 31;
  const double fraction = h & 1023;
  double v =
      exponent == 0 ? fraction * 0x1p-24 : (1024 + fraction) * double(uint64_t(1) << exponent) * 0x1p-25;
  if (exponent == 31) v = fraction == 0 ? __builtin_inf() : __builtin_nan("");
  return h & 0x8000 ? -v : v;
}

Result<Tensor> widen_tensor(const Tensor& t) {
  if (widened(t.type()) == t.type()) return t;
  SX_ASSIGN(Tensor wide, Tensor::allocate(widened(t.type()), t.dims()));
  const auto* bytes = static_cast<const char*>(t.data());
  auto* to = static_cast<double*>(wide.mutable_data());
  const size_t numbers = size_t(t.count()) * (t.type() == DType::c64 ? 2 : 1);
  for (size_t i = 0; i < numbers; ++i) {
    if (t.type() == DType::f32 || t.type() == DType::c64) {
      float v;
      __builtin_memcpy(&v, bytes + 4 * i, 4);
      to[i] = v;
      continue;
    }
    uint16_t h;
    __builtin_memcpy(&h, bytes + 2 * i, 2);
    if (t.type() == DType::f16) {
      to[i] = from_half(h);
    } else {
      const uint32_t bits = uint32_t(h) << 16;
      float v;
      __builtin_memcpy(&v, &bits, 4);
      to[i] = v;
    }
  }
  return wide;
}

Status widen_all(std::vector<Value>& values) {
  for (Value& v : values) {
    SX_ASSIGN(v, widen(v));
  }
  return {};
}

}  // namespace

Result<Value> widen(const Value& value) {
  switch (value.kind) {
    case Value::Kind::tensor: {
      SX_ASSIGN(Tensor t, widen_tensor(value.tensor));
      return Value(std::move(t));
    }
    case Value::Kind::sequence: {
      std::vector<Value> items = value.sequence->items;
      SX_TRY(widen_all(items));
      return Value::of_sequence(std::move(items));
    }
    case Value::Kind::map: {
      Map map = *value.map;
      SX_TRY(widen_all(map.values));
      return Value::of_map(std::move(map));
    }
    case Value::Kind::optional: {
      if (!value.optional) return value;
      SX_ASSIGN(Value inner, widen(*value.optional));
      return Value::of_optional(std::move(inner));
    }
    case Value::Kind::sparse: {
      SparseTensor sparse = *value.sparse;
      SX_ASSIGN(sparse.values, widen_tensor(sparse.values));
      return Value::of_sparse(std::move(sparse));
    }
    case Value::Kind::none: break;
  }
  return value;
}

// Results without elements, where an evaluation would walk the long axes beside a zero.
static bool walks_for_nothing(Eval& e) {
  bool vast = false;
  for (const Value& v : e.all_inputs()) vast = vast || (v.is_tensor() && vast_and_empty(v.tensor.dims()));
  for (size_t i = 0; i < e.outputs(); ++i) {
    if (!e.wanted(i)) continue;
    if (!e.out(i).defined() || e.out(i).count() > 0) return false;
    vast = vast || vast_and_empty(e.out(i).dims());
  }
  return vast;
}

Result<Values> evaluate_op(const Op& op, const Attrs& attrs, std::span<const Value> inputs,
                           std::span<const bool> wanted, const EvaluateOptions& options,
                           const BodyTools& bodies) {
  if (!op.eval && op.body) return evaluate_expansion(op, attrs, inputs, wanted.size(), options);
  if (!op.eval) return error(Code::unsupported, "{} has no evaluation", op.name);
  Eval e(op, attrs, inputs, wanted.size());
  e.run_body = bodies.run;
  e.out_types = bodies.out_types;
  e.infer_outputs = bodies.infer_outputs;
  e.cancel = options.cancel;
  e.widen = options.widen;
  if (options.widen) e.accumulate = Accumulate::f64;
  for (size_t i = 0; i < wanted.size(); ++i) e.set_wanted(i, wanted[i]);
  // Types of bodies follow from running them.
  if (op.infer && !op.control_flow) SX_TRY(prepare_outputs(op, attrs, e, options));
  Task task = current_task();
  if (options.cancel) task.cancel = options.cancel;
  const TaskScope scope(task);
  const RefusalWatch watch;
  Status evaluated = walks_for_nothing(e) ? Status() : contained([&] { return op.eval(e); });
  if (!watch.seen().ok() && evaluated.code() != Code::out_of_memory) return watch.seen();
  SX_TRY(check_stop());  // a stopped evaluation is left half done, and may fail for that
  SX_TRY(std::move(evaluated));
  SX_TRY(check_memory());
  for (size_t i = 0; i < wanted.size(); ++i) {
    Value& v = e.results()[i];
    if (v.kind == Value::Kind::none && v.tensor.defined()) v.kind = Value::Kind::tensor;
    if (wanted[i] && v.kind == Value::Kind::none) {
      return error(Code::internal, "the evaluation of {} made no output {}", op.name, i);
    }
  }
  e.results().resize(wanted.size());
  if (options.widen) SX_TRY(widen_all(e.results()));
  return std::move(e.results());
}

Result<Values> evaluate_node(const Graph& graph, NodeId id, std::span<const Value> inputs,
                             const EvaluateOptions& options, FindValue scope) {
  const Node& node = graph.node(id);
  if (!node.op) {
    return error(Code::unsupported, "operator {} of domain '{}' is not known", node.type, node.domain);
  }
  const size_t n = node.outputs.size();
  const auto wanted = std::make_unique<bool[]>(n);
  for (size_t i = 0; i < n; ++i) wanted[i] = node.outputs[i] != kNoValue;
  auto run_body = [&](BodyId body, std::span<const Value> in) {
    return evaluate_body(graph, body, in, options, scope);
  };
  std::vector<Type> types;
  for (size_t i = 0; i < n && node.op->control_flow; ++i) {
    types.push_back(wanted[i] ? graph.value(node.outputs[i]).type : Type());
  }
  auto infer_outputs = [&] {
    return infer_given(graph, id, [&](ValueId v) -> const Dims* {
      const auto it = std::find(node.inputs.begin(), node.inputs.end(), v);
      const Value* found = it != node.inputs.end() ? &inputs[size_t(it - node.inputs.begin())]
                           : scope                 ? scope(v)
                                                   : nullptr;
      return found && found->is_tensor() ? &found->tensor.dims() : nullptr;
    });
  };
  return evaluate_op(*node.op, node.attrs, inputs, {wanted.get(), n}, options,
                     {run_body, types, infer_outputs});
}

Result<Values> evaluate_body(const Graph& graph, BodyId body, std::span<const Value> inputs,
                             const EvaluateOptions& options, FindValue scope) {
  const Body& b = graph.body(body);
  if (b.inputs.size() != inputs.size()) {
    return error(Code::invalid_argument, "'{}' takes {} inputs, {} were given", b.name, b.inputs.size(),
                 inputs.size());
  }
  return Frame(graph, body, options, scope).run(inputs);
}

Result<Values> evaluate_graph(const Graph& graph, std::span<const Value> inputs,
                              const EvaluateOptions& options) {
  SX_ASSIGN(Values out, evaluate_body(graph, kMainBody, inputs, options));
  for (Value& v : out) {  // an input or a constant that was handed on may lie anywhere
    if (!v.is_tensor()) continue;
    SX_ASSIGN(v.tensor, v.tensor.align());
  }
  return out;
}

}  // namespace sx
