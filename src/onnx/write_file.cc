// SPDX-License-Identifier: Apache-2.0
// Models into files: a new one through a temporary file, or the model's own where it lies.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "onnx/external_data.h"
#include "onnx/sink.h"
#include "onnx/span_writer.h"
#include "onnx/write.h"

namespace sx::onnx {
namespace {

class FileSink final : public Sink {
 public:
  FileSink(OutputFile& to, const std::vector<std::shared_ptr<const MappedFile>>& sources)
      : writer_(to, sources) {}
  void put(const uint8_t* data, size_t size) override {
    if (status_.ok()) status_ = writer_.put({data, size});
  }
  Status&& status() && { return std::move(status_); }

 private:
  SpanWriter writer_;
  Status status_;
};

// What a file of the same length would have to change. Bytes that come from their own place are not looked
// at.
class PatchSink final : public Sink {
 public:
  explicit PatchSink(std::span<const uint8_t> file) : file_(file) {}
  void put(const uint8_t* data, size_t size) override {
    const uint8_t* const there = file_.data() + at_;
    if (data != there && std::memcmp(data, there, size) != 0) {
      if (!patches.empty() && patches.back().at + patches.back().bytes.size() == at_) {
        patches.back().bytes.append(reinterpret_cast<const char*>(data), size);
      } else {
        patches.push_back({at_, std::string(reinterpret_cast<const char*>(data), size)});
      }
    }
    at_ += size;
  }
  struct Patch {
    uint64_t at;
    std::string bytes;
  };
  std::vector<Patch> patches;

 private:
  std::span<const uint8_t> file_;
  uint64_t at_ = 0;
};

Status write_patches(const std::vector<PatchSink::Patch>& patches, const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return error(Code::io, "cannot open to write: {}", std::strerror(errno)).in(path);
  Status status;
  for (const PatchSink::Patch& p : patches) {
    const ssize_t n = ::pwrite(fd, p.bytes.data(), p.bytes.size(), off_t(p.at));
    if (n != ssize_t(p.bytes.size()) && status.ok()) {
      status = error(Code::io, "cannot write {} bytes at {}: {}", p.bytes.size(), p.at, std::strerror(errno))
                   .in(path);
    }
  }
  if (::fsync(fd) != 0 && status.ok())
    status = error(Code::io, "cannot write: {}", std::strerror(errno)).in(path);
  ::close(fd);
  return status;
}

}  // namespace

std::vector<std::shared_ptr<const MappedFile>> files_of(const Model& model) {
  std::vector<std::shared_ptr<const MappedFile>> files{model.file};
  if (model.external) {
    for (auto& file : model.external->opened()) files.push_back(std::move(file));
  }
  return files;
}

Status write_model(const Model& model, const std::string& path, const WriteOptions& options) {
  SX_ASSIGN(OutputFile file, OutputFile::create(path));
  FileSink sink(file, files_of(model));
  emit_model(model, options, sink);
  SX_TRY(std::move(sink).status());
  return file.commit();
}

Result<bool> patch_model(const Model& model) {
  if (!model.file || !model.file->is_mapped()) {
    return error(Code::invalid_argument, "only a model that was mapped from a file can be changed in place");
  }
  SX_TRY(model.file->check_unchanged());
  // Before anything is compared: behind a change of length, all bytes are others.
  if (message_size<ModelProto>(model) != model.file->bytes().size()) return false;
  PatchSink sink(model.file->bytes());
  emit_model(model, {}, sink);
  SX_TRY(write_patches(sink.patches, model.file->path()));
  return true;
}

}  // namespace sx::onnx
