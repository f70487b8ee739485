// SPDX-License-Identifier: Apache-2.0
#include "base/huge_pages.h"

#include <doctest/doctest.h>

#include <cstring>

#include "base/memory.h"

namespace sx {

TEST_CASE("taking pages leaves what was written before") {
  const size_t bytes = 6 * kHugePage + 12'345;
  auto* memory = static_cast<uint8_t*>(allocate_memory(bytes, kHugePage));
  REQUIRE(memory);
  FreshPages pages(memory, bytes);
  const size_t step = kHugePage / 3 + 7;
  size_t end = 0;
  for (uint8_t mark = 1; end < bytes; ++mark) {
    const size_t begin = end;
    end = begin + step < bytes ? begin + step : bytes;
    pages.take(end);
    std::memset(memory + begin, mark, end - begin);
  }
  for (size_t i = 0; i < bytes; i += 101) CHECK(memory[i] == uint8_t(i / step + 1));
  free_memory(memory, kHugePage);
}

TEST_CASE("no memory has no pages") {
  FreshPages none(nullptr, 10 * kHugePage);
  none.take(10 * kHugePage);
}

}  // namespace sx
