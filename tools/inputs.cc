// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <random>
#include <unordered_map>
#include <unordered_set>

#include "base/format.h"
#include "base/hash.h"
#include "onnx/npy.h"
#include "onnx/value_pb.h"
#include "signals.h"

namespace sx::tools {

Result<std::pair<std::string, std::string>> split_assignment(const std::string& text) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0)
    return error(Code::invalid_argument, "expected NAME=VALUE, found '{}'", text);
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

Result<std::vector<std::pair<std::string, int64_t>>> parse_dims(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, int64_t>> dims;
  for (const std::string& text : texts) {
    SX_ASSIGN(auto parts, split_assignment(text));
    int64_t size = 0;
    const char* end = parts.second.data() + parts.second.size();
    if (auto r = std::from_chars(parts.second.data(), end, size);
        r.ec != std::errc() || r.ptr != end || size < 0) {
      return error(Code::invalid_argument, "--dim {}: '{}' is not a size", text, parts.second);
    }
    dims.emplace_back(parts.first, size);
  }
  return dims;
}

Result<Value> read_value(const std::string& path, const Type& type) {
  if (path.ends_with(".pb")) {
    SX_ASSIGN(onnx::NamedValue v, onnx::read_value_pb(path, type.known() ? type.kind : Value::Kind::tensor));
    return std::move(v.value);
  }
  if (path.ends_with(".npz")) {
    SX_ASSIGN(auto list, onnx::read_npz(path));
    if (list.size() != 1)
      return error(Code::invalid_argument, "expected one array, found {}", list.size()).in(path);
    return Value(std::move(list[0].tensor));
  }
  SX_ASSIGN(Tensor t, onnx::read_npy(path, type.elem));
  return Value(std::move(t));
}

namespace {

int64_t size_for(Dim d, const std::vector<std::pair<std::string, int64_t>>& dims) {
  if (d.is_constant()) return d.constant();
  DimPool* pool = d.expr()->pool;
  std::vector<int64_t> values(pool->symbols(), 8);
  for (uint32_t s = 0; s < values.size(); ++s) {
    const std::string& name = pool->symbol_name(s);
    if (name.find("batch") != std::string::npos || name == "N" || name == "B" || pool->is_fresh(s))
      values[s] = 1;
    for (auto& [given, size] : dims) values[s] = given == name ? size : values[s];
  }
  int64_t v = 0;
  return evaluate(d, values, v) && v >= 0 ? v : 1;
}

template <class T, class Next>
void fill(Tensor& t, Next next) {
  for (T& v : t.mutable_as<T>()) v = T(next());
}

}  // namespace

Result<Value> random_value(const ValueDesc& input, uint64_t seed,
                           const std::vector<std::pair<std::string, int64_t>>& given) {
  if (!input.type.is_tensor()) {
    return error(Code::unsupported, "input '{}' is {}: give it as a .pb file", input.name,
                 to_string(input.type));
  }
  if (!input.type.shape.known) {
    return error(Code::unsupported, "the rank of input '{}' is not known: give it as a file", input.name);
  }
  Dims dims;
  for (Dim d : input.type.shape.dims) dims.push_back(size_for(d, given));
  SX_ASSIGN(Tensor t, Tensor::allocate(input.type.elem, dims));
  std::mt19937_64 random(hash_text(input.name, seed));
  std::normal_distribution<float> normal;
  auto small = [&] { return random() % 8; };
  switch (input.type.elem) {
    case DType::f32: fill<float>(t, [&] { return normal(random); }); break;
    case DType::f64: fill<double>(t, [&] { return double(normal(random)); }); break;
    case DType::f16:
      fill<uint16_t>(t, [&] { return 0x3800 + random() % 0x400 + (random() % 2 << 15); });
      break;
    case DType::bf16:
      fill<uint16_t>(t, [&] { return 0x3f00 + random() % 0x80 + (random() % 2 << 15); });
      break;
    case DType::i64:
    case DType::u64: fill<int64_t>(t, small); break;
    case DType::i32:
    case DType::u32: fill<int32_t>(t, small); break;
    case DType::i16:
    case DType::u16: fill<int16_t>(t, small); break;
    case DType::boolean: fill<uint8_t>(t, [&] { return random() % 2; }); break;
    case DType::string:
      for (std::string& s : t.mutable_strings()) s = std::string(1, char('a' + random() % 4));
      break;
    default: std::memset(t.mutable_data(), 0, t.bytes()); break;
  }
  return Value(std::move(t));
}

Result<std::vector<Value>> in_order(const Session& session, std::vector<NamedValue> feeds) {
  std::vector<Value> values(session.inputs().size());
  for (NamedValue& feed : feeds) {
    SX_ASSIGN(const size_t i, session.input_index(feed.name));
    values[i] = std::move(feed.value);
  }
  return values;
}

Result<std::vector<NamedValue>> gather_inputs(const std::vector<ValueDesc>& inputs,
                                              const InputSource& source) {
  const LeaveAtOnce leave;
  std::vector<NamedValue> list;
  std::unordered_map<std::string_view, const Type*> types;
  for (const ValueDesc& d : inputs) types.try_emplace(d.name, &d.type);
  auto type_of_input = [&](const std::string& name) {
    const auto it = types.find(name);
    return it == types.end() ? Type() : *it->second;
  };
  for (const std::string& text : source.named) {
    SX_ASSIGN(auto parts, split_assignment(text));
    SX_ASSIGN(Value v, read_value(parts.second, type_of_input(parts.first)));
    list.push_back({parts.first, std::move(v)});
  }
  if (!source.archive.empty()) {
    SX_ASSIGN(onnx::NpzFile file, onnx::NpzFile::open(source.archive));
    for (size_t i = 0; i < file.size(); ++i) {
      SX_ASSIGN(Tensor t, file.read(i, type_of_input(file.name(i)).elem));
      list.push_back({file.name(i), Value(std::move(t))});
    }
  }
  if (source.random) {
    std::unordered_set<std::string> given;
    for (const NamedValue& v : list) given.insert(v.name);
    for (const ValueDesc& d : inputs) {
      if (given.contains(d.name)) continue;
      SX_ASSIGN(Value v, random_value(d, source.seed, source.dims));
      list.push_back({d.name, std::move(v)});
    }
  }
  return list;
}

Status write_outputs(const std::vector<ValueDesc>& outputs, const std::vector<Value>& values,
                     const std::string& folder, const std::string& archive) {
  auto numpy = [](const Value& v) { return v.is_tensor(); };
  if (!folder.empty()) {
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
      return error(Code::io, "cannot make the folder: {}", std::strerror(errno)).in(folder);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      std::string file = outputs[i].name;
      for (char& c : file) c = c == '/' || c == '\0' || c == ':' ? '_' : c;
      const std::string path = folder + "/" + file + (numpy(values[i]) ? ".npy" : ".pb");
      SX_TRY(numpy(values[i]) ? onnx::write_npy(path, values[i].tensor)
                              : onnx::write_value_pb(path, values[i], outputs[i].name));
    }
  }
  if (archive.empty()) return {};
  std::vector<onnx::NamedTensor> tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!numpy(values[i])) {
      return error(Code::unsupported, "output '{}' is a {}, which an .npz cannot hold; use --output-dir",
                   outputs[i].name, kind_name(values[i].kind));
    }
    tensors.push_back({outputs[i].name, values[i].tensor});
  }
  return onnx::write_npz(archive, tensors);
}

}  // namespace sx::tools
