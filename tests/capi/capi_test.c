/* SPDX-License-Identifier: Apache-2.0
 * The C API from C99, with nothing but its header and library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sardonyx/sardonyx.h"

static int failures;
#define CHECK(condition)                                                                                \
  do {                                                                                                  \
    if (!(condition)) {                                                                                 \
      ++failures;                                                                                       \
      fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition, sx_last_error()); \
    }                                                                                                   \
  } while (0)

static char* read_file(const char* path, size_t* size) {
  FILE* f = fopen(path, "rb");
  char* bytes = NULL;
  long end = 0;
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  end = ftell(f);
  rewind(f);
  bytes = malloc((size_t)end);
  *size = bytes ? fread(bytes, 1, (size_t)end, f) : 0;
  fclose(f);
  return bytes;
}

/* The 64 pixels of a sample; its class is in its name. */
static void read_sample(int digit, float* pixels) {
  char path[64];
  size_t size = 0;
  char* bytes = NULL;
  snprintf(path, sizeof path, "models/digits/sample_%d.npy", digit);
  bytes = read_file(path, &size);
  CHECK(bytes && size > 64 * sizeof(float));
  if (bytes) memcpy(pixels, bytes + size - 64 * sizeof(float), 64 * sizeof(float));
  free(bytes);
}

static int largest(const float* v, int n) {
  int best = 0;
  for (int i = 1; i < n; ++i) best = v[i] > v[best] ? i : best;
  return best;
}

static void test_description(const sx_session* session) {
  const sx_value_info* in = sx_session_input(session, 0);
  const sx_value_info* out = sx_session_output(session, 0);
  CHECK(sx_session_input_count(session) == 1 && sx_session_output_count(session) == 1);
  CHECK(sx_session_input(session, 1) == NULL && sx_session_output(session, 7) == NULL);
  CHECK(in && strcmp(in->name, "image") == 0 && in->type == SX_FLOAT32 && in->rank == 4);
  CHECK(in && in->dims[0] == -1 && strcmp(in->dim_names[0], "N") == 0 && in->dims[2] == 8 &&
        in->dim_names[2][0] == 0);
  CHECK(out && out->type == SX_FLOAT32 && out->rank == 2 && out->dims[0] == -1 && out->dims[1] == 10);
}

static void test_runs(sx_session* session) {
  static const int kDigits[] = {0, 2, 3, 7, 8};
  const int64_t dims[] = {1, 1, 8, 8}, out_dims[] = {1, 10};
  const char *in = "image", *out = sx_session_output(session, 0)->name;
  for (size_t i = 0; i < sizeof kDigits / sizeof *kDigits; ++i) {
    float pixels[64], bound[10];
    sx_tensor *x = NULL, *y = NULL, *z = NULL;
    read_sample(kDigits[i], pixels);
    CHECK(sx_tensor_over(SX_FLOAT32, dims, 4, pixels, sizeof pixels, &x) == SX_CODE_OK);
    CHECK(sx_session_run(session, &in, (const sx_tensor* const*)&x, 1, NULL, &y, 1) == SX_CODE_OK);
    CHECK(y && sx_tensor_rank(y) == 2 && sx_tensor_dims(y)[1] == 10 && sx_tensor_bytes(y) == 40);
    if (y) CHECK(largest(sx_tensor_data(y), 10) == kDigits[i]);
    CHECK(sx_tensor_over(SX_FLOAT32, out_dims, 2, bound, sizeof bound, &z) == SX_CODE_OK);
    CHECK(sx_session_run(session, &in, (const sx_tensor* const*)&x, 1, &out, &z, 1) == SX_CODE_OK);
    if (y) CHECK(memcmp(bound, sx_tensor_data(y), sizeof bound) == 0);
    sx_tensor_destroy(x);
    sx_tensor_destroy(y);
    sx_tensor_destroy(z);
  }
}

