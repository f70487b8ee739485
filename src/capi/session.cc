// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "capi/handles.h"
#include "runtime/abi.h"

using sx::Code;
using sx::error;
using sx::Status;
using sx::capi::given;
using sx::capi::guarded;

sx_session_options* sx_session_options_create(void) {
  sx_session_options* options = nullptr;
  guarded([&] {
    options = new sx_session_options;
    return Status();
  });
  return options;
}

void sx_session_options_destroy(sx_session_options* options) { delete options; }

sx_code sx_session_options_set_threads(sx_session_options* options, uint32_t threads) {
  return guarded([&]() -> Status {
    SX_TRY(given(options, "options"));
    options->options.threads = threads;
    return {};
  });
}

sx_code sx_session_options_set_rules(sx_session_options* options, int32_t on) {
  return guarded([&]() -> Status {
    SX_TRY(given(options, "options"));
    options->options.rules = on != 0;
    return {};
  });
}

sx_code sx_session_options_set_copy(sx_session_options* options, int32_t on) {
  return guarded([&]() -> Status {
    SX_TRY(given(options, "options"));
    options->options.load = on != 0 ? sx::LoadMode::copy : sx::LoadMode::map;
    return {};
  });
}

sx_code sx_session_options_set_allow_newer(sx_session_options* options, int32_t on) {
  return guarded([&]() -> Status {
    SX_TRY(given(options, "options"));
    options->options.allow_newer = on != 0;
    return {};
  });
}

sx_code sx_session_options_set_strict_names(sx_session_options* options, int32_t on) {
  return guarded([&]() -> Status {
    SX_TRY(given(options, "options"));
    options->options.strict_names = on != 0;
    return {};
  });
}

sx_code sx_session_options_add_provider(sx_session_options* options, const char* name) {
  return guarded([&]() -> Status {
    SX_TRY(given(options, "options"));
    SX_TRY(given(name, "name"));
    options->options.providers.emplace_back(name);
    return {};
  });
}

sx_code sx_session_options_add_plugin(sx_session_options* options, const char* path) {
  return guarded([&]() -> Status {
    SX_TRY(given(options, "options"));
    SX_TRY(given(path, "path"));
    options->options.plugins.emplace_back(path);
    return {};
  });
}

sx_code sx_session_options_set_dim(sx_session_options* options, const char* name, int64_t size) {
  return guarded([&]() -> Status {
    SX_TRY(given(options, "options"));
    SX_TRY(given(name, "name"));
    if (size < 0) return error(Code::invalid_argument, "dimension '{}' cannot be {}", name, size);
    options->options.dims.emplace_back(name, size);
    return {};
  });
}

sx_code sx_session_options_set_memory_limit(sx_session_options* options, uint64_t bytes) {
  return guarded([&]() -> Status {
    SX_TRY(given(options, "options"));
    options->options.memory_limit = size_t(bytes);
    return {};
  });
}

namespace {

sx_session::Info describe(const sx::ValueDesc& desc) {
  sx_session::Info info;
  info.name = desc.name;
  const sx::Type& type = desc.type;
  info.info.type = type.is_tensor() ? sx_dtype(type.elem) : SX_UNDEFINED;
  info.info.rank = type.is_tensor() && type.shape.known ? int32_t(type.shape.rank()) : -1;
  for (sx::Dim d : type.shape.dims) {
    info.dims.push_back(d.is_constant() ? d.constant() : -1);
    info.names.push_back(d.is_constant() ? "" : sx::to_string(d));
  }
  return info;
}

// Pointers into the strings of a list that will not move any more.
void point(std::vector<sx_session::Info>& list) {
  for (sx_session::Info& i : list) {
    for (const std::string& name : i.names) i.name_pointers.push_back(name.c_str());
    i.info.name = i.name.c_str();
    i.info.dims = i.dims.data();
    i.info.dim_names = i.name_pointers.data();
  }
}

template <class Load>
sx_code load(const sx_session_options* options, sx_session** session, Load&& make) {
  return guarded([&]() -> Status {
    SX_TRY(given(session, "session"));
    SX_ASSIGN(auto loaded, make(options ? options->options : sx::SessionOptions()));
    auto handle = std::make_unique<sx_session>();
    for (const sx::ValueDesc& d : loaded->inputs()) handle->inputs.push_back(describe(d));
    for (const sx::ValueDesc& d : loaded->outputs()) handle->outputs.push_back(describe(d));
    point(handle->inputs);
    point(handle->outputs);
    handle->session = std::move(loaded);
    *session = handle.release();
    return {};
  });
}

// The outputs that the caller asked for, as positions; every one at most once.
Status find_outputs(const sx_session& s, const char* const* names, size_t count, size_t* positions) {
  if (!names && count != s.outputs.size()) {
    return error(Code::invalid_argument, "{} outputs and no names, the model gives {}", count,
                 s.outputs.size());
  }
  for (size_t i = 0; i < count; ++i) {
    positions[i] = i;
    if (!names) continue;
    SX_TRY(given(names[i], "output_names[i]"));
    SX_ASSIGN(positions[i], s.session->output_index(names[i]));
    for (size_t k = 0; k < i; ++k) {
      if (positions[k] == positions[i])
        return error(Code::invalid_argument, "output '{}' is asked for twice", names[i]);
    }
  }
  return {};
}

}  // namespace

