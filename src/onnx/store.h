// SPDX-License-Identifier: Apache-2.0
// Writes a model and decides where its tensor data goes: as it was, into one file beside the model, into a
// file for each tensor, or into the model itself.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "onnx/model.h"
#include "onnx/write.h"

namespace sx::onnx {

struct StoreOptions {
  enum class Data {
    keep,       // as it is; data files are copied along when the model goes to another folder
    one_file,   // into `location` beside the model
    each_file,  // a file for each tensor, named after it
    inside,     // into the model
  };
  Data data = Data::keep;
  std::string location;       // for one_file; empty: the model's file name with ".data"
  uint64_t smallest = 1024;   // smaller tensors stay in the model
  uint64_t alignment = 4096;  // of data that is at least this large; smaller data starts at multiples of 64
  bool checksum = false;      // write SHA-1 checksums of the data files
  // A model of more than 2 GB goes to one_file by itself unless this is set: the protobuf library cannot read
  // it.
  bool allow_large = false;
  WriteOptions write;
};

struct StoreReport {
  uint64_t model_bytes = 0;
  struct File {
    std::string location;
    uint64_t bytes = 0;
    size_t tensors = 0;
  };
  std::vector<File> files;  // data files that were written
};

Result<StoreReport> store_model(const Model& model, const std::string& path,
                                const StoreOptions& options = {});

// Copies the data files that the model points to into a folder, unless they lie there.
Status copy_data_files(const Model& model, const std::string& folder, StoreReport& report);

struct ExternalFileReport {
  std::string location;
  size_t tensors = 0;
  uint64_t used = 0;     // bytes that tensors point to
  std::string checksum;  // as the model says; empty: it does not
  Status status;         // it can be opened, every tensor lies inside it, the checksum is right if asked for
};
std::vector<ExternalFileReport> external_files(const Model& model, bool verify_checksums);

}  // namespace sx::onnx
