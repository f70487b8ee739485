// SPDX-License-Identifier: Apache-2.0
// Error, Status and Result<T>: how everything inside the library fails. An error gathers context outward:
// the innermost message first, then the node, the operator, the file that it happened in.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sx {

enum class Code {
  ok = 0,
  invalid_argument,  // the caller passed something wrong: a name, a type, a shape, an option
  invalid_model,     // the file or the graph in it cannot be right
  not_found,         // a file, a value, a provider that does not exist
  unsupported,       // right, but not something that can be done here
  io,                // the operating system refused
  cancelled,         // the caller asked to stop
  deadline,          // the time allowed is over
  out_of_memory,
  internal,  // a defect of ours
};
std::string_view code_name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);

  bool ok() const { return detail_ == nullptr; }
  explicit operator bool() const { return ok(); }
  Code code() const { return detail_ ? detail_->code : Code::ok; }
  const std::string& message() const;               // the innermost sentence
  const std::vector<std::string>& context() const;  // innermost first: "node 'conv1' (Conv)", "model.onnx"
  const std::string& advice() const;                // what to do about it; may be empty or several lines
  std::string to_string() const;                    // "model.onnx: node 'conv1' (Conv): message\nadvice"

  Status&& in(std::string context) &&;     // adds one level of context; nothing on success
  Status&& advise(std::string advice) &&;  // adds a line of advice; nothing on success

 private:
  struct Detail {
    Code code;
    std::string message;
    std::vector<std::string> context;
    std::string advice;
  };
  std::shared_ptr<Detail> detail_;
};

inline Status ok_status() { return {}; }

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status error) : status_(std::move(error)) {}

  bool ok() const { return status_.ok(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }

  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  Result&& in(std::string context) && {
    if (!ok()) (void)std::move(status_).in(std::move(context));
    return std::move(*this);
  }

 private:
  std::optional<T> value_;
  Status status_;
};

namespace detail {
inline Status take_status(Status&& s) { return std::move(s); }
template <class T>
Status take_status(Result<T>&& r) {
  return std::move(r).status();
}
}  // namespace detail

}  // namespace sx

#define SX_CONCAT_(a, b) a##b
#define SX_CONCAT(a, b) SX_CONCAT_(a, b)

// SX_TRY(expression): returns the error of a Status or Result from the enclosing function.
#define SX_TRY(expr)                                                         \
  do {                                                                       \
    auto sx_try_ = (expr);                                                   \
    if (!sx_try_.ok()) return ::sx::detail::take_status(std::move(sx_try_)); \
  } while (0)

// SX_ASSIGN(auto x, expression): x is the value of a Result, or its error is returned.
#define SX_ASSIGN(target, expr) SX_ASSIGN_(SX_CONCAT(sx_result_, __LINE__), target, expr)
#define SX_ASSIGN_(tmp, target, expr)                              \
  auto tmp = (expr);                                               \
  if (!tmp.ok()) return ::sx::detail::take_status(std::move(tmp)); \
  target = std::move(tmp).value()
