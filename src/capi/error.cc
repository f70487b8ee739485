// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "capi/handles.h"

namespace sx::capi {
namespace {

struct LastError {
  Code code = Code::ok;
  std::string text;
};
thread_local LastError last_error;

}  // namespace

sx_code fail(Code code, const char* message) noexcept {
  last_error.code = code;
  try {
    last_error.text = message;
  } catch (...) {  // the code alone has to do
    last_error.text.clear();
  }
  return sx_code(code);
}

sx_code fail(const Status& status) noexcept {
  try {
    last_error.text = status.to_string();
    last_error.code = status.code();
    return sx_code(status.code());
  } catch (...) {
    return fail(status.code(), "");
  }
}

Status given(const void* pointer, const char* name) {
  return pointer ? Status() : error(Code::invalid_argument, "'{}' is NULL", name);
}

}  // namespace sx::capi

const char* sx_version(void) { return SX_VERSION; }
sx_code sx_last_error_code(void) { return sx_code(sx::capi::last_error.code); }
const char* sx_last_error(void) { return sx::capi::last_error.text.c_str(); }
