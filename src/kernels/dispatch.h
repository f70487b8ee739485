// SPDX-License-Identifier: Apache-2.0
// How one of the compiled vector levels is picked. A kernel NAME has three files:
//   NAME.h        the public functions, in namespace sx::kernels; includes base/ and light std headers only
//   NAME.simd.cc  namespace sx::SX_ISA { void work(...) {...} }, compiled per level; includes kernels/vec.h
//   and
//                 headers that hold nothing but plain structs (no inline functions, no default initialisers)
//   NAME.cc       SX_LEVELS(void work(...))           declares sx::baseline::work, sx::avx2::work,
//   sx::avx512::work
//                 auto* work = SX_PICK(work);         the one for active_isa(): a switch, cheap enough for
//                 each prepare
// Whatever depends on the level (a packed layout, say) is picked once, when planning, and kept in the plan.
#pragma once
#include "base/cpu.h"

#if defined(__x86_64__)
#define SX_LEVELS(...)     \
  namespace sx::baseline { \
  __VA_ARGS__;             \
  }                        \
  namespace sx::avx2 {     \
  __VA_ARGS__;             \
  }                        \
  namespace sx::avx512 {   \
  __VA_ARGS__;             \
  }
#define SX_PICK_FOR(isa, name) \
  ::sx::kernels::pick_level(isa, &::sx::baseline::name, &::sx::avx2::name, &::sx::avx512::name)
#else
#define SX_LEVELS(...)     \
  namespace sx::baseline { \
  __VA_ARGS__;             \
  }
#define SX_PICK_FOR(isa, name) (&::sx::baseline::name)
#endif
#define SX_PICK(name) SX_PICK_FOR(::sx::active_isa(), name)

namespace sx::kernels {

template <class F>
F* pick_level(Isa isa, F* baseline, F* avx2, F* avx512) {
  return isa == Isa::avx512 ? avx512 : isa == Isa::avx2 ? avx2 : baseline;
}

}  // namespace sx::kernels
