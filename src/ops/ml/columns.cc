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

void infer_rows(Infer& i, size_t out, DType elem, Dim cols) {
  Dim rows = i.fresh("rows");
  if (i.rank_known(0)) rows = i.rank(0) < 2 ? Dim(1) : i.dim(0, 0);
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
    for (size_t k = 0; k < numbers.size(); ++k) {
      if (!std::isnan(numbers[k])) {
        floats_.emplace(numbers[k] == 0 ? 0.0 : numbers[k], int64_t(k));
      } else if (nan_ < 0) {
        nan_ = int64_t(k);
      }
    }
  } else {
    const Reader<int64_t> numbers(keys);
    for (size_t k = 0; k < numbers.size(); ++k) ints_.emplace(numbers[k], int64_t(k));
  }
}

KeyTable::KeyTable(const std::vector<std::string>& keys) { add(keys); }

KeyTable::KeyTable(const std::vector<int64_t>& keys) {
  for (size_t k = 0; k < keys.size(); ++k) ints_.emplace(keys[k], int64_t(k));
}

void KeyTable::add(std::span<const std::string> keys) {
  storage_.assign(keys.begin(), keys.end());
  for (size_t k = 0; k < storage_.size(); ++k) texts_.emplace(storage_[k], int64_t(k));
}

int64_t KeyTable::find(double key) const {
  if (std::isnan(key)) return nan_;
  const auto it = floats_.find(key == 0 ? 0.0 : key);
  return it == floats_.end() ? -1 : it->second;
}

std::vector<int64_t> KeyTable::find_all(const Tensor& x) const {
  std::vector<int64_t> places(size_t(x.count()), -1);
  if (x.type() == DType::string) {
    const std::span<const std::string> list = x.strings();
    for (size_t k = 0; k < list.size(); ++k) {
      const auto it = texts_.find(list[k]);
      if (it != texts_.end()) places[k] = it->second;
    }
  } else if (dtype_is_float(x.type()) && ints_.empty()) {
    const Reader<double> list(x);
    for (size_t k = 0; k < list.size(); ++k) places[k] = find(list[k]);
  } else {
    const Reader<int64_t> list(x);
    for (size_t k = 0; k < list.size(); ++k) {
      const auto it = ints_.find(list[k]);
      if (it != ints_.end()) places[k] = it->second;
    }
  }
  return places;
}

}  // namespace sx::ops
