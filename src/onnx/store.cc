// SPDX-License-Identifier: Apache-2.0
#include "onnx/store.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/format.h"
#include "onnx/display.h"
#include "onnx/external_data.h"
#include "onnx/sha1.h"
#include "onnx/span_writer.h"
#include "onnx/tensor_data.h"
#include "onnx/walk.h"

namespace sx::onnx {
namespace {

constexpr uint64_t kProtobufLimit = (uint64_t(1) << 31) - 1;

std::string folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// The raw bytes of a tensor, wherever they are; typed fields are turned into raw ones.
Result<std::span<const uint8_t>> raw_bytes(Model& model, TensorProto& t) {
  if (t.is_external()) {
    SX_ASSIGN(const TensorInfo info, tensor_info(t));
    SX_ASSIGN(const ExternalBytes external, external_bytes(t, info.raw_bytes, model.external.get()));
    return external.bytes;
  }
  SX_TRY(check_tensor(t, data_source(model)));
  if (t.raw_data.empty()) {
    SX_ASSIGN(const Tensor tensor, to_tensor(model, t));
    TensorProto raw = from_tensor(tensor);
    t.raw_data = std::move(raw.raw_data);
    t.float_data = {};
    t.int32_data = {};
    t.int64_data = {};
    t.double_data = {};
    t.uint64_data = {};
  }
  return t.raw_data.bytes();
}

void point_to(TensorProto& t, const std::string& location, uint64_t offset, uint64_t length) {
  t.raw_data.clear();
  t.external_data.clear();
  t.external_data.push_back({{}, "location", location});
  t.external_data.push_back({{}, "offset", std::to_string(offset)});
  t.external_data.push_back({{}, "length", std::to_string(length)});
  t.data_location = int32_t(DataLocation::external);
}

class DataWriter {
 public:
  DataWriter(Model& model, std::string folder, const StoreOptions& options)
      : model_(model), folder_(std::move(folder)), options_(options) {}

  Status one_file(const std::vector<TensorProto*>& tensors, const std::string& location) {
    SX_TRY(check_location(location));
    const std::string path = folder_ + "/" + location;
    std::error_code problem;  // create() says what is wrong
    std::filesystem::create_directories(folder_of(path), problem);
    SX_ASSIGN(OutputFile file, OutputFile::create(path));
    for (TensorProto* t : tensors) {
      if (t->is_external()) SX_TRY(raw_bytes(model_, *t));  // opens the files that the writer copies from
    }
    SpanWriter writer(file, files_of(model_));
    for (TensorProto* t : tensors) {
      SX_ASSIGN(const std::span<const uint8_t> bytes, raw_bytes(model_, *t));
      const uint64_t unit = bytes.size() >= options_.alignment ? options_.alignment : 64;
      SX_TRY(file.pad_to((file.size() + unit - 1) / unit * unit));
      const uint64_t offset = file.size();
      SX_TRY(writer.put(bytes));
      // The payload stays where it is until every file is written.
      moved_.push_back({t, location, offset, bytes.size()});
    }
    report.files.push_back({location, file.size(), tensors.size()});
    return file.commit();
  }

  Status finish() {
    std::map<std::string, std::string> sums;
    for (const Moved& m : moved_) {
      point_to(*m.tensor, m.location, m.offset, m.length);
      if (!options_.checksum) continue;
      std::string& sum = sums[m.location];
      if (sum.empty()) {
        SX_ASSIGN(const auto file, MappedFile::open(folder_ + "/" + m.location));
        sum = sha1_hex(file->bytes());
      }
      m.tensor->external_data.push_back({{}, "checksum", sum});
    }
    return {};
  }

  StoreReport report;

