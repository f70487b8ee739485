// SPDX-License-Identifier: Apache-2.0
#include "base/huge_pages.h"

#include <doctest/doctest.h>

#include <cstring>
#include <initializer_list>

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

TEST_CASE("fresh memory begins where a huge page may once it is as large as one") {
  for (const size_t bytes : {size_t{1}, kHugePage - 1, kHugePage, 2 * kHugePage + 4097}) {
    auto* memory = static_cast<uint8_t*>(allocate_fresh(bytes));
    REQUIRE(memory);
    CHECK(reinterpret_cast<uintptr_t>(memory) % (bytes < kHugePage ? kVectorAlignment : kHugePage) == 0);
    std::memset(memory, 7, bytes);
    free_fresh(memory, bytes);
  }
}

TEST_CASE("no memory has no pages") {
  FreshPages none(nullptr, 10 * kHugePage);
  none.take(10 * kHugePage);
}

}  // namespace sx
