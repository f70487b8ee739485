// SPDX-License-Identifier: Apache-2.0
// A small program for the Python tests of the format. Each line of standard input is a job, its words
// separated by tabs; each gets one line of answer, "ok" or the error.
//   copy FILE             read, serialise every message again, compare the bytes
//   canonical FILE OUT    write without regard to how it was read
//   tensors FILE          decode every stored tensor
//   text FILE             print as ONNX text, parse it, compare the models
//   print FILE OUT        as ONNX text            parse TEXT OUT   back
//   copyfile FILE OUT     read and write          python FILE OUT  as a script, arrays in OUT.d
//   pack FILE OUT         with its weights in a file beside it
//   pb KIND FILE OUT      a value                 npy FILE OUT TYPE, npz FILE OUT, npypb FILE OUT TYPE
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>

#include "base/output_file.h"
#include "onnx/npy.h"
#include "onnx/python_script.h"
#include "onnx/read.h"
#include "onnx/store.h"
#include "onnx/tensor_data.h"
#include "onnx/text.h"
#include "onnx/value_pb.h"
#include "onnx/write.h"

using namespace sx;
using namespace sx::onnx;

namespace {

std::span<const uint8_t> bytes_of(const std::string& s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

Status compare(std::span<const uint8_t> was, const std::string& is) {
  if (was.size() == is.size() && std::memcmp(was.data(), is.data(), is.size()) == 0) return {};
  size_t at = 0;
  while (at < was.size() && at < is.size() && was[at] == uint8_t(is[at])) ++at;
  return Status(Code::internal, "differs at byte " + std::to_string(at) + " of " +
                                    std::to_string(was.size()) + ", written " + std::to_string(is.size()));
}

Status tensors_of(const Model& model, const GraphProto& graph) {
  for (const TensorProto& t : graph.initializer) SX_TRY(to_tensor(model, t));
  for (const SparseTensorProto& t : graph.sparse_initializer) SX_TRY(to_sparse_tensor(t, data_source(model)));
  for (const NodeProto& n : graph.node) {
    for (const AttributeProto& a : n.attribute) {
      if (a.t) SX_TRY(to_tensor(model, *a.t));
      if (a.sparse_tensor) SX_TRY(to_sparse_tensor(*a.sparse_tensor, data_source(model)));
      for (const TensorProto& t : a.tensors) SX_TRY(to_tensor(model, t));
      if (a.g) SX_TRY(tensors_of(model, *a.g));
      for (const GraphProto& g : a.graphs) SX_TRY(tensors_of(model, g));
    }
  }
  return {};
}

// Equal in all fields, whatever their order and form in the file.
Status text_round_trip(const Model& model) {
  SX_ASSIGN(const std::shared_ptr<Model> again, parse_text(print_text(model)));
  const std::string was = message_bytes<ModelProto>(model, {.canonical = true});
  return compare(bytes_of(was), message_bytes<ModelProto>(*again, {.canonical = true}));
}

Status write_file(const std::string& path, const std::string& text) {
  SX_ASSIGN(OutputFile file, OutputFile::create(path));
  SX_TRY(file.write(std::string_view(text)));
  return file.commit();
}

Status arrays(const std::vector<std::string>& w) {
  if (w[0] == "npz") {
    SX_ASSIGN(const std::vector<NamedTensor> tensors, read_npz(w[1]));
    return write_npz(w[2], tensors);
  }
  DType type = DType::undefined;
  parse_dtype(w[3], type);
  SX_ASSIGN(const Tensor t, read_npy(w[1], type));
  return w[0] == "npy" ? write_npy(w[2], t) : write_value_pb(w[2], t);
}

Status value(const std::vector<std::string>& w) {
  for (int k = 1; k <= 5; ++k) {
    if (kind_name(Value::Kind(k)) != w[1]) continue;
    SX_ASSIGN(const NamedValue v, read_value_pb(w[2], Value::Kind(k)));
    return write_value_pb(w[3], v.value, v.name);
  }
  return Status(Code::invalid_argument, "no such kind of value: " + w[1]);
}

Status write_script(const Model& model, const std::string& path) {
  SX_ASSIGN(const PythonScript script,
            python_script(model, std::filesystem::path(path).filename().string() + ".d"));
  std::filesystem::create_directories(path + ".d");
  for (const auto& [name, tensor] : script.arrays) SX_TRY(write_npy(path + ".d/" + name, tensor));
  return write_file(path, script.text);
}

Status run(std::vector<std::string> w) {
  w.resize(std::max<size_t>(w.size(), 4));
  const std::string& job = w[0];
  if (job == "pb") return value(w);
  if (job == "npy" || job == "npz" || job == "npypb") return arrays(w);
  if (job == "parse") {
    SX_ASSIGN(const std::shared_ptr<Model> model, parse_text_file(w[1]));
    return write_model(*model, w[2]);
  }
  SX_ASSIGN(const std::shared_ptr<Model> model, read_model(w[1]));
  if (job == "copy") return compare(model->file->bytes(), message_bytes<ModelProto>(*model));
  if (job == "canonical") return write_model(*model, w[2], {.canonical = true});
  if (job == "copyfile") return write_model(*model, w[2]);
  if (job == "pack") {
    return store_model(*model, w[2], {.data = StoreOptions::Data::one_file}).status();
  }
  if (job == "text") return text_round_trip(*model);
  if (job == "print") return write_file(w[2], print_text(*model));
  if (job == "python") return write_script(*model, w[2]);
  if (job == "tensors") return model->graph ? tensors_of(*model, *model->graph) : Status();
  return Status(Code::invalid_argument, "no such job: " + job);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::vector<std::string> words;
    for (size_t at = 0; at <= line.size();) {
      const size_t tab = std::min(line.find('\t', at), line.size());
      words.push_back(line.substr(at, tab - at));
      at = tab + 1;
    }
    std::string answer = run(words).to_string();
    for (char& c : answer) c = c == '\n' ? '|' : c;
    std::cout << answer << std::endl;
  }
  return 0;
}