sx_code sx_session_load(const char* path, const sx_session_options* options, sx_session** session) {
  return load(options, session, [&](sx::SessionOptions o) -> sx::Result<std::unique_ptr<sx::Session>> {
    SX_TRY(given(path, "path"));
    return sx::Session::load(path, std::move(o));
  });
}

sx_code sx_session_load_from_memory(const void* data, size_t size, const sx_session_options* options,
                                    sx_session** session) {
  return load(options, session, [&](sx::SessionOptions o) -> sx::Result<std::unique_ptr<sx::Session>> {
    SX_TRY(given(data, "data"));
    return sx::Session::from_bytes(data, size, std::move(o));
  });
}

void sx_session_destroy(sx_session* session) { delete session; }

size_t sx_session_input_count(const sx_session* session) { return session ? session->inputs.size() : 0; }
size_t sx_session_output_count(const sx_session* session) { return session ? session->outputs.size() : 0; }

const sx_value_info* sx_session_input(const sx_session* session, size_t index) {
  return session && index < session->inputs.size() ? &session->inputs[index].info : nullptr;
}

const sx_value_info* sx_session_output(const sx_session* session, size_t index) {
  return session && index < session->outputs.size() ? &session->outputs[index].info : nullptr;
}

sx_code sx_session_run(sx_session* session, const char* const* input_names, const sx_tensor* const* inputs,
                       size_t input_count, const char* const* output_names, sx_tensor** outputs,
                       size_t output_count) {
  return guarded([&]() -> Status {
    SX_TRY(given(session, "session"));
    if (input_count > 0) SX_TRY(given(input_names, "input_names"));
    if (input_count > 0) SX_TRY(given(inputs, "inputs"));
    if (output_count > 0) SX_TRY(given(outputs, "outputs"));
    sx::abi::SmallArray<sx::Value, 8> in(session->inputs.size()), out(session->outputs.size());
    for (size_t i = 0; i < input_count; ++i) {
      SX_TRY(given(input_names[i], "input_names[i]"));
      SX_ASSIGN(const size_t at, session->session->input_index(input_names[i]));
      if (!inputs[i])
        return error(Code::invalid_argument, "the tensor for input '{}' is NULL", input_names[i]);
      if (in[at].is_tensor())
        return error(Code::invalid_argument, "input '{}' is given twice", input_names[i]);
      in[at] = sx::Value(inputs[i]->tensor);
    }
    sx::abi::SmallArray<size_t, 8> positions(output_count);
    SX_TRY(find_outputs(*session, output_names, output_count, positions.data()));
    for (size_t i = 0; i < output_count; ++i) {
      if (outputs[i]) out[positions[i]] = sx::Value(outputs[i]->tensor);
    }
    SX_TRY(session->session->run(std::span<const sx::Value>(in.data(), in.size()),
                                 std::span<sx::Value>(out.data(), out.size())));
    std::vector<std::unique_ptr<sx_tensor>> made;
    for (size_t i = 0; i < output_count; ++i) {
      sx::Value& v = out[positions[i]];
      if (!v.is_tensor()) {
        return error(Code::unsupported, "output '{}' is a {}; this function returns tensors only",
                     session->outputs[positions[i]].name, kind_name(v.kind));
      }
      if (outputs[i] && v.tensor.type() != sx::DType::string) continue;  // written in place
      if (outputs[i])
        outputs[i]->tensor = std::move(v.tensor);
      else
        made.push_back(std::make_unique<sx_tensor>(sx_tensor{std::move(v.tensor)}));
    }
    for (size_t i = 0, next = 0; i < output_count; ++i) {
      if (!outputs[i]) outputs[i] = made[next++].release();
    }
    return {};
  });
}
