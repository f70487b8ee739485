// SPDX-License-Identifier: Apache-2.0
#include "ops/engine/map.h"

#include "base/task.h"
#include "graph/op.h"
#include "ops/engine/walk.h"

namespace sx {
namespace {

constexpr int64_t kBlock = 256;
constexpr int64_t kLongRow = 64;  // from here on a block ends with its row, which is then read where it lies
struct alignas(16) Block {
  unsigned char bytes[kBlock * sizeof(complex128)];
};

const void* element(const void* data, int64_t index, size_t size) {
  return static_cast<const char*>(data) + index * int64_t(size);
}

}  // namespace

Status map_blocks(const Eval& e, std::span<const Tensor* const> in, Tensor& out, Class in_class, Class result,
                  MapKernel kernel, const EncodeOptions& options) {
  const size_t inputs = in.size();
  Walk walk;
  walk.dims = out.dims();
  walk.strides.resize(inputs);
  for (size_t k = 0; k < inputs; ++k) {
    if (!broadcast_strides(in[k]->dims(), out.dims(), walk.strides[k])) {
      return e.fail("{}: input {} does not broadcast to {}", e.op().name, to_string(in[k]->dims()),
                    to_string(out.dims()));
    }
  }
  walk.simplify();
  const size_t in_size = class_size(in_class), out_size = class_size(result);
  std::vector<Block> blocks(inputs + 1);
  std::vector<const void*> p(inputs);
  std::vector<int64_t> offsets(inputs, 0);
  Dims at(walk.dims.size(), 0);
  std::vector<bool> direct(inputs);
  for (size_t k = 0; k < inputs; ++k)
    direct[k] = walk.strides[k].back() == 1 && is_storage_of(*in[k], in_class);
  const bool direct_out = is_storage_of(out, result);

  const int64_t count = out.count(), inner = walk.inner();
  const bool in_rows = inner >= kLongRow;
  int64_t column = 0, n = 0;
  StopCheck<32> stop;
  for (int64_t start = 0; start < count && !stop(); start += n) {
    n = std::min(kBlock, in_rows ? inner - column : count - start);
    for (int64_t filled = 0; filled < n;) {
      const int64_t length = std::min(inner - column, n - filled);
      for (size_t k = 0; k < inputs; ++k) {
        const int64_t step = walk.strides[k].back(), first = offsets[k] + column * step;
        if (direct[k] && length == n) {
          p[k] = element(in[k]->data(), first, in_size);
          continue;
        }
        void* to = blocks[k].bytes + size_t(filled) * in_size;
        decode(in_class, in[k]->type(), in[k]->data(), first, step, size_t(length), to);
        p[k] = blocks[k].bytes;
      }
      filled += length;
      column += length;
      if (column == inner) {
        column = 0;
        walk.step(at, offsets);
      }
    }
    if (direct_out) {
      kernel(p.data(), static_cast<char*>(out.mutable_data()) + size_t(start) * out_size, size_t(n));
      continue;
    }
    kernel(p.data(), blocks[inputs].bytes, size_t(n));
    encode(result, blocks[inputs].bytes, size_t(n), out.type(), out.mutable_data(), start, 1, options);
  }
  return {};
}

}  // namespace sx