 private:
  struct Moved {
    TensorProto* tensor;
    std::string location;
    uint64_t offset, length;
  };
  Model& model_;
  std::string folder_;
  const StoreOptions& options_;
  std::vector<Moved> moved_;
};

std::vector<TensorProto*> large_tensors(Model& model, uint64_t smallest) {
  std::vector<TensorProto*> tensors;
  each_tensor(model, [&](TensorProto& t, const std::string&) {
    const auto info = tensor_info(t);
    if (info.ok() && info->type != DType::string && info->raw_bytes >= std::max<uint64_t>(smallest, 1)) {
      tensors.push_back(&t);
    }
  });
  return tensors;
}

// A file name that the tensor's name suggests and that nobody has yet.
std::string file_name(std::string_view name, std::set<std::string>& taken) {
  std::string base;
  for (char c : name.substr(0, 100)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '_' || c == '-' || c == '.';
    base += plain ? c : '_';
  }
  if (base.empty() || base[0] == '.') base = "tensor" + base;
  std::string file = base + ".bin";
  for (int i = 2; !taken.insert(file).second; ++i) file = format("{}-{}.bin", base, i);
  return file;
}

Status move_inside(Model& model) {
  Status status;
  each_tensor(model, [&](TensorProto& t, const std::string& path) {
    if (!t.is_external() || !status.ok()) return;
    const auto bytes = raw_bytes(model, t);
    if (!bytes.ok()) {
      status = Status(bytes.status()).in(path);
      return;
    }
    t.raw_data = Bytes::borrow(bytes->data(), bytes->size());  // the model's ExternalFiles keep it
    t.external_data.clear();
    t.data_location.clear();
  });
  return status;
}

}  // namespace

Status copy_data_files(const Model& model, const std::string& folder, StoreReport& report) {
  std::map<std::string, size_t> locations;
  Status status;
  each_tensor(model, [&](const TensorProto& t, const std::string& path) {
    if (!t.is_external() || !status.ok()) return;
    const auto info = external_info(t);
    if (info.ok()) {
      ++locations[std::string(info->location)];
    } else {
      status = Status(info.status()).in(path);
    }
  });
  SX_TRY(status);
  if (locations.empty() || !model.external) return {};
  std::error_code problem;
  if (std::filesystem::equivalent(folder, model.external->folder(), problem)) return {};
  for (const auto& [location, tensors] : locations) {
    SX_ASSIGN(const auto data, model.external->open(location));
    const std::string path = folder + "/" + location;
    std::filesystem::create_directories(folder_of(path), problem);
    SX_ASSIGN(OutputFile file, OutputFile::create(path));
    SpanWriter writer(file, {data});
    SX_TRY(writer.put(data->bytes()));
    SX_TRY(file.commit());
    report.files.push_back({location, data->bytes().size(), tensors});
  }
  return {};
}

Result<StoreReport> store_model(const Model& original, const std::string& path, const StoreOptions& options) {
  using Data = StoreOptions::Data;
  Data data = options.data;
  const std::string folder = folder_of(path);
  Model model = original;  // structures only; payloads stay where they are
  if (data == Data::inside) SX_TRY(move_inside(model));
  const uint64_t size = message_size<ModelProto>(model, options.write);
  if (size > kProtobufLimit && !options.allow_large && data != Data::each_file) data = Data::one_file;
  DataWriter writer(model, folder, options);
  if (data == Data::one_file) {
    const std::string location = options.location.empty()
                                     ? std::filesystem::path(path).filename().string() + ".data"
                                     : options.location;
    const auto tensors = large_tensors(model, options.smallest);
    if (!tensors.empty()) SX_TRY(writer.one_file(tensors, location));
  } else if (data == Data::each_file) {
    std::set<std::string> taken;
    for (TensorProto* t : large_tensors(model, options.smallest)) {
      SX_TRY(writer.one_file({t}, file_name(t->name, taken)));
    }
  } else if (data == Data::keep) {
    SX_TRY(copy_data_files(model, folder, writer.report));
  }
  SX_TRY(writer.finish());
  writer.report.model_bytes = message_size<ModelProto>(model, options.write);
  SX_TRY(write_model(model, path, options.write));
  return writer.report;
}

std::vector<ExternalFileReport> external_files(const Model& model, bool verify_checksums) {
  std::vector<ExternalFileReport> files;
  const DataSource source = data_source(model);
  each_tensor(model, [&](const TensorProto& t, const std::string& path) {
    if (!t.is_external()) return;
    const auto info = external_info(t);
    const std::string location = info.ok() ? std::string(info->location) : "";
    auto it = std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.location == location; });
    if (it == files.end()) it = files.insert(files.end(), {location});
    ++it->tensors;
    if (info.ok() && it->checksum.empty()) it->checksum = info->checksum;
    if (const auto size = tensor_info(t); size.ok()) it->used += size->raw_bytes;
    if (Status s = check_tensor(t, source); !s.ok() && it->status.ok()) it->status = std::move(s).in(path);
  });
  for (ExternalFileReport& f : files) {
    if (!verify_checksums || f.checksum.empty() || !f.status.ok()) continue;
    const auto file = model.external->open(f.location);
    const std::string sum = sha1_hex((*file)->bytes());
    if (sum != f.checksum) {
      f.status =
          error(Code::invalid_model, "the checksum is {}, the model says {}", sum, onnx::quoted(f.checksum));
    }
  }
  return files;
}

}  // namespace sx::onnx
