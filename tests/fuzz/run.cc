// SPDX-License-Identifier: Apache-2.0
// A model, as text where the input begins like text and as a file otherwise, goes through conversion, rules
// and compilation to a short run on inputs made up for it: an answer or an error, never anything else.
#include <algorithm>
#include <chrono>

#include "base/hash.h"
#include "convert/convert.h"
#include "fuzzing.h"
#include "onnx/text.h"
#include "runtime/session.h"

using namespace sx;

namespace {

constexpr size_t kMostBytes = 20000, kMostNodes = 300;
constexpr double kMostElements = 1 << 16;
constexpr std::chrono::milliseconds kPatience(1000);
constexpr size_t kMostMemory = 256'000'000;

Result<Graph> graph_of(const uint8_t* data, size_t size) {
  if (size > 0 && (data[0] == '<' || data[0] == '\n')) {
    SX_ASSIGN(const auto model, onnx::parse_text(std::string(reinterpret_cast<const char*>(data), size)));
    return to_graph(*model);
  }
  SX_ASSIGN(const auto model, onnx::read_model(input_file(data, size), ""));
  return to_graph(*model);
}

// What is large on purpose takes the time of everything else.
bool small(const Graph& graph) {
  if (graph.nodes() > kMostNodes) return false;
  for (ValueId v = 0; v < graph.values(); ++v) {
    double count = 1;
    for (Dim d : graph.value(v).type.shape.dims) count *= d.is_constant() ? double(d.constant()) : 1.0;
    if (count > kMostElements) return false;
  }
  return true;
}

// Sizes that are open get a small number each, the same for the same name.
Result<Value> made_up(const Type& type, uint64_t seed) {
  if (type.kind == Value::Kind::sequence) return Value::of_sequence({});
  if (type.kind == Value::Kind::optional) return Value::empty_optional();
  if (type.kind != Value::Kind::tensor) return Status(Code::unsupported, "an input that nobody makes up");
  Dims dims;
  for (Dim d : type.shape.dims) {
    dims.push_back(d.is_constant() ? d.constant() : int64_t((hash_text(to_string(d)) + seed) % 5));
  }
  SX_ASSIGN(Tensor t, Tensor::zeros(type.elem, dims));
  if (type.elem == DType::string) return Value(std::move(t));
  const size_t width = std::max<size_t>(1, size_t(dtype_bits(type.elem)) / 8);
  auto* bytes = static_cast<uint8_t*>(t.mutable_data());
  for (size_t i = 0; i < t.bytes(); ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    // Small integers and small floats alike; a boolean is 0 or 1.
    bytes[i] = type.elem == DType::boolean ? uint8_t(seed >> 63) : i % width == 0 ? uint8_t(seed >> 61) : 0;
    if (dtype_is_float(type.elem) && i % width == width - 1) bytes[i] = uint8_t(0x3e + (seed >> 63) * 0x80);
  }
  return Value(std::move(t));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMostBytes) return 0;
  auto graph = graph_of(data, size);
  if (!graph.ok() || !small(*graph)) return 0;
  const uint64_t seed = hash_bytes(data, size);
  SessionOptions options;
  options.rules = seed % 4 != 0;
  options.threads = 1 + seed / 4 % 2;
  options.memory_limit = kMostMemory;
  Cancel loading;
  loading.set_timeout(kPatience);
  options.cancel = &loading;
  auto session = Session::from_graph(std::move(graph).value(), options);
  if (!session.ok()) return 0;
  for (uint64_t round = 0; round < 2; ++round) {
    std::vector<Value> inputs;
    for (const ValueDesc& input : (*session)->inputs()) {
      auto value = made_up(input.type, seed + round);
      if (!value.ok()) return 0;
      inputs.push_back(std::move(value).value());
    }
    Cancel cancel;
    cancel.set_timeout(kPatience);
    std::vector<Value> outputs((*session)->outputs().size());
    const RunOptions run{&cancel};
    (void)(*session)->run(std::span<const Value>(inputs), std::span<Value>(outputs), run).ok();
  }
  return 0;
}
