// SPDX-License-Identifier: Apache-2.0
// Recurrent: what RNN, GRU and LSTM share: sizes, activations by name, directions, lengths, and the walk over
// time. A sequence of length 0 leaves zeros as its last state, as onnxruntime does.
#pragma once
#include <string_view>
#include <vector>

#include "base/workspace.h"
#include "graph/infer.h"
#include "graph/lift.h"
#include "graph/op.h"
#include "ops/engine/contract.h"

namespace sx::ops {

struct Activation {
  enum class Kind : uint8_t {
    relu,
    tanh,
    sigmoid,
    affine,
    leaky_relu,
    thresholded_relu,
    scaled_tanh,
    hard_sigmoid,
    elu,
    softsign,
    softplus,
  };
  Kind kind = Kind::tanh;
  float alpha = 0, beta = 0;
};
template <class T>
void activate(const Activation& a, T* v, size_t n);

struct Recurrent {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1, gates = 1;
  bool batch_first = false;
  bool backward_first = false;        // direction "reverse"
  float clip = 0;                     // 0: none
  std::vector<Activation> functions;  // for each direction as many as the defaults
  Workspace<int64_t> lengths;         // of each sequence in the batch

  // Sizes and attributes of the node, with its inputs checked. `defaults` names the activations of one
  // direction.
  static Result<Recurrent> of(const Eval& e, int64_t gates, std::span<const std::string_view> defaults);
  bool backward(int64_t direction) const { return backward_first || direction == 1; }
  int64_t state_at(int64_t d, int64_t b) const {
    return (batch_first ? b * directions + d : d * batch + b) * hidden;
  }
  int64_t output_at(int64_t t, int64_t d, int64_t b) const {
    return (batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b) * hidden;
  }
};

// What a cell sees of one direction.
template <class T>
struct Cell {
  const T* r = nullptr;                  // recurrence weights [gates·hidden, hidden]
  const T *wb = nullptr, *rb = nullptr;  // biases, [gates·hidden] each
  const T* peephole = nullptr;           // [3·hidden], or null
  const Activation* functions = nullptr;
  const T *xw = nullptr, *hr = nullptr;  // x·Wᵀ and h·Rᵀ of this row and step, without biases
  T *h = nullptr, *c = nullptr;          // the states, to be replaced
};

template <class T>
void clip_all(const Recurrent& r, T* v, size_t n) {
  if (r.clip <= 0) return;
  const T most = T(r.clip);
  for (size_t k = 0; k < n; ++k) v[k] = v[k] > most ? most : v[k] < -most ? -most : v[k];
}

// Walks all directions and steps; calls step(cell) for every row that is not past its length.
template <class T>
Status walk(Eval& e, const Recurrent& r, bool has_cell, FunctionRef<void(const Cell<T>&)> step);

// Sizes of all inputs must agree. Four gates: there is a cell, whose state is an output too.
Status infer_recurrent(Infer& i, int64_t gates);
// Opset 1 asked with output_sequence whether Y is wanted; that Y is an output says it too.
Status lift_output_sequence(Lift& l);

std::vector<AttrDef> recurrent_attrs(std::initializer_list<AttrDef> more);

}  // namespace sx::ops
