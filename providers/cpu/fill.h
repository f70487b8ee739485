// SPDX-License-Identifier: Apache-2.0
// The same element everywhere.
#pragma once
#include <algorithm>
#include <cstring>

#include "kernels/chunks.h"

namespace sx::cpu {

// `value`: one element of `bytes` bytes; null for zero.
inline void fill_elements(void* to, size_t count, size_t bytes, const char* value, Parallel& parallel) {
  const bool zero = !value || std::all_of(value, value + bytes, [](char c) { return c == 0; });
  kernels::for_chunks(parallel, count, (size_t(1) << 20) / bytes, [&](size_t begin, size_t end) {
    char* at = static_cast<char*>(to) + begin * bytes;
    if (zero) {
      std::memset(at, 0, (end - begin) * bytes);
    } else {
      for (size_t i = begin; i < end; ++i, at += bytes) std::memcpy(at, value, bytes);
    }
  });
}

}  // namespace sx::cpu
