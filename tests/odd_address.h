// SPDX-License-Identifier: Apache-2.0
// The same tensor one byte further than its numbers would like to lie, as weights in a file do.
#pragma once
#include <doctest/doctest.h>

#include <cstring>

#include "tensor/tensor.h"

namespace sx::testing {

inline Tensor at_odd_address(const Tensor& t, bool writable = false) {
  auto bytes = Buffer::allocate(t.bytes() + 1);
  REQUIRE(bytes.ok());
  auto* odd = static_cast<uint8_t*>((*bytes)->mutable_data()) + 1;
  if (t.bytes() > 0) std::memcpy(odd, t.data(), t.bytes());
  auto moved = Tensor::over(Buffer::wrap(odd, t.bytes(), *bytes, writable), 0, t.type(), t.dims());
  REQUIRE(moved.ok());
  return *moved;
}

}  // namespace sx::testing