static void test_failures(sx_session* session) {
  const int64_t dims[] = {1, 1, 8, 8}, small[] = {1, 8, 8}, minus[] = {-1};
  const char *in = "image", *wrong = "picture", *twice[] = {"image", "image"};
  sx_session* none = NULL;
  sx_tensor *x = NULL, *y = NULL, *s = NULL;
  const sx_tensor* two[2];
  const char* text = NULL;
  size_t size = 0;
  CHECK(sx_session_load("nowhere.onnx", NULL, &none) != SX_CODE_OK && none == NULL);
  CHECK(strstr(sx_last_error(), "nowhere.onnx") && sx_last_error_code() != SX_CODE_OK);
  CHECK(sx_session_load(NULL, NULL, &none) == SX_CODE_INVALID_ARGUMENT && strstr(sx_last_error(), "path"));
  CHECK(sx_session_load_from_memory("junk", 4, NULL, &none) != SX_CODE_OK && none == NULL);
  CHECK(sx_tensor_create(99, dims, 4, &x) == SX_CODE_INVALID_ARGUMENT && strstr(sx_last_error(), "99"));
  CHECK(sx_tensor_create(SX_FLOAT32, minus, 1, &x) == SX_CODE_INVALID_ARGUMENT);
  CHECK(sx_tensor_over(SX_FLOAT32, dims, 4, &size, 255, &x) == SX_CODE_INVALID_ARGUMENT &&
        strstr(sx_last_error(), "256"));
  CHECK(sx_tensor_create(SX_FLOAT32, dims, 4, &x) == SX_CODE_OK && sx_tensor_type(x) == SX_FLOAT32);
  memset(sx_tensor_data(x), 0, sx_tensor_bytes(x));
  two[0] = two[1] = x;
  CHECK(sx_session_run(session, &wrong, two, 1, NULL, &y, 1) == SX_CODE_INVALID_ARGUMENT);
  CHECK(strstr(sx_last_error(), "picture") && strstr(sx_last_error(), "image"));
  CHECK(sx_session_run(session, twice, two, 2, NULL, &y, 1) == SX_CODE_INVALID_ARGUMENT);
  CHECK(sx_session_run(session, NULL, NULL, 0, NULL, &y, 1) == SX_CODE_INVALID_ARGUMENT &&
        strstr(sx_last_error(), "not given"));
  CHECK(sx_session_run(session, &in, two, 1, &wrong, &y, 1) == SX_CODE_INVALID_ARGUMENT);
  CHECK(sx_session_run(session, &in, two, 1, NULL, &y, 0) == SX_CODE_INVALID_ARGUMENT && y == NULL);
  sx_tensor_destroy(x);
  CHECK(sx_tensor_create(SX_FLOAT32, small, 3, &x) == SX_CODE_OK);
  two[0] = x;
  CHECK(sx_session_run(session, &in, two, 1, NULL, &y, 1) == SX_CODE_INVALID_ARGUMENT &&
        strstr(sx_last_error(), "rank"));
  CHECK(sx_tensor_create(SX_STRING, small, 1, &s) == SX_CODE_OK && sx_tensor_data(s) == NULL &&
        sx_tensor_bytes(s) == 0);
  CHECK(sx_tensor_set_text(s, 0, "a\0b", 3) == SX_CODE_OK &&
        sx_tensor_text(s, 0, &text, &size) == SX_CODE_OK);
  CHECK(size == 3 && memcmp(text, "a\0b", 3) == 0);
  CHECK(sx_tensor_set_text(s, 1, "", 0) == SX_CODE_INVALID_ARGUMENT &&
        sx_tensor_text(x, 0, &text, &size) != SX_CODE_OK);
  sx_tensor_destroy(s);
  sx_tensor_destroy(x);
  sx_tensor_destroy(NULL);
  sx_session_destroy(NULL);
  sx_session_options_destroy(NULL);
}

int main(void) {
  sx_session_options* options = sx_session_options_create();
  sx_session *session = NULL, *copy = NULL;
  size_t size = 0;
  char* bytes = read_file("models/digits/digits.onnx", &size);
  CHECK(strlen(sx_version()) >= 5 && sx_last_error_code() == SX_CODE_OK && sx_last_error()[0] == 0);
  CHECK(options && sx_session_options_set_threads(options, 1) == SX_CODE_OK &&
        sx_session_options_set_copy(options, 1) == SX_CODE_OK &&
        sx_session_options_set_allow_newer(options, 1) == SX_CODE_OK &&
        sx_session_options_set_strict_names(options, 1) == SX_CODE_OK);
  CHECK(sx_session_load("models/digits/digits.onnx", options, &session) == SX_CODE_OK);
  CHECK(sx_session_options_set_rules(options, 0) == SX_CODE_OK &&
        sx_session_options_set_dim(options, "N", 1) == SX_CODE_OK);
  CHECK(sx_session_options_add_plugin(options, SX_TOY) == SX_CODE_OK);
  CHECK(sx_session_load_from_memory(bytes, size, options, &copy) == SX_CODE_OK);
  free(bytes);
  if (session && copy) {
    test_description(session);
    test_runs(session);
    test_failures(session);
    test_runs(copy);
    CHECK(sx_session_input(copy, 0)->dims[0] == 1);
  }
  sx_session_destroy(copy);
  copy = NULL;
  CHECK(sx_session_options_set_memory_limit(options, 100) == SX_CODE_OK);
  CHECK(sx_session_load("models/digits/digits.onnx", options, &copy) == SX_CODE_OUT_OF_MEMORY &&
        strstr(sx_last_error(), "limit of 100 bytes"));
  CHECK(sx_session_options_set_memory_limit(options, 0) == SX_CODE_OK);
  CHECK(sx_session_options_add_provider(options, "nobody") == SX_CODE_OK);
  CHECK(sx_session_load("models/digits/digits.onnx", options, &copy) == SX_CODE_NOT_FOUND &&
        strstr(sx_last_error(), "nobody"));
  sx_session_options_destroy(options);
  sx_session_destroy(session);
  sx_session_destroy(copy);
  printf("%d failures\n", failures);
  return failures != 0;
}
