// SPDX-License-Identifier: Apache-2.0
#include "work.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/format.h"
#include "convert/convert.h"
#include "graph/op.h"
#include "terminal.h"

namespace sx::tools {
namespace {

Dim product(std::span<const Dim> dims) {
  Dim n = 1;
  for (Dim d : dims) n = n * d;
  return n;
}

class Counter {
 public:
  explicit Counter(const Graph& graph) : graph_(graph) {}

  // Multiply-adds of one body run once.
  Result<Dim> body(BodyId id) {
    Dim sum = 0;
    for (NodeId n : graph_.body(id).nodes) {
      if (graph_.node(n).removed) continue;
      auto found = node(graph_.node(n));
      if (!found.ok()) return std::move(found).in(describe(graph_, n));
      sum = sum + *found;
    }
    return sum;
  }

  // By operator type, nodes of the main body.
  Result<std::vector<std::pair<std::string, Dim>>> by_operator() {
    std::vector<std::pair<std::string, Dim>> list;
    for (NodeId id : graph_.main().nodes) {
      const Node& n = graph_.node(id);
      if (n.removed) continue;
      auto part = node(n);
      if (!part.ok()) return std::move(part).status().in(describe(graph_, id));
      if (part->is_constant(0)) continue;
      auto it = std::find_if(list.begin(), list.end(), [&](const auto& p) { return p.first == n.type; });
      if (it == list.end()) it = list.insert(list.end(), {n.type, Dim(0)});
      it->second = it->second + *part;
    }
    return list;
  }

 private:
  Result<std::span<const Dim>> dims(const Node& n, size_t input) {
    if (input >= n.inputs.size() || n.inputs[input] == kNoValue)
      return error(Code::invalid_model, "input {} is not given", input);
    return dims(n.inputs[input]);
  }
  Result<std::span<const Dim>> dims(ValueId v) {
    const Type& type = graph_.value(v).type;
    if (!type.is_tensor() || !type.shape.known)
      return error(Code::unsupported, "the shape of '{}' is not known", graph_.value(v).name);
    return std::span<const Dim>(type.shape.dims);
  }

  Result<Dim> node(const Node& n) {
    if (n.op && n.op->control_flow) return control(n);
    static const std::map<std::string_view, Result<Dim> (Counter::*)(const Node&)> kFormulas = {
        {"MatMul", &Counter::matmul},
        {"MatMulInteger", &Counter::matmul},
        {"QLinearMatMul", &Counter::matmul},
        {"Gemm", &Counter::gemm},
        {"Conv", &Counter::conv},
        {"ConvInteger", &Counter::conv},
        {"QLinearConv", &Counter::conv},
        {"DeformConv", &Counter::conv},
        {"ConvTranspose", &Counter::conv_transpose},
        {"Attention", &Counter::attention},
        {"LSTM", &Counter::recurrent},
        {"GRU", &Counter::recurrent},
        {"RNN", &Counter::recurrent},
        {"Einsum", &Counter::einsum}};
    const auto it = kFormulas.find(n.type);
    if (it == kFormulas.end() || !n.domain.empty()) return Dim(0);
    return (this->*it->second)(n);
  }

