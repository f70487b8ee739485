// SPDX-License-Identifier: Apache-2.0
// Json: writes one JSON document, member by member.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sx::tools {

class Json {
 public:
  Json& open_object() { return open('{'); }
  Json& close_object() { return close('}'); }
  Json& open_array() { return open('['); }
  Json& close_array() { return close(']'); }
  Json& key(std::string_view name);
  Json& text(std::string_view value);
  Json& number(double value);  // null where it is not finite
  Json& integer(int64_t value);
  Json& boolean(bool value);
  Json& null();

  Json& text(std::string_view name, std::string_view value) { return key(name).text(value); }
  Json& number(std::string_view name, double value) { return key(name).number(value); }
  Json& integer(std::string_view name, int64_t value) { return key(name).integer(value); }
  Json& boolean(std::string_view name, bool value) { return key(name).boolean(value); }
  const std::string& str() const { return out_; }

 private:
  Json& open(char c);
  Json& close(char c);
  void comma();
  std::string out_;
  bool first_ = true, after_key_ = false;
};

}  // namespace sx::tools
