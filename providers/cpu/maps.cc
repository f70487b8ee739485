// SPDX-License-Identifier: Apache-2.0
// ZipMap: each row of scores as a map from class label to score.
#include "base/format.h"
#include "family.h"
#include "forest.h"
#include "graph/op.h"

namespace sx::cpu::maps {
namespace {

std::string refuses(const Site& site) {
  if (!site.is_f32(0)) return format("X is {}, not float32", to_string(site.in(0)));
  const bool text = !texts_of(site.attrs(), "classlabels_strings").empty();
  return text || site.attrs().has("classlabels_int64s") ? "" : "there are no class labels";
}

class ZipMapKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<ZipMapKernel>();
    kernel->texts_ = texts_of(site.attrs(), "classlabels_strings");
    if (kernel->texts_.empty()) kernel->ints_ = site.attrs().integers("classlabels_int64s");
    kernel->name_ = "zip map";
    kernel->traits_.values = true;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Status run_values(std::span<const Value> in, std::span<Value> out, RunContext&) override {
    const Tensor& x = in[0].tensor;
    const size_t cols = texts_.empty() ? ints_.size() : texts_.size(), count = size_t(x.count());
    const size_t rows = x.rank() < 2 ? 1 : size_t(x.dims()[0]);
    if (rows * cols != count)
      return error(Code::invalid_argument, "{} labels for {} columns", cols, rows ? count / rows : 0);
    std::vector<Value> list;
    list.reserve(rows);
    // Scores stay where they are: each is a scalar over the memory of X.
    size_t at =
        count ? size_t(static_cast<const char*>(x.data()) - static_cast<const char*>(x.buffer()->data())) : 0;
    for (size_t r = 0; r < rows; ++r) {
      Map map;
      map.key_type = texts_.empty() ? DType::i64 : DType::string;
      map.int_keys = ints_;
      map.string_keys = texts_;
      map.values.reserve(cols);
      for (size_t c = 0; c < cols; ++c, at += sizeof(float)) {
        SX_ASSIGN(Tensor score, Tensor::over(x.buffer(), at, DType::f32, {}));
        map.values.emplace_back(std::move(score));
      }
      list.push_back(Value::of_map(std::move(map)));
    }
    out[0] = Value::of_sequence(std::move(list));
    return {};
  }

 private:
  std::vector<std::string> texts_;
  std::vector<int64_t> ints_;
};

const Implementation kZipMap[] = {{"zip map", refuses, ZipMapKernel::make}};
const Family kFamilies[] = {{"ZipMap", "ai.onnx.ml", kZipMap}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::maps
