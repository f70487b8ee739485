// SPDX-License-Identifier: Apache-2.0
// Tensors as numpy keeps them: .npy (versions 1, 2 and 3) and .npz (stored or deflated, zip64 included).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "tensor/tensor.h"

namespace sx::onnx {

// numpy writes the types of ml_dtypes (bfloat16, float8, int4 …) as nameless bytes: `expected` says which one
// they are. Two nameless bytes are bfloat16 when nothing else is said. Otherwise `expected` is not looked at.
Result<Tensor> read_npy(const std::string& path, DType expected = DType::undefined);
Result<Tensor> parse_npy(std::shared_ptr<const MappedFile> file, DType expected = DType::undefined);
Status write_npy(const std::string& path, const Tensor& tensor);
Result<std::string> npy_bytes(const Tensor& tensor);

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

class NpzFile {  // the directory of an .npz; members are decoded when asked for
 public:
  static Result<NpzFile> open(const std::string& path, LoadMode load = LoadMode::map);
  static Result<NpzFile> parse(std::shared_ptr<const MappedFile> file);
  size_t size() const { return members_.size(); }
  const std::string& name(size_t i) const { return members_[i].name; }  // without ".npy"
  Result<Tensor> read(size_t i, DType expected = DType::undefined) const;

 private:
  struct Member {
    std::string name;
    uint64_t header = 0, packed = 0, size = 0;
    uint32_t crc = 0;
    uint16_t method = 0;
  };
  std::shared_ptr<const MappedFile> file_;
  std::vector<Member> members_;
};

Result<std::vector<NamedTensor>> read_npz(const std::string& path);
Status write_npz(const std::string& path, const std::vector<NamedTensor>& tensors);

}  // namespace sx::onnx
