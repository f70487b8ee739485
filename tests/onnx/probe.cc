// SPDX-License-Identifier: Apache-2.0
// A small program for the Python tests of the format: one job over many files, one line of answer for each.
//   probe copy FILE…       read, serialise every message again, compare the bytes
//   probe canonical FILE…  the same after writing without regard to the original bytes and reading that back
//   probe tensors FILE…    decode every stored tensor
//   probe text FILE…       print as ONNX text, parse it, compare the models
//   probe print FILE OUT   print as ONNX text
//   probe parse TEXT OUT   the model of an ONNX text
//   probe copyfile IN OUT  read and write through a file
#include <cstdio>
#include <cstring>
#include <string>

#include "base/output_file.h"
#include "onnx/read.h"
#include "onnx/tensor_data.h"
#include "onnx/text.h"
#include "onnx/write.h"

using namespace sx;
using namespace sx::onnx;

namespace {

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
  return compare({reinterpret_cast<const uint8_t*>(was.data()), was.size()},
                 message_bytes<ModelProto>(*again, {.canonical = true}));
}

Status write_text_file(const std::string& path, const std::string& text) {
  SX_ASSIGN(OutputFile file, OutputFile::create(path));
  SX_TRY(file.write(std::string_view(text)));
  return file.commit();
}

Status two_files(const std::string& job, const std::string& in, const std::string& out) {
  if (job == "parse") {
    SX_ASSIGN(const std::shared_ptr<Model> model, parse_text_file(in));
    return write_model(*model, out);
  }
  SX_ASSIGN(const std::shared_ptr<Model> model, read_model(in));
  return job == "print" ? write_text_file(out, print_text(*model)) : write_model(*model, out);
}

Status one(const std::string& job, const std::string& path) {
  SX_ASSIGN(std::shared_ptr<Model> model, read_model(path));
  if (job == "copy") return compare(model->file->bytes(), message_bytes<ModelProto>(*model));
  if (job == "text") return text_round_trip(*model);
  if (job == "tensors") return model->graph ? tensors_of(*model, *model->graph) : Status();
  const std::string bytes = message_bytes<ModelProto>(*model, {.canonical = true});
  SX_ASSIGN(auto again, read_model(MappedFile::from_bytes("canonical", bytes.data(), bytes.size()), ""));
  return compare(again->file->bytes(), message_bytes<ModelProto>(*again, {.canonical = true}));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string job = argv[1];
  if (job == "copyfile" || job == "print" || job == "parse") {
    const Status s = two_files(job, argv[2], argv[3]);
    std::printf("%s\n", s.to_string().c_str());
    return s.ok() ? 0 : 3;
  }
  int bad = 0;
  for (int i = 2; i < argc; ++i) {
    const Status s = one(job, argv[i]);
    std::printf("%s\n", s.to_string().c_str());
    bad += !s.ok();
  }
  return bad ? 1 : 0;
}
