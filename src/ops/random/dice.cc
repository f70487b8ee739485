// SPDX-License-Identifier: Apache-2.0
#include "ops/random/dice.h"

#include <bit>
#include <cmath>
#include <random>

#include "base/task.h"
#include "ops/engine/codec.h"

namespace sx::ops {

Dice::Dice(const Eval& e) {
  if (e.has_attr("seed")) {
    state_ = std::bit_cast<uint32_t>(e.floating("seed"));
  } else {
    std::random_device device;
    state_ = uint64_t(device()) << 32 | device();
  }
  for (int k = 0; k < 4; ++k) next();
}

// SplitMix64.
uint64_t Dice::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

double Dice::uniform() { return double(next() >> 11) * 0x1p-53; }

double Dice::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * 3.14159265358979323846 * uniform());
}

Status infer_shaped(Infer& i) {
  SX_ASSIGN(const DType type, i.dtype("dtype", DType::f32));
  i.set_tensor(0, type, constant_shape(i.integers("shape")));
  return {};
}

Status infer_like(Infer& i) {
  SX_ASSIGN(const DType type, i.dtype("dtype", i.elem(0)));
  i.set_tensor(0, type, i.in(0).shape);
  return {};
}

Status fill_normal(Eval& e) {
  Dice dice(e);
  const double mean = e.floating("mean"), scale = e.floating("scale");
  Writer<double> y(e.out(0));
  StopCheck<> stop;
  for (double& v : y) {
    if (stop()) break;
    v = mean + scale * dice.normal();
  }
  return {};
}

Status fill_uniform(Eval& e) {
  Dice dice(e);
  const double low = e.floating("low"), high = e.floating("high");
  Writer<double> y(e.out(0));
  StopCheck<> stop;
  for (double& v : y) {
    if (stop()) break;
    v = low + (high - low) * dice.uniform();
  }
  return {};
}

}  // namespace sx::ops
