/* SPDX-License-Identifier: Apache-2.0
 * Sardonyx in C: load an ONNX model, ask what it takes and gives, run it.
 *
 * Functions that can fail return an sx_code; 0 is success. After a failure sx_last_error says what was wrong,
 * for the calling thread. Handles are opaque; whoever got one destroys it, and destroying NULL does nothing.
 * A session may be used by several threads at once; the other handles by one thread at a time. Texts are
 * UTF-8 and end in a NUL.
 *
 *   sx_session* session = NULL;
 *   sx_tensor *x = NULL, *y = NULL;
 *   const int64_t dims[] = {1, 1, 8, 8};
 *   const char *in = "image", *out = "probabilities";
 *   if (sx_session_load("digits.onnx", NULL, &session) ||
 *       sx_tensor_over(SX_FLOAT32, dims, 4, pixels, sizeof pixels, &x) ||
 *       sx_session_run(session, &in, (const sx_tensor* const*)&x, 1, &out, &y, 1)) {
 *     fprintf(stderr, "%s\n", sx_last_error());
 *   } else {
 *     const float* probabilities = sx_tensor_data(y);
 *     ...
 *   }
 *   sx_tensor_destroy(y);
 *   sx_tensor_destroy(x);
 *   sx_session_destroy(session);
 */
#ifndef SARDONYX_SARDONYX_H
#define SARDONYX_SARDONYX_H
#include "sardonyx/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_session_options sx_session_options;
typedef struct sx_session sx_session;
typedef struct sx_tensor sx_tensor;

/* "0.1.0" */
SX_EXPORT const char* sx_version(void);

/* The last failure of the calling thread; the text is valid until its next failure. SX_CODE_OK and "" before
 * any. */
SX_EXPORT sx_code sx_last_error_code(void);
SX_EXPORT const char* sx_last_error(void);

/* ---- options of a session */

/* NULL only where memory is out. */
SX_EXPORT sx_session_options* sx_session_options_create(void);
SX_EXPORT void sx_session_options_destroy(sx_session_options* options);
/* 0, the default: as many threads as this process may use. Results do not depend on it. */
SX_EXPORT sx_code sx_session_options_set_threads(sx_session_options* options, uint32_t threads);
/* 0 runs the graph as it is written; 1, the default, lets the rules rewrite it first. */
SX_EXPORT sx_code sx_session_options_set_rules(sx_session_options* options, int32_t on);
/* 1 reads the file whole instead of mapping it, 0 is the default: a mapped file that another program cuts
 * short while it is in use ends this one with SIGBUS. Costs the size of the file in memory. */
SX_EXPORT sx_code sx_session_options_set_copy(sx_session_options* options, int32_t on);
/* 1 takes models of an opset or IR version that this library does not know, or of none; 0, the default,
 * refuses them. */
SX_EXPORT sx_code sx_session_options_set_allow_newer(sx_session_options* options, int32_t on);
/* 1 makes it an error that dimensions of one name have different sizes; 0, the default, takes such a name for
 * no constraint. */
SX_EXPORT sx_code sx_session_options_set_strict_names(sx_session_options* options, int32_t on);
/* Who runs the model, best first; without any, all that there are. What none of them takes still runs. */
SX_EXPORT sx_code sx_session_options_add_provider(sx_session_options* options, const char* name);
/* A shared library that adds providers (see plugin.h); they are tried first. */
SX_EXPORT sx_code sx_session_options_add_plugin(sx_session_options* options, const char* path);
/* Fixes a dimension that the model leaves free. */
SX_EXPORT sx_code sx_session_options_set_dim(sx_session_options* options, const char* name, int64_t size);
/* The most memory, in bytes, that the session may hold; 0: what the machine has. What wants more fails with
 * SX_CODE_OUT_OF_MEMORY before it is allocated, and the session goes on working. */
SX_EXPORT sx_code sx_session_options_set_memory_limit(sx_session_options* options, uint64_t bytes);

/* ---- sessions */

/* `options` may be NULL, and may be destroyed afterwards. */
SX_EXPORT sx_code sx_session_load(const char* path, const sx_session_options* options, sx_session** session);
/* The bytes are copied. */
SX_EXPORT sx_code sx_session_load_from_memory(const void* data, size_t size,
                                              const sx_session_options* options, sx_session** session);
SX_EXPORT void sx_session_destroy(sx_session* session);

/* What an input or output is. Lives as long as its session. */
typedef struct sx_value_info {
  const char* name;
  sx_dtype type;       /* 0: not a tensor (a sequence, a map, an optional) */
  int32_t rank;        /* -1: not known */
  const int64_t* dims; /* -1 where the size is free */
  const char* const*
      dim_names; /* an expression such as "batch" or "4*n + 1" where it is free, "" elsewhere */
} sx_value_info;

SX_EXPORT size_t sx_session_input_count(const sx_session* session);
SX_EXPORT size_t sx_session_output_count(const sx_session* session);
/* NULL where there is none of that index. */
SX_EXPORT const sx_value_info* sx_session_input(const sx_session* session, size_t index);
SX_EXPORT const sx_value_info* sx_session_output(const sx_session* session, size_t index);

/* Runs the model. Every input is given, by name, in any order. `outputs` has one entry for each name in
 * output_names; where output_names is NULL, one for each output of the model in order. An entry that is NULL
 * becomes a new tensor of the caller's; one that is a tensor of the right type and dims is written into. On
 * failure no entry changes. */
SX_EXPORT sx_code sx_session_run(sx_session* session, const char* const* input_names,
                                 const sx_tensor* const* inputs, size_t input_count,
                                 const char* const* output_names, sx_tensor** outputs, size_t output_count);

/* ---- tensors: contiguous, row-major */

/* Of undefined contents; strings start empty. */
SX_EXPORT sx_code sx_tensor_create(sx_dtype type, const int64_t* dims, size_t rank, sx_tensor** tensor);
/* Over memory of the caller's, which must outlive the tensor; not for strings. `bytes` is checked against the
 * dims. */
SX_EXPORT sx_code sx_tensor_over(sx_dtype type, const int64_t* dims, size_t rank, void* data, size_t bytes,
                                 sx_tensor** tensor);
SX_EXPORT void sx_tensor_destroy(sx_tensor* tensor);
SX_EXPORT sx_dtype sx_tensor_type(const sx_tensor* tensor);
SX_EXPORT size_t sx_tensor_rank(const sx_tensor* tensor);
SX_EXPORT const int64_t* sx_tensor_dims(const sx_tensor* tensor);
SX_EXPORT size_t sx_tensor_bytes(const sx_tensor* tensor); /* 0 for strings */
SX_EXPORT void* sx_tensor_data(const sx_tensor* tensor);   /* NULL for strings */
/* An element of a tensor of strings; it may contain NULs, hence the sizes. */
SX_EXPORT sx_code sx_tensor_set_text(sx_tensor* tensor, size_t index, const char* text, size_t size);
SX_EXPORT sx_code sx_tensor_text(const sx_tensor* tensor, size_t index, const char** text, size_t* size);

#ifdef __cplusplus
}
#endif
#endif
