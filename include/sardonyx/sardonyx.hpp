// SPDX-License-Identifier: Apache-2.0
// Sardonyx in C++17: the C API of sardonyx.h with owners and exceptions. Header only.
//
//   sardonyx::Session session("digits.onnx");
//   auto image = sardonyx::Tensor::of<float>({1, 1, 8, 8}, pixels);
//   std::vector<sardonyx::Tensor> results = session.run({{"image", image}});
//   const float* probabilities = results[0].data<float>();
#pragma once
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sardonyx/sardonyx.h"

namespace sardonyx {

// What a failed call threw: the kind of error, and in what() the sentence.
class Error : public std::runtime_error {
 public:
  Error(sx_code code, const char* text) : std::runtime_error(text), code_(code) {}
  sx_code code() const noexcept { return code_; }

 private:
  sx_code code_;
};

inline void check(sx_code code) {
  if (code != SX_CODE_OK) throw Error(code, sx_last_error());
}

inline std::string version() { return sx_version(); }

// The element type of a C++ type; float16 and the small types have none and are given by number.
template <class T>
constexpr sx_dtype dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return SX_FLOAT32;
  else if constexpr (std::is_same_v<T, double>)
    return SX_FLOAT64;
  else if constexpr (std::is_same_v<T, bool>)
    return SX_BOOL;
  else if constexpr (std::is_same_v<T, int8_t>)
    return SX_INT8;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return SX_UINT8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return SX_INT16;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return SX_UINT16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return SX_INT32;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return SX_UINT32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return SX_INT64;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return SX_UINT64;
  else
    return SX_UNDEFINED;
}

namespace detail {
struct Destroy {
  void operator()(sx_tensor* p) const noexcept { sx_tensor_destroy(p); }
  void operator()(sx_session* p) const noexcept { sx_session_destroy(p); }
  void operator()(sx_session_options* p) const noexcept { sx_session_options_destroy(p); }
};
}  // namespace detail

class Tensor {
 public:
  Tensor() = default;  // empty: an output to be made
  Tensor(sx_dtype type, const std::vector<int64_t>& dims) {
    sx_tensor* made = nullptr;
    check(sx_tensor_create(type, dims.data(), dims.size(), &made));
    handle_.reset(made);
  }
  // Takes over a handle of the C API.
  explicit Tensor(sx_tensor* handle) noexcept : handle_(handle) {}

  // A copy of the values.
  template <class T>
  static Tensor of(const std::vector<int64_t>& dims, const std::vector<T>& values) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no array; use over() or data()");
    Tensor t(dtype_of<T>(), dims);
    if (t.bytes() != values.size() * sizeof(T))
      throw Error(SX_CODE_INVALID_ARGUMENT, "the values do not fill the dims");
    if (!values.empty()) std::memcpy(t.raw(), values.data(), t.bytes());
    return t;
  }
  static Tensor of(const std::vector<int64_t>& dims, const std::vector<std::string>& values) {
    Tensor t(SX_STRING, dims);
    for (size_t i = 0; i < values.size(); ++i) {
      check(sx_tensor_set_text(t.handle(), i, values[i].data(), values[i].size()));
    }
    return t;
  }
  // Over memory of the caller's, which must outlive the tensor.
  template <class T>
  static Tensor over(const std::vector<int64_t>& dims, T* data) {
    size_t bytes = sizeof(T);
    for (int64_t d : dims) bytes *= static_cast<size_t>(d);
    sx_tensor* made = nullptr;
    check(sx_tensor_over(dtype_of<T>(), dims.data(), dims.size(), data, bytes, &made));
    return Tensor(made);
  }

  sx_dtype type() const noexcept { return sx_tensor_type(handle()); }
  std::vector<int64_t> dims() const {
    const int64_t* d = sx_tensor_dims(handle());
    return std::vector<int64_t>(d, d + sx_tensor_rank(handle()));
  }
  size_t size() const {  // elements
    size_t n = 1;
    for (int64_t d : dims()) n *= static_cast<size_t>(d);
    return n;
  }
  size_t bytes() const noexcept { return sx_tensor_bytes(handle()); }
  void* raw() const noexcept { return sx_tensor_data(handle()); }
  template <class T>
  T* data() const {
    if (type() != dtype_of<std::remove_const_t<T>>())
      throw Error(SX_CODE_INVALID_ARGUMENT, "the tensor has another type");
    return static_cast<T*>(raw());
  }
  std::string_view text(size_t index) const {
    const char* s = nullptr;
    size_t n = 0;
    check(sx_tensor_text(handle(), index, &s, &n));
    return std::string_view(s, n);
  }

  sx_tensor* handle() const noexcept { return handle_.get(); }
  sx_tensor* release() noexcept { return handle_.release(); }

 private:
  std::unique_ptr<sx_tensor, detail::Destroy> handle_;
};