  Result<Dim> matmul(const Node& n) {
    SX_ASSIGN(const auto a, dims(n, 0));
    SX_ASSIGN(const auto y, dims(n.outputs[0]));
    return a.empty() ? Dim(0) : product(y) * a.back();
  }
  Result<Dim> gemm(const Node& n) {
    SX_ASSIGN(const auto a, dims(n, 0));
    SX_ASSIGN(const auto y, dims(n.outputs[0]));
    return a.size() != 2 ? Dim(0) : product(y) * a[n.attrs.integer("transA", 0) ? 0 : 1];
  }
  Result<Dim> conv(const Node& n) {
    SX_ASSIGN(const auto w, dims(n, n.type == "QLinearConv" ? 3 : 1));
    SX_ASSIGN(const auto y, dims(n.outputs[0]));
    return w.empty() ? Dim(0) : product(y) * product(w.subspan(1));
  }
  Result<Dim> conv_transpose(const Node& n) {
    SX_ASSIGN(const auto x, dims(n, 0));
    SX_ASSIGN(const auto w, dims(n, 1));
    return w.empty() ? Dim(0) : product(x) * product(w.subspan(1));
  }
  // Each query meets each key, and each result each value, whether the heads have an axis of their own or
  // not.
  Result<Dim> attention(const Node& n) {
    SX_ASSIGN(const auto q, dims(n, 0));
    SX_ASSIGN(const auto k, dims(n, 1));
    SX_ASSIGN(const auto y, dims(n.outputs[0]));
    if (k.size() < 2) return Dim(0);
    Dim keys = k[k.size() - 2];
    if (n.inputs.size() > 4 && n.inputs[4] != kNoValue) {
      SX_ASSIGN(const auto past, dims(n, 4));
      if (past.size() == 4) keys = keys + past[2];
    }
    return keys * (product(q) + product(y));
  }
  Result<Dim> recurrent(const Node& n) {
    SX_ASSIGN(const auto x, dims(n, 0));
    SX_ASSIGN(const auto w, dims(n, 1));
    SX_ASSIGN(const auto r, dims(n, 2));
    return x.size() != 3 ? Dim(0) : x[0] * x[1] * (product(w) + product(r));
  }

  // One product over all letters for each operand after the first.
  Result<Dim> einsum(const Node& n) {
    std::string equation = n.attrs.text("equation", "");
    std::erase(equation, ' ');
    equation = equation.substr(0, equation.find("->"));
    std::array<Dim, 128> size;
    size.fill(1);
    Dim ellipsis = 1;
    size_t widest = 0;
    for (size_t i = 0, at = 0; i < n.inputs.size() && at <= equation.size(); ++i) {
      SX_ASSIGN(const auto x, dims(n, i));
      const size_t end = std::min(equation.find(',', at), equation.size());
      const std::string_view term = std::string_view(equation).substr(at, end - at);
      const size_t letters = size_t(std::count_if(term.begin(), term.end(), [](char c) { return c != '.'; }));
      if (letters > x.size()) return error(Code::invalid_model, "equation '{}' does not fit", equation);
      const size_t free = term.find('.') == std::string_view::npos ? 0 : x.size() - letters;
      size_t axis = 0;
      for (size_t c = 0; c < term.size(); ++c) {
        if (term[c] == '.') {
          if (free >= widest) ellipsis = product(x.subspan(axis, free));
          widest = std::max(widest, free);
          axis += free;
          c += 2;
        } else {
          Dim& d = size[size_t(term[c]) % 128];
          if (d.is_constant(1)) d = x[axis];
          ++axis;
        }
      }
      at = end + 1;
    }
    return product(size) * ellipsis * Dim(int64_t(n.inputs.size()) - 1);
  }

  Result<Dim> control(const Node& n) {
    Dim all = 0;
    for (const Attr& a : n.attrs.list()) {
      const BodyRef* ref = std::get_if<BodyRef>(&a.value);
      if (!ref) continue;
      SX_ASSIGN(const Dim once, body(ref->id));
      all = max(all, once);
    }
    if (n.type == "If" || all.is_constant(0)) return all;
    SX_ASSIGN(const Dim times, rounds(n));
    return all * times;
  }
  Result<Dim> rounds(const Node& n) {
    const auto unknown = error(Code::unsupported, "how often it goes round is not known");
    if (n.type == "Loop") {
      if (n.inputs.empty() || n.inputs[0] == kNoValue) return unknown;
      const ValueInfo& v = graph_.value(n.inputs[0]);
      if (v.has_elements && v.elements.size() == 1) return v.elements[0];
      if (v.is_constant() && v.constant.is_tensor() && v.constant.tensor.type() == DType::i64 &&
          v.constant.tensor.count() == 1)
        return Dim(v.constant.tensor.as<int64_t>()[0]);
      return unknown;
    }
    const int64_t scanned = n.attrs.integer("num_scan_inputs", 0);
    if (n.type != "Scan" || scanned < 1 || size_t(scanned) > n.inputs.size()) return unknown;
    SX_ASSIGN(const auto x, dims(n, n.inputs.size() - size_t(scanned)));
    const auto axes = n.attrs.integers("scan_input_axes");
    const int64_t axis = axes.empty() ? 0 : axes[0] < 0 ? axes[0] + int64_t(x.size()) : axes[0];
    if (axis < 0 || size_t(axis) >= x.size()) return unknown;
    return x[size_t(axis)];
  }

