// SPDX-License-Identifier: Apache-2.0
// Einsum: sums of products over named axes. "ij,jk->ik" is a matrix product, "ii->i" a diagonal, "..." stands
// for leading axes that broadcast.
#include <algorithm>
#include <cctype>

#include "base/task.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/codec.h"
#include "ops/engine/wrap.h"

namespace sx::ops::einsum {

// Labels of each operand and of the result. An axis behind an ellipsis is a label from '0' on, counted from
// the last.
struct Equation {
  std::vector<std::string> terms;
  std::string result;
};

// "a...b" over a tensor of rank r: the letters, with the ellipsis replaced by as many labels as it stands
// for.
static Status expand(std::string& term, size_t rank, size_t& widest, std::string_view what) {
  const size_t dots = term.find("...");
  const size_t letters = term.size() - (dots == std::string::npos ? 0 : 3);
  if (letters > rank || (dots == std::string::npos && letters != rank)) {
    return error(Code::invalid_model, "{} names {} axes, the operand has {}", what, letters, rank);
  }
  if (dots == std::string::npos) return {};
  const size_t hidden = rank - letters;
  if (hidden > 40) return error(Code::invalid_model, "an ellipsis stands for {} axes, at most 40", hidden);
  std::string labels;
  for (size_t k = 0; k < hidden; ++k) labels.insert(labels.begin(), char('\x01' + k));
  term.replace(dots, 3, labels);
  widest = std::max(widest, hidden);
  return {};
}

static Status check_letters(std::string_view text) {
  for (size_t k = 0; k < text.size(); ++k) {
    if (text.substr(k, 3) == "...")
      k += 2;
    else if (!std::isalpha(static_cast<unsigned char>(text[k]))) {
      return error(Code::invalid_model, "the equation has '{}', letters were expected", text[k]);
    }
  }
  return {};
}

static Result<Equation> parse(std::string text, std::span<const size_t> ranks) {
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  Equation q;
  std::string left = text.substr(0, arrow), result = arrow == std::string::npos ? "" : text.substr(arrow + 2);
  for (size_t from = 0;;) {
    const size_t comma = left.find(',', from);
    q.terms.push_back(left.substr(from, comma == std::string::npos ? comma : comma - from));
    if (comma == std::string::npos) break;
    from = comma + 1;
  }
  if (q.terms.size() != ranks.size()) {
    return error(Code::invalid_model, "the equation '{}' has {} terms, there are {} operands", text,
                 q.terms.size(), ranks.size());
  }
  size_t widest = 0;
  std::string seen;
  for (size_t t = 0; t < q.terms.size(); ++t) {
    SX_TRY(check_letters(q.terms[t]));
    for (char c : q.terms[t]) seen += c == '.' ? "" : std::string(1, c);
    SX_TRY(expand(q.terms[t], ranks[t], widest, "the term '" + q.terms[t] + "'"));
  }
  if (arrow ==
      std::string::npos) {  // letters that appear once, in alphabetical order, behind the broadcast axes
    std::sort(seen.begin(), seen.end());
    for (char c : seen) result += std::count(seen.begin(), seen.end(), c) == 1 ? std::string(1, c) : "";
    result = "..." + result;
  } else {
    SX_TRY(check_letters(result));
  }
  if (const size_t dots = result.find("..."); dots != std::string::npos) {
    std::string labels;
    for (size_t k = 0; k < widest; ++k) labels.insert(labels.begin(), char('\x01' + k));
    result.replace(dots, 3, labels);
  }
  for (char c : result) {
    const bool known =
        std::any_of(q.terms.begin(), q.terms.end(), [c](auto& t) { return t.find(c) != std::string::npos; });
    if (!known) return error(Code::invalid_model, "the result names axis '{}', which no operand has", c);
    if (std::count(result.begin(), result.end(), c) > 1)
      return error(Code::invalid_model, "the result names axis '{}' twice", c);
  }
  q.result = std::move(result);
  return q;
}

static Status infer(Infer& i) {
  std::vector<size_t> ranks;
  i.set_unknown_shape(0, i.elem(0));
  for (size_t k = 0; k < i.inputs(); ++k) {
    if (!i.rank_known(k)) return {};
    ranks.push_back(i.rank(k));
  }
  SX_ASSIGN(const Equation q, parse(i.text("equation"), ranks));
  std::vector<Dim> dims;
  for (char label : q.result) {
    Shape size(std::vector<Dim>{1});
    for (size_t t = 0; t < q.terms.size(); ++t) {
      const size_t at = q.terms[t].find(label);
      if (at == std::string::npos) continue;
      SX_ASSIGN(size, i.broadcast(size, Shape(std::vector<Dim>{i.dim(t, at)}), "operands along one letter"));
    }
    dims.push_back(size.dims[0]);
  }
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

// One label: its size, and how far a step along it goes in each operand. The result's labels come first.
struct Axis {
  char label;
  int64_t size;
  std::vector<int64_t> strides;
};

static Result<std::vector<Axis>> axes_of(const Eval& e, const Equation& q) {
  std::vector<Axis> axes;
  auto add = [&](char label) -> Status {
    if (std::any_of(axes.begin(), axes.end(), [label](const Axis& a) { return a.label == label; })) return {};
    Axis axis{label, 1, std::vector<int64_t>(q.terms.size(), 0)};
    for (size_t t = 0; t < q.terms.size(); ++t) {
      const Dims strides = contiguous_strides(e.in(t).dims());
      for (size_t k = 0; k < q.terms[t].size(); ++k) {
        if (q.terms[t][k] != label || e.in(t).dims()[k] == 1) continue;
        const int64_t size = e.in(t).dims()[k];
        if (axis.size != 1 && axis.size != size)
          return e.fail("one letter stands for sizes {} and {}", axis.size, size);
        axis.size = size;
        axis.strides[t] += strides[k];
      }
    }
    axes.push_back(std::move(axis));
    return {};
  };
  for (char label : q.result) SX_TRY(add(label));
  for (const std::string& term : q.terms) {
    for (char label : term) SX_TRY(add(label));
  }
  return axes;
}

// Sums the products over axes [depth, end); `at` is where each operand stands.
template <class T>
static T sum_products(const std::vector<Axis>& axes, size_t depth, const std::vector<Reader<T>>& in,
                      std::vector<int64_t>& at, StopCheck<>& stop) {
  if (depth == axes.size()) {
    T p = 1;
    for (size_t t = 0; t < in.size(); ++t) p = wrap_mul(p, in[t][size_t(at[t])]);
    return p;
  }
  T sum = 0;
  const Axis& axis = axes[depth];
  int64_t k = 0;
  for (; k < axis.size && !stop(); ++k) {
    sum = wrap_add(sum, sum_products<T>(axes, depth + 1, in, at, stop));
    for (size_t t = 0; t < at.size(); ++t) at[t] += axis.strides[t];
  }
  for (size_t t = 0; t < at.size(); ++t) at[t] -= k * axis.strides[t];
  return sum;
}

static Status eval(Eval& e) {
  std::vector<size_t> ranks;
  for (size_t k = 0; k < e.inputs(); ++k) ranks.push_back(e.in(k).rank());
  SX_ASSIGN(const Equation q, parse(e.text("equation"), ranks));
  SX_ASSIGN(const std::vector<Axis> axes, axes_of(e, q));
  return with_class<kRealClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    std::vector<Reader<T>> in;
    for (size_t k = 0; k < e.inputs(); ++k) in.emplace_back(e.in(k));
    Writer<T> y(e.out(0));
    std::vector<int64_t> at(in.size()), index(q.result.size());
    StopCheck<> stop;
    for (size_t i = 0; i < y.size() && !stop(); ++i) {
      y[i] = sum_products<T>(axes, q.result.size(), in, at, stop);
      for (size_t k = index.size(); k-- > 0;) {  // the next element of the result
        for (size_t t = 0; t < at.size(); ++t) at[t] += axes[k].strides[t];
        if (++index[k] < axes[k].size) break;
        for (size_t t = 0; t < at.size(); ++t) at[t] -= axes[k].size * axes[k].strides[t];
        index[k] = 0;
      }
    }
    return {};
  });
}

extern const Op op = {
    .name = "Einsum",
    .in = {{"Inputs", "T", kVariadic}},
    .out = {{"Output", "T"}},
    .types = {{"T", kNumbers}},
    .attrs = {required_attr("equation", AttrKind::text)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28}, {.since = 12, .types = {{"T", kOldNumbers}}}},
};

}  // namespace sx::ops::einsum
