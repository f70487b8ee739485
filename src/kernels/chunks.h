// SPDX-License-Identifier: Apache-2.0
// Cutting units of work into chunks by their number alone; a single chunk runs without touching Parallel.
#pragma once
#include "base/parallel.h"

namespace sx::kernels {

// Calls body(begin, end) for ranges of [0, units) of about `grain` units (at least one).
template <class Body>
void for_chunks(Parallel& parallel, size_t units, size_t grain, Body body) {
  if (grain == 0) grain = 1;
  if (units == 0) return;
  if (units <= grain + grain / 2) return body(size_t{0}, units);
  const size_t chunks = (units + grain - 1) / grain;
  // Even chunks: the last one is not a sliver that everybody waits for.
  const size_t base = units / chunks, longer = units % chunks;
  parallel.run(chunks, [&](size_t chunk, size_t) {
    const size_t begin = chunk * base + (chunk < longer ? chunk : longer);
    body(begin, begin + base + (chunk < longer ? 1 : 0));
  });
}

}  // namespace sx::kernels
