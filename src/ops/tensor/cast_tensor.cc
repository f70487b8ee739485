// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor/cast_tensor.h"

#include <charconv>
#include <cmath>

#include "ops/engine/map.h"
#include "ops/engine/move.h"

namespace sx::ops {
namespace {

// The shortest decimal number that reads back as the same element of `type`.
std::string text_of(double v, DType type) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "INF" : "-INF";
  if (type == DType::f64) return sx::format("{}", v);
  if (type == DType::f32) return sx::format("{}", float(v));
  uint16_t bits = 0, again = 0;
  encode(&v, 1, type, &bits, 0, 1);
  for (int digits = 1; digits < 9; ++digits) {
    std::string text = sx::format("{:.{}g}", v, digits);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    again = 0;
    encode(&back, 1, type, &again, 0, 1);
    if (again == bits) return text;
  }
  return sx::format("{}", float(v));
}

Status to_text(const Tensor& from, Tensor& to) {
  const auto out = to.mutable_strings();
  const bool is_float = dtype_is_float(from.type());
  constexpr size_t kText = 16;  // about as many short turns
  for (int64_t k : turns(from.count(), kText)) {
    std::string& text = out[size_t(k)];
    if (is_float)
      text = text_of(number_at<double>(from, k), from.type());
    else if (dtype_is_signed(from.type()))
      text = std::to_string(number_at<int64_t>(from, k));
    else
      text = std::to_string(number_at<uint64_t>(from, k));
  }
  return {};
}

bool same_letters(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (size_t k = 0; k < a.size(); ++k) {
    const char c = a[k] >= 'A' && a[k] <= 'Z' ? char(a[k] - 'A' + 'a') : a[k];
    if (c != lower[k]) return false;
  }
  return true;
}

template <class T>
bool whole(std::string_view text, T& v) {
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  if constexpr (std::is_floating_point_v<T>) {
    if (r.ec == std::errc::result_out_of_range && r.ptr == text.data() + text.size()) {
      // Too large or too small: as far as the number goes in that direction.
      const bool negative = text[0] == '-',
                 tiny = text.find("e-") != text.npos || text.find("E-") != text.npos;
      v = tiny ? T(0) : std::numeric_limits<T>::infinity();
      if (negative) v = -v;
      return true;
    }
  }
  return r.ec == std::errc() && r.ptr == text.data() + text.size();
}

template <class T>
bool parse(std::string_view text, T& v) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const bool minus = !text.empty() && text.front() == '-';
  if constexpr (std::is_floating_point_v<T>) {
    if (same_letters(text, "nan")) return v = std::numeric_limits<T>::quiet_NaN(), true;
    if (same_letters(text.substr(minus), "inf")) {
      v = minus ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
      return true;
    }
    return whole(text, v);
  } else {
    if (whole(text, v)) return true;
    double number = 0;
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!whole(text, number) || !(number < end && number >= (std::is_signed_v<T> ? -end : 0))) return false;
    encode(&number, 1, std::is_signed_v<T> ? DType::i64 : DType::u64, &v, 0, 1);
    return true;
  }
}

template <class T>
Status from_text(const Eval& e, const Tensor& from, Tensor& to, const EncodeOptions& options) {
  Writer<T> out(to, options);
  const auto texts = from.strings();
  StopCheck<1024 * 1024> stop;
  for (size_t k = 0; k < texts.size() && !stop(texts[k].size() + 64); ++k) {
    if (!parse<T>(texts[k], out[k]))
      return e.fail("'{}' is not a number of type {}", texts[k], dtype_name(to.type()));
  }
  return {};
}

}  // namespace

Status check_round_mode(Infer& i) {
  const std::string mode = i.text("round_mode");
  if (mode == "up" || mode == "down" || mode == "nearest") return {};
  return i.fail("round_mode '{}' is not one of up, down and nearest", mode);
}

EncodeOptions cast_options(const Eval& e) {
  EncodeOptions options;
  options.saturate = e.integer("saturate") != 0;
  const std::string mode = e.text("round_mode");
  if (mode == "up")
    options.e8m0 = Rounding::up;
  else if (mode == "down")
    options.e8m0 = Rounding::down;
  else
    options.e8m0 = Rounding::nearest;
  return options;
}

Status cast_tensor(Eval& e, const Tensor& from, Tensor& to, const EncodeOptions& options) {
  if (from.type() == to.type()) {
    copy_all(from, to);
    return {};
  }
  if (to.type() == DType::string) return to_text(from, to);
  if (from.type() != DType::string) {
    return with_class<kAllClasses>(e, from.type(), [&](auto zero) {
      using T = decltype(zero);
      return map1_as<T>(
          e, from, to, [](T v) { return v; }, options);
    });
  }
  if (to.type() == DType::f32) return from_text<float>(e, from, to, options);
  if (dtype_is_float(to.type())) return from_text<double>(e, from, to, options);
  if (dtype_is_signed(to.type())) return from_text<int64_t>(e, from, to, options);
  return from_text<uint64_t>(e, from, to, options);
}

}  // namespace sx::ops