  const Graph& graph_;
};

Dim bound(DimPool& pool, Dim d, const std::vector<std::pair<std::string, int64_t>>& dims) {
  std::vector<Dim> values(pool.symbols(), Dim(0));
  std::unique_ptr<bool[]> given(new bool[pool.symbols()]());
  for (uint32_t s = 0; s < values.size(); ++s) {
    for (const auto& [name, size] : dims) {
      if (pool.symbol_name(s) != name) continue;
      values[s] = size;
      given[s] = true;
    }
  }
  return pool.substitute(d, values, std::span<const bool>(given.get(), values.size()));
}

}  // namespace

Result<Work> count_work(const onnx::Model& model, const std::vector<std::pair<std::string, int64_t>>& dims) {
  SX_ASSIGN(const Graph graph, to_graph(model));
  Counter counter(graph);
  SX_ASSIGN(auto parts, counter.by_operator());
  Dim total = 0;
  for (const auto& [type, part] : parts) total = total + part;
  Work work{.pool = graph.shared_pool()};
  work.flops = bound(*work.pool, Dim(2) * total, dims);
  if (work.flops.is_constant(INT64_MAX)) return error(Code::unsupported, "more than can be counted");
  if (mentions_fresh(work.flops))
    return error(Code::unsupported, "some sizes depend on the data that is fed");
  for (auto& [type, part] : parts) work.ops.emplace_back(type, bound(*work.pool, Dim(2) * part, dims));
  return work;
}

std::string Work::share(const std::string& op) const {
  for (const auto& [type, part] : ops) {
    if (type != op) continue;
    if (part.is_constant() && flops.is_constant())
      return format("{:.1f}%", 100 * double(part.constant()) / double(flops.constant()));
    if (part.is_constant() || flops.is_constant()) return "";
    const auto &a = part.expr()->terms, &b = flops.expr()->terms;
    if (a.size() != 1 || b.size() != 1 || a[0].atoms != b[0].atoms) return "";
    return format("{:.1f}%", 100 * double(a[0].coefficient) / double(b[0].coefficient));
  }
  return "";
}

std::string Work::text() const {
  const auto unit = [](double count) {
    const std::string text = count_text(count);  // "2.1 G" or "120"
    return text + (text.find(' ') == std::string::npos ? " FLOP" : "FLOP");
  };
  if (flops.is_constant(0)) return "no matrix products, no convolutions";
  if (flops.is_constant()) return unit(double(flops.constant()));
  std::vector<DimTerm> terms = flops.expr()->terms;
  std::stable_sort(terms.begin(), terms.end(),
                   [](const DimTerm& a, const DimTerm& b) { return a.coefficient > b.coefficient; });
  std::string all;
  for (const DimTerm& t : terms) {
    const bool minus = t.coefficient < 0;
    all += all.empty() ? (minus ? "-" : "") : minus ? " - " : " + ";
    all += unit(double(minus ? -t.coefficient : t.coefficient));
    for (size_t i = 0; i < t.atoms.size();) {
      size_t same = i;
      while (same < t.atoms.size() && t.atoms[same] == t.atoms[i]) ++same;
      const Dim one = pool->intern({DimTerm{1, {t.atoms[i]}}});
      all += " × " + escaped(to_string(one)) +
             (same - i == 2  ? "²"
              : same - i > 2 ? format("^{}", same - i)
                             : "");
      i = same;
    }
  }
  return all;
}

}  // namespace sx::tools