class Options {
 public:
  Options() : handle_(sx_session_options_create()) {
    if (!handle_) throw Error(sx_last_error_code(), sx_last_error());
  }
  Options& threads(uint32_t n) { return check(sx_session_options_set_threads(handle(), n)), *this; }
  Options& rules(bool on) { return check(sx_session_options_set_rules(handle(), on)), *this; }
  Options& allow_newer(bool on) { return check(sx_session_options_set_allow_newer(handle(), on)), *this; }
  Options& strict_names(bool on) { return check(sx_session_options_set_strict_names(handle(), on)), *this; }
  Options& copy(bool on) { return check(sx_session_options_set_copy(handle(), on)), *this; }
  Options& provider(const std::string& name) {
    return check(sx_session_options_add_provider(handle(), name.c_str())), *this;
  }
  Options& plugin(const std::string& path) {
    return check(sx_session_options_add_plugin(handle(), path.c_str())), *this;
  }
  Options& dim(const std::string& name, int64_t size) {
    return check(sx_session_options_set_dim(handle(), name.c_str(), size)), *this;
  }
  Options& memory_limit(uint64_t bytes) {
    return check(sx_session_options_set_memory_limit(handle(), bytes)), *this;
  }
  sx_session_options* handle() const noexcept { return handle_.get(); }

 private:
  std::unique_ptr<sx_session_options, detail::Destroy> handle_;
};

// An input or output: sizes that are free are -1 and have a name.
struct ValueInfo {
  std::string name;
  sx_dtype type = SX_UNDEFINED;  // undefined: not a tensor
  bool has_rank = false;
  std::vector<int64_t> dims;
  std::vector<std::string> dim_names;
};

// A named input of one run.
struct Feed {
  const char* name;
  const Tensor& tensor;
};

class Session {
 public:
  explicit Session(const std::string& path, const Options& options = Options()) {
    sx_session* made = nullptr;
    check(sx_session_load(path.c_str(), options.handle(), &made));
    handle_.reset(made);
  }
  static Session from_memory(const void* data, size_t size, const Options& options = Options()) {
    sx_session* made = nullptr;
    check(sx_session_load_from_memory(data, size, options.handle(), &made));
    return Session(made);
  }

  std::vector<ValueInfo> inputs() const { return list(sx_session_input_count(handle()), sx_session_input); }
  std::vector<ValueInfo> outputs() const {
    return list(sx_session_output_count(handle()), sx_session_output);
  }

  // All outputs, or those that are named.
  std::vector<Tensor> run(std::initializer_list<Feed> feeds, std::initializer_list<const char*> names = {}) {
    return run(feeds.begin(), feeds.size(), names.begin(), names.size());
  }
  std::vector<Tensor> run(const Feed* feeds, size_t count, const char* const* names = nullptr,
                          size_t name_count = 0) {
    std::vector<Tensor> results(name_count > 0 ? name_count : sx_session_output_count(handle()));
    run_into(feeds, count, name_count > 0 ? names : nullptr, results);
    return results;
  }
  // Tensors in `results` that are not empty are written into; names may be null: all outputs in order.
  void run_into(const Feed* feeds, size_t count, const char* const* names, std::vector<Tensor>& results) {
    std::vector<const char*> in_names;
    std::vector<const sx_tensor*> in;
    for (size_t i = 0; i < count; ++i) {
      in_names.push_back(feeds[i].name);
      in.push_back(feeds[i].tensor.handle());
    }
    std::vector<sx_tensor*> out;
    for (const Tensor& t : results) out.push_back(t.handle());
    check(sx_session_run(handle(), in_names.data(), in.data(), count, names, out.data(), out.size()));
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].handle()) results[i] = Tensor(out[i]);
    }
  }

  sx_session* handle() const noexcept { return handle_.get(); }

 private:
  explicit Session(sx_session* handle) noexcept : handle_(handle) {}
  std::vector<ValueInfo> list(size_t count, const sx_value_info* (*get)(const sx_session*, size_t)) const {
    std::vector<ValueInfo> all(count);
    for (size_t i = 0; i < count; ++i) {
      const sx_value_info* info = get(handle(), i);
      all[i].name = info->name;
      all[i].type = info->type;
      all[i].has_rank = info->rank >= 0;
      for (int32_t k = 0; k < info->rank; ++k) {
        all[i].dims.push_back(info->dims[k]);
        all[i].dim_names.emplace_back(info->dim_names[k]);
      }
    }
    return all;
  }

  std::unique_ptr<sx_session, detail::Destroy> handle_;
};

}  // namespace sardonyx
