// SPDX-License-Identifier: Apache-2.0
// What the handles of the C API hold, and how failures leave it.
#pragma once
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/session.h"
#include "sardonyx/sardonyx.h"

struct sx_session_options {
  sx::SessionOptions options;
};

struct sx_tensor {
  sx::Tensor tensor;
};

struct sx_session {
  struct Info {
    std::string name;
    std::vector<int64_t> dims;
    std::vector<std::string> names;
    std::vector<const char*> name_pointers;
    sx_value_info info = {};
  };
  std::unique_ptr<sx::Session> session;
  std::vector<Info> inputs, outputs;
};

namespace sx::capi {

sx_code fail(Code code, const char* message) noexcept;  // remembers it for sx_last_error
sx_code fail(const Status& status) noexcept;

// Nothing thrown inside gets out.
template <class F>
sx_code guarded(F&& f) noexcept {
  try {
    const Status status = f();
    return status.ok() ? SX_CODE_OK : fail(status);
  } catch (const std::bad_alloc&) {
    return fail(Code::out_of_memory, "out of memory");
  } catch (const std::exception& e) {
    return fail(Code::internal, e.what());
  }
}

// An argument that must not be NULL.
Status given(const void* pointer, const char* name);

}  // namespace sx::capi
