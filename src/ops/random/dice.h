// SPDX-License-Identifier: Apache-2.0
// Dice: random numbers for the operators that ask for them. The same seed gives the same numbers; without a
// seed each evaluation gets others.
#pragma once
#include <cstdint>

#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"

namespace sx::ops {

class Dice {
 public:
  explicit Dice(const Eval& e);  // from the attribute `seed`, or from the system
  double uniform();              // 0 <= x < 1
  double normal();               // mean 0, deviation 1

 private:
  uint64_t next();
  uint64_t state_ = 0;
};

inline constexpr AttrDef kSeed = optional_attr("seed", AttrKind::floating);
// Output 0 has the attribute `shape`, or the shape of input 0; its type is the attribute `dtype`, or
// `otherwise`.
Status infer_shaped(Infer& i);
Status infer_like(Infer& i);
Status fill_normal(Eval& e);
Status fill_uniform(Eval& e);

}  // namespace sx::ops
