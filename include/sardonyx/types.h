/* SPDX-License-Identifier: Apache-2.0
 * The few types that the C API and the plugin door share: error codes and element types.
 */
#ifndef SARDONYX_TYPES_H
#define SARDONYX_TYPES_H
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SX_EXPORT __declspec(dllexport)
#else
#define SX_EXPORT __attribute__((visibility("default")))
#endif

/* 0 is success; the other numbers are kinds of errors. */
typedef int32_t sx_code;
enum {
  SX_CODE_OK = 0,
  SX_CODE_INVALID_ARGUMENT = 1, /* the caller passed something wrong: a name, a type, a shape, an option */
  SX_CODE_INVALID_MODEL = 2,    /* the file or the graph in it cannot be right */
  SX_CODE_NOT_FOUND = 3,        /* a file, a value, a provider that does not exist */
  SX_CODE_UNSUPPORTED = 4,      /* right, but not something that can be done here */
  SX_CODE_IO = 5,               /* the operating system refused */
  SX_CODE_CANCELLED = 6,        /* the caller asked to stop */
  SX_CODE_DEADLINE = 7,         /* the time allowed is over */
  SX_CODE_OUT_OF_MEMORY = 8,
  SX_CODE_INTERNAL = 9 /* a defect of the library or of a plugin */
};

/* Element types have the numbers that ONNX gives them. */
typedef int32_t sx_dtype;
enum {
  SX_UNDEFINED = 0,
  SX_FLOAT32 = 1,
  SX_UINT8 = 2,
  SX_INT8 = 3,
  SX_UINT16 = 4,
  SX_INT16 = 5,
  SX_INT32 = 6,
  SX_INT64 = 7,
  SX_STRING = 8,
  SX_BOOL = 9,
  SX_FLOAT16 = 10,
  SX_FLOAT64 = 11,
  SX_UINT32 = 12,
  SX_UINT64 = 13,
  SX_COMPLEX64 = 14,
  SX_COMPLEX128 = 15,
  SX_BFLOAT16 = 16,
  SX_FLOAT8E4M3FN = 17,
  SX_FLOAT8E4M3FNUZ = 18,
  SX_FLOAT8E5M2 = 19,
  SX_FLOAT8E5M2FNUZ = 20,
  SX_UINT4 = 21,
  SX_INT4 = 22,
  SX_FLOAT4E2M1 = 23,
  SX_FLOAT8E8M0 = 24,
  SX_UINT2 = 25,
  SX_INT2 = 26,
  SX_FLOAT6E2M3 = 27,
  SX_FLOAT6E3M2 = 28
};

#endif
