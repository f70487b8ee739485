// SPDX-License-Identifier: Apache-2.0
// Gather, GatherND and ConstantOfShape: elements picked by index, or one element everywhere.
#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "base/task.h"
#include "family.h"
#include "fill.h"
#include "graph/op.h"

namespace sx::cpu::gather {
namespace {

// Rows a chunk copies: enough bytes to be worth a thread's while.
constexpr size_t kChunkBytes = 64 * 1024;

std::string whole_bytes(const Type& t) {
  if (!t.is_tensor() || t.elem == DType::string) return format("an operand is {}", to_string(t));
  if (dtype_bits(t.elem) < 8 || dtype_bits(t.elem) % 8 != 0)
    return format("{} has no whole bytes", dtype_name(t.elem));
  return t.shape.known ? "" : "the rank of an operand is not known";
}

std::string refuses(const Site& site) {
  if (std::string why = whole_bytes(site.in(0)); !why.empty()) return why;
  if (site.in(1).elem != DType::i64 && site.in(1).elem != DType::i32)
    return "the indices are not int32 or int64";
  return site.ranked(1) ? "" : "the rank of the indices is not known";
}

int64_t index_at(const View& v, size_t i) {
  return v.type == DType::i64 ? v.as<int64_t>()[i] : v.as<int32_t>()[i];
}

Status bad_index(int64_t index, size_t axis, const Dims& dims) {
  return error(Code::invalid_argument, "index {} is out of range for axis {} of {}", index, axis,
               to_string(dims));
}

class GatherKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<GatherKernel>();
    kernel->axis_ = site.attrs().integer("axis", 0);
    kernel->name_ = "gather";
    kernel->traits_.any_address = 1;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext& context) override {
    const Dims& d = in[0]->dims;
    const size_t axis = size_t(axis_ < 0 ? axis_ + int64_t(d.size()) : axis_);
    size_t outer = 1, inner = size_t(dtype_bits(in[0]->type)) / 8;
    for (size_t k = 0; k < axis; ++k) outer *= size_t(d[k]);
    for (size_t k = axis + 1; k < d.size(); ++k) inner *= size_t(d[k]);
    const int64_t n = d[axis];
    const size_t count = size_t(in[1]->count());
    StopCheck<> stop;
    for (size_t i = 0; i < count && !stop(); ++i) {
      const int64_t index = index_at(*in[1], i);
      if (index < -n || index >= n) return bad_index(index, axis, d);
    }
    if (outer * count * inner == 0 || stop_requested()) return {};
    const size_t rows = outer * count, chunk = std::max<size_t>(1, kChunkBytes / inner);
    auto copy = [&](size_t c, size_t) {
      for (size_t r = c * chunk; r < std::min(rows, (c + 1) * chunk); ++r) {
        int64_t index = index_at(*in[1], r % count);
        if (index < 0) index += n;
        std::memcpy(out[0]->as_mutable<char>() + r * inner,
                    in[0]->as<char>() + ((r / count) * size_t(n) + size_t(index)) * inner, inner);
      }
    };
    const size_t chunks = (rows + chunk - 1) / chunk;
    if (chunks == 1)
      copy(0, 0);
    else
      context.parallel.run(chunks, copy);
    return {};
  }

 private:
  int64_t axis_ = 0;
};

class GatherNdKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<GatherNdKernel>();
    kernel->batch_dims_ = size_t(site.attrs().integer("batch_dims", 0));
    kernel->name_ = "gather nd";
    kernel->traits_.any_address = 1;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext&) override {
    const Dims &d = in[0]->dims, &i = in[1]->dims;
    const size_t depth = size_t(i.back());
    size_t batches = 1, slices = 1, bytes = size_t(dtype_bits(in[0]->type)) / 8;
    for (size_t k = 0; k < batch_dims_; ++k) batches *= size_t(d[k]);
    for (size_t k = batch_dims_; k + 1 < i.size(); ++k) slices *= size_t(i[k]);
    for (size_t k = batch_dims_ + depth; k < d.size(); ++k) bytes *= size_t(d[k]);
    size_t batch_bytes = bytes;
    for (size_t k = 0; k < depth; ++k) batch_bytes *= size_t(d[batch_dims_ + k]);
    StopCheck<65536> stop;
    for (size_t r = 0; r < batches * slices && !stop(bytes + 16); ++r) {
      size_t at = 0;
      for (size_t k = 0; k < depth; ++k) {
        const int64_t n = d[batch_dims_ + k];
        int64_t index = index_at(*in[1], r * depth + k);
        if (index < -n || index >= n) return bad_index(index, batch_dims_ + k, d);
        at = at * size_t(n) + size_t(index < 0 ? index + n : index);
      }
      std::memcpy(out[0]->as_mutable<char>() + r * bytes,
                  in[0]->as<char>() + (r / slices) * batch_bytes + at * bytes, bytes);
    }
    return {};
  }

 private:
  size_t batch_dims_ = 0;
};

std::string fill_refuses(const Site& site) { return whole_bytes(site.out()); }

class FillKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<FillKernel>();
    if (const Tensor* value = site.attrs().get<Tensor>("value")) kernel->value_ = *value;
    kernel->name_ = "fill";
    kernel->traits_.unused_inputs = 1;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run(const Prepared*, ViewList, ViewList out, RunContext& context) override {
    fill_elements(out[0]->data, size_t(out[0]->count()), size_t(dtype_bits(out[0]->type)) / 8,
                  static_cast<const char*>(value_.data()), context.parallel);
    return {};
  }

 private:
  Tensor value_;
};

const Implementation kGather[] = {{"gather", refuses, GatherKernel::make}};
const Implementation kGatherNd[] = {{"gather nd", refuses, GatherNdKernel::make}};
const Implementation kFill[] = {{"fill", fill_refuses, FillKernel::make}};
const Family kFamilies[] = {
    {"Gather", "", kGather}, {"GatherND", "", kGatherNd}, {"ConstantOfShape", "", kFill}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::gather
