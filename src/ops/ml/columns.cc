// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/columns.h"

#include <cmath>

namespace sx::ops {

Columns columns_of(const Tensor& x) {
  if (x.rank() == 0) return {1, 1};
  if (x.rank() == 1) return {1, x.dims()[0]};
  const int64_t rows = x.dims()[0];
  return {rows, product(std::span(x.dims().begin() + 1, x.rank() - 1))};
}

SymbolicColumns columns_of(const std::vector<Dim>& dims) {
  SymbolicColumns found;
  if (dims.size() > 1) found.rows = dims[0];
  for (size_t a = dims.size() > 1; a < dims.size(); ++a) found.cols = found.cols * dims[a];
  return found;
}

void infer_rows(Infer& i, size_t out, DType elem, Dim cols) {
  const Dim rows = i.rank_known(0) ? columns_of(i.dims(0)).rows : i.fresh("rows");
  i.set_tensor(out, elem, Shape({rows, cols}));
}

std::vector<double> numbers_of(const Attrs& attrs, const std::string& name) {
  if (const auto* list = attrs.get<std::vector<float>>(name)) return {list->begin(), list->end()};
  if (const Tensor* t = attrs.get<Tensor>(name + "_as_tensor")) {
    const Reader<double> numbers(*t);
    return {numbers.begin(), numbers.end()};
  }
  return {};
}

const std::vector<std::string>& texts_of(const Attrs& attrs, std::string_view name) {
  static const std::vector<std::string> none;
  const auto* list = attrs.get<std::vector<std::string>>(name);
  return list ? *list : none;
}

Labels Labels::of(const Attrs& attrs, std::string_view text_name, std::string_view int_name) {
  return {texts_of(attrs, text_name), attrs.integers(int_name)};
}

void infer_classifier(Infer& i, const Labels& labels, Dim classes) {
  infer_rows(i, 1, DType::f32, classes);
  i.set_tensor(0, labels.type(), Shape({i.out(1).shape.dims[0]}));
}

void LabelWriter::put(int64_t row, size_t index) {
  if (labels_.texts.empty()) {
    out_.mutable_as<int64_t>()[size_t(row)] = labels_.ints[index];
  } else {
    out_.mutable_strings()[size_t(row)] = labels_.texts[index];
  }
}

void LabelWriter::put(int64_t row, std::string text, int64_t number) {
  if (labels_.texts.empty()) {
    out_.mutable_as<int64_t>()[size_t(row)] = number;
  } else {
    out_.mutable_strings()[size_t(row)] = std::move(text);
  }
}

KeyTable::KeyTable(const Tensor& keys) {
  if (keys.type() == DType::string) {
    add(keys.strings());
  } else if (dtype_is_float(keys.type())) {
    const Reader<double> numbers(keys);
    for (size_t k : turns(numbers.size())) {
      if (!std::isnan(numbers[k])) {
        floats_.emplace(numbers[k] == 0 ? 0.0 : numbers[k], int64_t(k));
      } else if (nan_ < 0) {
        nan_ = int64_t(k);
      }
    }
  } else {
    const Reader<int64_t> numbers(keys);
    for (size_t k : turns(numbers.size())) ints_.emplace(numbers[k], int64_t(k));
  }
}

KeyTable::KeyTable(const std::vector<std::string>& keys) { add(keys); }

KeyTable::KeyTable(const std::vector<int64_t>& keys) {
  for (size_t k : turns(keys.size())) ints_.emplace(keys[k], int64_t(k));
}

void KeyTable::add(std::span<const std::string> keys) {
  storage_.reserve(keys.size());
  for (const std::string& key : stoppable(keys)) storage_.push_back(key);
  for (size_t k : turns(storage_.size())) texts_.emplace(storage_[k], int64_t(k));
}

int64_t KeyTable::find(const std::string& key) const {
  const auto it = texts_.find(key);
  return it == texts_.end() ? -1 : it->second;
}

int64_t KeyTable::find(int64_t key) const {
  const auto it = ints_.find(key);
  return it == ints_.end() ? -1 : it->second;
}

int64_t KeyTable::find(double key) const {
  if (std::isnan(key)) return nan_;
  const auto it = floats_.find(key == 0 ? 0.0 : key);
  return it == floats_.end() ? -1 : it->second;
}

Result<Workspace<int64_t>> KeyTable::find_all(const Tensor& x) const {
  Workspace<int64_t> places(static_cast<size_t>(x.count()));
  const auto find_each = [&](const auto& list) {
    for (size_t k : turns(places.size())) places[k] = find(list[k]);
  };
  if (x.type() == DType::string) {
    find_each(x.strings());
  } else if (dtype_is_float(x.type()) && ints_.empty()) {
    find_each(Reader<double>(x));
  } else {
    find_each(Reader<int64_t>(x));
  }
  SX_TRY(check_stop());
  return places;
}

}  // namespace sx::ops
