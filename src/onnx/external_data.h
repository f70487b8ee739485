// SPDX-License-Identifier: Apache-2.0
// Tensor data in files beside the model. A location must lie inside the model's folder: relative, without
// "..", a regular file; symbolic links must not lead out of the folder. Each file is opened once for each
// model.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "onnx/model.h"

namespace sx::onnx {

struct ExternalInfo {  // what the external_data entries of a tensor say
  std::string_view location;
  std::optional<uint64_t> offset, length;
  std::string_view checksum;
};
Result<ExternalInfo> external_info(const TensorProto& tensor);

// Refuses a location that is empty, absolute, climbs out with "..", or holds a NUL.
Status check_location(std::string_view location);

class ExternalFiles {  // safe to use from several threads
 public:
  explicit ExternalFiles(std::string folder, LoadMode load = LoadMode::map);
  ~ExternalFiles();
  const std::string& folder() const { return folder_; }
  Result<std::shared_ptr<const MappedFile>> open(std::string_view location);
  std::vector<std::shared_ptr<const MappedFile>> opened() const;
  // Data that is not on disk: later open(location) gives this.
  void provide(std::string location, std::shared_ptr<const MappedFile> file);

 private:
  struct State;
  std::string folder_;
  LoadMode load_;
  std::unique_ptr<State> state_;
};

struct ExternalBytes {
  std::span<const uint8_t> bytes;
  std::shared_ptr<const MappedFile> file;
};
// The bytes of a tensor whose data is external, `expected` of them (from its type and dims).
Result<ExternalBytes> external_bytes(const TensorProto& tensor, uint64_t expected, ExternalFiles* files);

}  // namespace sx::onnx
