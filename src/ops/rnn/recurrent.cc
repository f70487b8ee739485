// SPDX-License-Identifier: Apache-2.0
#include "ops/rnn/recurrent.h"

#include <algorithm>
#include <cmath>

#include "base/workspace.h"
#include "ops/common/checks.h"

namespace sx::ops {
namespace {

struct NamedActivation {
  std::string_view name;
  Activation::Kind kind;
  bool uses_alpha, uses_beta;
  float alpha, beta;
};
using Kind = Activation::Kind;
constexpr NamedActivation kActivations[] = {
    {"relu", Kind::relu, false, false, 0, 0},
    {"tanh", Kind::tanh, false, false, 0, 0},
    {"sigmoid", Kind::sigmoid, false, false, 0, 0},
    {"affine", Kind::affine, true, true, 1, 0},
    {"leakyrelu", Kind::leaky_relu, true, false, 0.01f, 0},
    {"thresholdedrelu", Kind::thresholded_relu, true, false, 1, 0},
    {"scaledtanh", Kind::scaled_tanh, true, true, 1, 1},
    {"hardsigmoid", Kind::hard_sigmoid, true, true, 0.2f, 0.5f},
    {"elu", Kind::elu, true, false, 1, 0},
    {"softsign", Kind::softsign, false, false, 0, 0},
    {"softplus", Kind::softplus, false, false, 0, 0},
};

Result<std::vector<Activation>> read_activations(const Eval& e, std::span<const std::string_view> defaults,
                                                 size_t directions) {
  std::vector<std::string> names = e.texts("activations");
  const size_t expected = defaults.size() * directions;
  if (names.size() > expected) names.resize(expected);  // RNN's default names two for one direction too
  if (names.empty()) {
    for (size_t k = 0; k < expected; ++k) names.emplace_back(defaults[k % defaults.size()]);
  }
  if (names.size() != expected) {
    return e.fail("attribute activations names {} functions, expected {}", names.size(), expected);
  }
  const std::vector<float> alphas = e.floatings("activation_alpha"), betas = e.floatings("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<Activation> list;
  for (const std::string& name : names) {
    std::string lower = name;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    const auto* found = std::find_if(std::begin(kActivations), std::end(kActivations),
                                     [&](const NamedActivation& a) { return a.name == lower; });
    if (found == std::end(kActivations)) return e.fail("activation '{}' is unknown", name);
    Activation a{found->kind, found->alpha, found->beta};
    if (found->uses_alpha && next_alpha < alphas.size()) a.alpha = alphas[next_alpha++];
    if (found->uses_beta && next_beta < betas.size()) a.beta = betas[next_beta++];
    list.push_back(a);
  }
  return list;
}

}  // namespace

template <class T>
void activate(const Activation& a, T* v, size_t n) {
  const T alpha = T(a.alpha), beta = T(a.beta);
  auto each = [&](auto f) {
    for (size_t k = 0; k < n; ++k) v[k] = f(v[k]);
  };
  switch (a.kind) {
    case Kind::relu: return each([](T x) { return x < 0 ? T(0) : x; });
    case Kind::tanh: return each([](T x) { return std::tanh(x); });
    case Kind::sigmoid: return each([](T x) { return T(1) / (T(1) + std::exp(-x)); });
    case Kind::affine: return each([&](T x) { return alpha * x + beta; });
    case Kind::leaky_relu: return each([&](T x) { return x >= 0 ? x : alpha * x; });
    case Kind::thresholded_relu: return each([&](T x) { return x > alpha ? x : T(0); });
    case Kind::scaled_tanh: return each([&](T x) { return alpha * std::tanh(beta * x); });
    case Kind::hard_sigmoid:
      return each([&](T x) { return std::min(std::max(alpha * x + beta, T(0)), T(1)); });
    case Kind::elu: return each([&](T x) { return x >= 0 ? x : alpha * std::expm1(x); });
    case Kind::softsign: return each([](T x) { return x / (T(1) + std::abs(x)); });
    case Kind::softplus:
      return each([](T x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); });
  }
}
template void activate<float>(const Activation&, float*, size_t);
template void activate<double>(const Activation&, double*, size_t);

Result<Recurrent> Recurrent::of(const Eval& e, int64_t gates, std::span<const std::string_view> defaults) {
  const Tensor &x = e.in(0), &recurrence = e.in(2);
  Recurrent r;
  r.gates = gates;
  r.batch_first = e.integer("layout") != 0;
  r.steps = x.dims()[r.batch_first ? 1 : 0];
  r.batch = x.dims()[r.batch_first ? 0 : 1];
  r.inputs = x.dims()[2];
  r.hidden = recurrence.dims()[2];
  r.clip = e.has_attr("clip") ? e.floating("clip") : 0;
  const std::string direction = e.text("direction");
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.backward_first = direction == "reverse";
  const int64_t d = r.directions, rows = gates * r.hidden;
  int64_t products = 0;
  if (!element_count(Dims{r.steps, r.batch, rows}, products) || products > (int64_t(1) << 32)) {
    return e.fail("{} steps of {} sequences with {} gate rows are too many", r.steps, r.batch, rows);
  }
  SX_ASSIGN(r.functions, read_activations(e, defaults, size_t(d)));
  const Reader<int64_t> lengths(e.has(4) ? e.in(4) : Tensor());
  SX_TRY(check_stop());
  r.lengths.resize(size_t(r.batch));
  for (size_t b : turns(r.lengths.size())) {
    const int64_t n = r.lengths[b] = e.has(4) ? lengths[b] : r.steps;
    if (n < 0 || n > r.steps) return e.fail("a sequence length is {}, X has {} steps", n, r.steps);
  }
  SX_TRY(check_stop());
  return r;
}

namespace {

template <class T>
Workspace<T> initial_state(const Eval& e, const Recurrent& r, size_t input) {
  Workspace<T> state(size_t(r.directions * r.batch * r.hidden));
  if (!e.has(input)) {
    for (T& v : stoppable(state)) v = 0;
    return state;
  }
  const Reader<T> given(e.in(input));
  for (int64_t d = 0; d < r.directions; ++d) {
    for (int64_t b : turns(r.batch, size_t(r.hidden))) {
      std::copy_n(given.data() + r.state_at(d, b), r.hidden, state.data() + (d * r.batch + b) * r.hidden);
    }
  }
  return state;
}

template <class T>
void store_state(Eval& e, const Recurrent& r, size_t output, const Workspace<T>& state) {
  if (!e.wanted(output)) return;
  Writer<T> y(e.out(output));
  for (int64_t d = 0; d < r.directions; ++d) {
    for (int64_t b : turns(r.batch, size_t(r.hidden))) {
      T* to = y.data() + r.state_at(d, b);
      if (r.lengths[size_t(b)] == 0) {
        std::fill_n(to, r.hidden, T(0));
      } else {
        std::copy_n(state.data() + (d * r.batch + b) * r.hidden, r.hidden, to);
      }
    }
  }
}

// One direction. `y` is null where the whole sequence is not wanted.
template <class T>
void walk_direction(const Recurrent& r, int64_t d, Cell<T> cell, const T* x, const T* w, T* h, T* c, T* y,
                    FunctionRef<void(const Cell<T>&)> step) {
  const int64_t rows = r.gates * r.hidden;
  Workspace<T> xw(size_t(r.steps * r.batch * rows)), hr(size_t(r.batch * rows));
  Product<T> in;  // rows of xw are in the order of X, whatever its layout
  in.m = r.steps * r.batch, in.n = rows, in.k = r.inputs;
  in.a = x, in.a_row = r.inputs;
  in.b = w, in.b_row = 1, in.b_col = r.inputs;
  in.c = xw.data(), in.c_row = rows;
  contract(in);
  Product<T> recur;
  recur.m = r.batch, recur.n = rows, recur.k = r.hidden;
  recur.a = h, recur.a_row = r.hidden;
  recur.b = cell.r, recur.b_row = 1, recur.b_col = r.hidden;
  recur.c = hr.data(), recur.c_row = rows;
  StopCheck<> stop;
  for (int64_t turn = 0; turn < r.steps; ++turn) {
    if (stop(size_t(r.batch * rows) + 1)) return;
    contract(recur);
    for (int64_t b : turns(r.batch, size_t(rows))) {
      const int64_t length = r.lengths[size_t(b)];
      if (turn >= length) continue;
      const int64_t t = r.backward(d) ? length - 1 - turn : turn;
      cell.xw = xw.data() + (r.batch_first ? b * r.steps + t : t * r.batch + b) * rows;
      cell.hr = hr.data() + b * rows;
      cell.h = h + b * r.hidden;
      cell.c = c + b * r.hidden;
      step(cell);
      if (y) std::copy_n(cell.h, r.hidden, y + r.output_at(t, d, b));
    }
  }
}

}  // namespace

template <class T>
Status walk(Eval& e, const Recurrent& r, bool has_cell, FunctionRef<void(const Cell<T>&)> step) {
  const Reader<T> x(e.in(0)), w(e.in(1)), recurrence(e.in(2));
  const int64_t rows = r.gates * r.hidden;
  std::vector<T> bias(size_t(2 * rows * r.directions), T(0)), peephole;
  if (e.has(3)) {
    const Reader<T> b(e.in(3));
    std::copy(b.begin(), b.end(), bias.begin());
  }
  if (has_cell && e.has(7)) {
    const Reader<T> p(e.in(7));
    peephole.assign(p.begin(), p.end());
  }
  Workspace<T> h = initial_state<T>(e, r, 5), c = initial_state<T>(e, r, has_cell ? 6 : SIZE_MAX);
  Workspace<T> y(e.wanted(0) ? size_t(r.steps * r.directions * r.batch * r.hidden) : 0);
  for (T& v : stoppable(y)) v = 0;
  for (int64_t d = 0; d < r.directions; ++d) {
    Cell<T> cell;
    cell.r = recurrence.data() + d * rows * r.hidden;
    cell.wb = bias.data() + d * 2 * rows;
    cell.rb = cell.wb + rows;
    cell.peephole = peephole.empty() ? nullptr : peephole.data() + d * 3 * r.hidden;
    cell.functions = r.functions.data() + size_t(d) * r.functions.size() / size_t(r.directions);
    const int64_t at = d * r.batch * r.hidden;
    walk_direction<T>(r, d, cell, x.data(), w.data() + d * rows * r.inputs, h.data() + at, c.data() + at,
                      e.wanted(0) ? y.data() : nullptr, step);
    SX_TRY(check_stop());
  }
  if (e.wanted(0)) {
    Writer<T> out(e.out(0));
    copy_numbers(y.data(), y.size(), out.data());
  }
  store_state(e, r, 1, h);
  if (has_cell) store_state(e, r, 2, c);
  return {};
}
template Status walk<float>(Eval&, const Recurrent&, bool, FunctionRef<void(const Cell<float>&)>);
template Status walk<double>(Eval&, const Recurrent&, bool, FunctionRef<void(const Cell<double>&)>);

namespace {

Status check_direction(Infer& i) {
  const std::string direction = i.text("direction");
  if (direction == "forward" || direction == "reverse" || direction == "bidirectional") return {};
  return i.fail("direction '{}' is not forward, reverse or bidirectional", direction);
}

}  // namespace

Status infer_recurrent(Infer& i, int64_t gates) {
  const bool has_cell = gates == 4, batch_first = i.integer("layout") != 0;
  SX_TRY(check_direction(i));
  constexpr std::string_view kNames[] = {"X", "W", "R"};
  for (size_t k = 0; k < 3; ++k) SX_TRY(require_rank(i, k, 3, kNames[k]));
  const Dim directions = i.text("direction") == "bidirectional" ? 2 : 1;
  const bool x_known = i.rank_known(0);
  const Dim steps = x_known ? i.dim(0, batch_first ? 1 : 0) : i.fresh("steps");
  const Dim batch = x_known ? i.dim(0, batch_first ? 0 : 1) : i.fresh("batch");
  const Dim inputs = x_known ? i.dim(0, 2) : i.rank_known(1) ? i.dim(1, 2) : i.fresh("inputs");
  const Dim hidden = i.rank_known(2)             ? i.dim(2, 2)
                     : i.has_attr("hidden_size") ? Dim(i.integer("hidden_size"))
                                                 : i.fresh("hidden");
  if (i.has_attr("hidden_size"))
    SX_TRY(i.require_equal(hidden, i.integer("hidden_size"), "the size of R and hidden_size"));
  const Dim rows = hidden * Dim(gates);
  const Shape state = batch_first ? Shape({batch, directions, hidden}) : Shape({directions, batch, hidden});
  SX_TRY(require_dims(i, 1, Shape({directions, rows, inputs}), "W"));
  SX_TRY(require_dims(i, 2, Shape({directions, rows, hidden}), "R"));
  SX_TRY(require_dims(i, 3, Shape({directions, rows * Dim(2)}), "B"));
  SX_TRY(require_dims(i, 4, Shape({batch}), "sequence_lens"));
  SX_TRY(require_dims(i, 5, state, "initial_h"));
  SX_TRY(require_dims(i, 6, state, "initial_c"));
  SX_TRY(require_dims(i, 7, Shape({directions, hidden * Dim(3)}), "P"));
  const DType elem = i.elem(0);
  if (i.wanted(0)) {
    i.set_tensor(
        0, elem,
        batch_first ? Shape({batch, steps, directions, hidden}) : Shape({steps, directions, batch, hidden}));
  }
  if (i.wanted(1)) i.set_tensor(1, elem, state);
  if (has_cell && i.wanted(2)) i.set_tensor(2, elem, state);
  return {};
}

Status lift_output_sequence(Lift& l) {
  l.attrs().erase("output_sequence");
  return {};
}

std::vector<AttrDef> recurrent_attrs(std::initializer_list<AttrDef> more) {
  std::vector<AttrDef> list = {
      optional_attr("activation_alpha", AttrKind::floatings),
      optional_attr("activation_beta", AttrKind::floatings), optional_attr("activations", AttrKind::texts),
      optional_attr("clip", AttrKind::floating), optional_attr("hidden_size", AttrKind::integer)};
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

}  // namespace sx::ops
