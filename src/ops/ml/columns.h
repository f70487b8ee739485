// SPDX-License-Identifier: Apache-2.0
// What the ONNX-ML operators share: inputs as rows of columns, numbers in attributes, class labels.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/codec.h"

namespace sx::ops {

inline constexpr std::string_view kMl = "ai.onnx.ml";
inline constexpr DTypeSet kMlNumbers = DTypeSet::of(DType::f32, DType::f64, DType::i64, DType::i32);
inline constexpr DTypeSet kLabels = DTypeSet::of(DType::string, DType::i64);

// [rows, cols]; one axis alone is one row, axes after the second are columns too.
struct Columns {
  int64_t rows = 1, cols = 1;
};
Columns columns_of(const Tensor& x);
struct SymbolicColumns {
  Dim rows = 1, cols = 1;
};
SymbolicColumns columns_of(const std::vector<Dim>& dims);
// Output `out` is [rows of input 0, cols].
void infer_rows(Infer& i, size_t out, DType elem, Dim cols);

// A list of floats, or the tensor NAME_as_tensor in its place.
std::vector<double> numbers_of(const Attrs& attrs, const std::string& name);
const std::vector<std::string>& texts_of(const Attrs& attrs, std::string_view name);

// The labels of a classifier: strings or integers, whichever attribute is there.
struct Labels {
  std::vector<std::string> texts;
  std::vector<int64_t> ints;
  static Labels of(const Attrs& attrs, std::string_view text_name, std::string_view int_name);
  size_t size() const { return texts.empty() ? ints.size() : texts.size(); }
  DType type() const { return texts.empty() ? DType::i64 : DType::string; }
};
// Output 0: one label a row; output 1: scores [rows, classes].
void infer_classifier(Infer& i, const Labels& labels, Dim classes);

// Writes labels by class number into output 0.
class LabelWriter {
 public:
  LabelWriter(const Labels& labels, Tensor& out) : labels_(labels), out_(out) {}
  void put(int64_t row, size_t index);
  void put(int64_t row, std::string text, int64_t number);  // a label that the model does not name

 private:
  const Labels& labels_;
  Tensor& out_;
};

// Finds the place of a key in a list; of equal keys the first counts. Floats compare as numbers, NaN equals
// NaN.
class KeyTable {
 public:
  explicit KeyTable(const Tensor& keys);
  explicit KeyTable(const std::vector<std::string>& keys);
  explicit KeyTable(const std::vector<int64_t>& keys);
  KeyTable(KeyTable&&) = default;  // not to be copied: texts_ looks into storage_
  // The place of a key, or of all elements of `x`; -1 where there is none.
  int64_t find(const std::string& key) const;
  int64_t find(int64_t key) const;
  int64_t find(double key) const;
  Result<Workspace<int64_t>> find_all(const Tensor& x) const;

 private:
  void add(std::span<const std::string> keys);
  std::vector<std::string> storage_;
  std::unordered_map<std::string_view, int64_t> texts_;
  std::unordered_map<int64_t, int64_t> ints_;
  std::unordered_map<double, int64_t> floats_;
  int64_t nan_ = -1;
};

}  // namespace sx::ops
