/* SPDX-License-Identifier: Apache-2.0
 * What the toy computes. Sums are kept in double, so that its results are as good as anybody's.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toy.h"

enum { CHUNK = 4096 };

int64_t toy_blocks(int64_t channels) { return (channels + TOY_BLOCK - 1) / TOY_BLOCK; }

/* ---- one call */

typedef struct call {
  const toy_kernel* k;
  const void* prepared;
  const sx_view* in;
  const sx_view* out;
  const sx_run* run;
  float* data[4]; /* the operands x, y, bias, residual */
  float* result;
} call;

static int64_t count_of(const sx_view* v, int own) {
  int64_t n = 1;
  for (size_t i = 0; i < v->rank; ++i) n *= own && i == 1 ? toy_blocks(v->dims[i]) * TOY_BLOCK : v->dims[i];
  return n;
}

static int64_t rest(const sx_view* v, size_t first) {
  int64_t n = 1;
  for (size_t i = first; i < v->rank; ++i) n *= v->dims[i];
  return n;
}

static float relu(float v) { return v < 0 ? 0 : v; } /* keeps NaN */
static float finish(const call* c, double sum, int64_t at) {
  if (c->data[3]) sum += c->data[3][at];
  return c->k->relu ? relu((float)sum) : (float)sum;
}

/* ---- element by element */

static float unary(toy_function f, float v) {
  switch (f) {
    case TOY_RELU: return relu(v);
    case TOY_NEG: return -v;
    case TOY_ABS: return fabsf(v);
    case TOY_SQRT: return sqrtf(v);
    case TOY_TANH: return tanhf(v);
    case TOY_SIGMOID: return 1.0f / (1.0f + expf(-v));
    default: return expf(v);
  }
}

static float binary(const toy_kernel* k, float a, float b) {
  const float v = k->function == TOY_ADD ? a + b : k->function == TOY_SUB ? a - b : a * b;
  return k->relu ? relu(v) : v;
}

static void unary_chunk(void* context, size_t chunk, size_t worker) {
  const call* c = context;
  const int64_t all = count_of(&c->out[0], c->k->own), first = (int64_t)chunk * CHUNK;
  (void)worker;
  for (int64_t i = first; i < all && i < first + CHUNK; ++i)
    c->result[i] = unary(c->k->function, c->data[0][i]);
}

/* The distance between neighbours along each axis of the result; 0 where the operand is repeated. */
static void broadcast_strides(const sx_view* v, const sx_view* out, int64_t* strides) {
  int64_t step = 1;
  for (size_t i = 0; i < out->rank; ++i) {
    const size_t axis = out->rank - 1 - i;
    const int64_t size = i < v->rank ? v->dims[v->rank - 1 - i] : 1;
    strides[axis] = size == 1 ? 0 : step;
    step *= size;
  }
}

static void binary_chunk(void* context, size_t chunk, size_t worker) {
  const call* c = context;
  const sx_view* out = &c->out[0];
  const int64_t all = count_of(out, c->k->own), first = (int64_t)chunk * CHUNK;
  const int64_t last = first + CHUNK < all ? first + CHUNK : all;
  int64_t a[TOY_MOST_RANK], b[TOY_MOST_RANK];
  (void)worker;
  if (c->k->own) { /* both of the result's shape; padded lanes are zero and stay so */
    for (int64_t i = first; i < last; ++i) c->result[i] = binary(c->k, c->data[0][i], c->data[1][i]);
    return;
  }
  broadcast_strides(&c->in[c->k->x], out, a);
  broadcast_strides(&c->in[c->k->y], out, b);
  for (int64_t i = first; i < last; ++i) {
    int64_t left = i, at_a = 0, at_b = 0;
    for (size_t axis = out->rank; axis-- > 0;) {
      const int64_t at = left % out->dims[axis];
      left /= out->dims[axis];
      at_a += at * a[axis];
      at_b += at * b[axis];
    }
    c->result[i] = binary(c->k, c->data[0][at_a], c->data[1][at_b]);
  }
}

static sx_code run_elements(call* c) {
  const size_t chunks = (size_t)((count_of(&c->out[0], c->k->own) + CHUNK - 1) / CHUNK);
  toy_host->parallel_for(c->run->parallel, chunks, c->k->kind == TOY_UNARY ? unary_chunk : binary_chunk, c);
  return SX_CODE_OK;
}

/* ---- convolution: blocks of channels in, blocks of channels out */

typedef struct geometry {
  int64_t batch, in_size[2], out_size[2];
} geometry;

/* Spatial dims as two of them; a convolution along one axis has a height of 1. */
static void spatial(const sx_view* v, int64_t* size) {
  size[0] = v->rank == 4 ? v->dims[2] : 1;
  size[1] = v->dims[v->rank - 1];
}

/* Weights lie at any address. */
static float number_at(const void* weights, int64_t i) {
  float number;
  memcpy(&number, (const char*)weights + i * (int64_t)sizeof number, sizeof number);
  return number;
}

/* [out block][in block][window][in lane][out lane], lanes past the last channel zero. */
int toy_pack_conv(toy_kernel* k, const void* w) {
  const int64_t outs = toy_blocks(k->out_channels), ins = toy_blocks(k->in_channels),
                area = k->window[0] * k->window[1];
  k->packed = calloc((size_t)(outs * ins * area) + 1, TOY_BLOCK * TOY_BLOCK * sizeof(float));
  if (!k->packed) return 0;
  for (int64_t o = 0; o < k->out_channels; ++o) {
    for (int64_t i = 0; i < k->in_channels; ++i) {
      for (int64_t a = 0; a < area; ++a) {
        const int64_t block = ((o / TOY_BLOCK) * ins + i / TOY_BLOCK) * area + a;
        k->packed[(block * TOY_BLOCK + i % TOY_BLOCK) * TOY_BLOCK + o % TOY_BLOCK] =
            number_at(w, (o * k->in_channels + i) * area + a);
      }
    }
  }
  return 1;
}

static sx_code prepare_conv(void* self, const sx_view* in, size_t in_count, const sx_view* out,
                            size_t out_count, size_t workers, size_t* scratch, size_t* scratch_per_worker,
                            void** prepared) {
  const toy_kernel* k = self;
  geometry* g = malloc(sizeof *g);
  (void)in_count, (void)out_count, (void)workers, (void)scratch;
  if (!g) return SX_CODE_OUT_OF_MEMORY;
  g->batch = in[k->x].dims[0];
  spatial(&in[k->x], g->in_size);
  spatial(&out[0], g->out_size);
  *scratch_per_worker = (size_t)g->out_size[1] * TOY_BLOCK * sizeof(double); /* sums of one row */
  *prepared = g;
  return SX_CODE_OK;
}

static void destroy_geometry(void* self, void* prepared) {
  (void)self;
  free(prepared);
}

static void add_row(const toy_kernel* k, const geometry* g, const float* row, const float* w, int64_t kx,
                    double* sums) {
  const int64_t shift = kx * k->dilation[1] - k->before[1], step = k->stride[1];
  int64_t first = shift >= 0 ? 0 : (-shift + step - 1) / step;
  for (int64_t x = first; x < g->out_size[1]; ++x) {
    const int64_t from = x * step + shift;
    if (from >= g->in_size[1]) break;
    const float* v = row + from * TOY_BLOCK;
    double* sum = sums + x * TOY_BLOCK;
    for (int i = 0; i < TOY_BLOCK; ++i) {
      for (int o = 0; o < TOY_BLOCK; ++o) sum[o] += (double)v[i] * w[i * TOY_BLOCK + o];
    }
  }
}

/* One row of one block of channels. */
static void conv_chunk(void* context, size_t chunk, size_t worker) {
  const call* c = context;
  const toy_kernel* k = c->k;
  const geometry* g = c->prepared;
  const int64_t outs = toy_blocks(k->out_channels), ins = toy_blocks(k->in_channels);
  const int64_t y = (int64_t)chunk % g->out_size[0], block = (int64_t)chunk / g->out_size[0] % outs;
  const int64_t n = (int64_t)chunk / g->out_size[0] / outs;
  double* sums = (double*)((char*)c->run->worker_scratch + worker * c->run->worker_stride);
  memset(sums, 0, (size_t)g->out_size[1] * TOY_BLOCK * sizeof(double));
  for (int64_t i = 0; i < ins; ++i) {
    for (int64_t ky = 0; ky < k->window[0]; ++ky) {
      const int64_t from = y * k->stride[0] + ky * k->dilation[0] - k->before[0];
      if (from < 0 || from >= g->in_size[0]) continue;
      const float* row = c->data[0] + ((n * ins + i) * g->in_size[0] + from) * g->in_size[1] * TOY_BLOCK;
      for (int64_t kx = 0; kx < k->window[1]; ++kx) {
        const int64_t at = ((block * ins + i) * k->window[0] + ky) * k->window[1] + kx;
        add_row(k, g, row, k->packed + at * TOY_BLOCK * TOY_BLOCK, kx, sums);
      }
    }
  }
  for (int64_t x = 0; x < g->out_size[1]; ++x) {
    for (int64_t lane = 0; lane < TOY_BLOCK; ++lane) {
      const int64_t channel = block * TOY_BLOCK + lane;
      const int64_t at = (((n * outs + block) * g->out_size[0] + y) * g->out_size[1] + x) * TOY_BLOCK + lane;
      const double bias = c->data[2] && channel < k->out_channels ? c->data[2][channel] : 0;
      c->result[at] = channel < k->out_channels ? finish(c, sums[x * TOY_BLOCK + lane] + bias, at) : 0;
    }
  }
}

static sx_code run_conv(call* c) {
  const geometry* g = c->prepared;
  const int64_t chunks = g->batch * toy_blocks(c->k->out_channels) * g->out_size[0];
  toy_host->parallel_for(c->run->parallel, (size_t)chunks, conv_chunk, c);
  return SX_CODE_OK;
}

/* ---- products with a constant matrix, packed in panels of columns: [column block][row][column lane] */

int toy_pack_product(toy_kernel* k, const void* b, int transposed) {
  const int64_t rows = k->in_channels, columns = k->out_channels;
  k->packed = calloc((size_t)(rows * toy_blocks(columns) * TOY_BLOCK + 1), sizeof(float));
  if (!k->packed) return 0;
  for (int64_t n = 0; n < columns; ++n) {
    for (int64_t i = 0; i < rows; ++i) {
      k->packed[((n / TOY_BLOCK) * rows + i) * TOY_BLOCK + n % TOY_BLOCK] =
          number_at(b, transposed ? n * rows + i : i * columns + n);
    }
  }
  return 1;
}

/* One row of the result. */
static void product_chunk(void* context, size_t row, size_t worker) {
  const call* c = context;
  const toy_kernel* k = c->k;
  const int64_t columns = k->out_channels;
  const float* a = c->data[0] + (int64_t)row * k->in_channels;
  const sx_view* bias = c->data[2] && k->beta != 0 ? &c->in[k->bias] : NULL;
  const int64_t down = bias && bias->rank == 2 && bias->dims[0] != 1 ? bias->dims[1] : 0;
  const int64_t along = bias && bias->rank > 0 && bias->dims[bias->rank - 1] != 1;
  (void)worker;
  for (int64_t block = 0; block < toy_blocks(columns); ++block) {
    const float* b = k->packed + block * k->in_channels * TOY_BLOCK;
    double sums[TOY_BLOCK] = {0};
    for (int64_t i = 0; i < k->in_channels; ++i) {
      for (int lane = 0; lane < TOY_BLOCK; ++lane) sums[lane] += (double)a[i] * b[i * TOY_BLOCK + lane];
    }
    for (int64_t lane = 0; lane < TOY_BLOCK && block * TOY_BLOCK + lane < columns; ++lane) {
      const int64_t n = block * TOY_BLOCK + lane, at = (int64_t)row * columns + n;
      double sum = sums[lane] * k->alpha;
      if (bias) sum += (double)k->beta * c->data[2][(int64_t)row * down + n * along];
      c->result[at] = finish(c, sum, at);
    }
  }
}

static sx_code run_product(call* c) {
  const sx_view* out = &c->out[0];
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < out->rank; ++i) rows *= out->dims[i];
  toy_host->parallel_for(c->run->parallel, (size_t)rows, product_chunk, c);
  return SX_CODE_OK;
}

/* ---- averages over all of space */

static sx_code run_average(call* c) {
  const sx_view* x = &c->in[c->k->x];
  const int64_t channels = x->dims[1], space = rest(x, 2);
  for (int64_t n = 0; n < x->dims[0]; ++n) {
    for (int64_t ch = 0; ch < channels; ++ch) {
      const int64_t block = (n * toy_blocks(channels) + ch / TOY_BLOCK) * space * TOY_BLOCK + ch % TOY_BLOCK;
      const float* from = c->data[0] + (c->k->own ? block : (n * channels + ch) * space);
      double sum = 0;
      for (int64_t i = 0; i < space; ++i) sum += from[c->k->own ? i * TOY_BLOCK : i];
      c->result[n * channels + ch] = (float)(sum / (double)space);
    }
  }
  return SX_CODE_OK;
}

/* ---- between the plain and the blocked layout */

static sx_code run_reorder(call* c) {
  const sx_view* x = &c->in[0];
  const int64_t channels = x->dims[1], space = rest(x, 2), blocks = toy_blocks(channels);
  for (int64_t n = 0; n < x->dims[0]; ++n) {
    for (int64_t ch = 0; ch < blocks * TOY_BLOCK; ++ch) {
      float* own = (c->k->to_own ? c->result : c->data[0]) +
                   (n * blocks + ch / TOY_BLOCK) * space * TOY_BLOCK + ch % TOY_BLOCK;
      float* plain = (c->k->to_own ? c->data[0] : c->result) + (n * channels + ch) * space;
      for (int64_t i = 0; i < space; ++i) {
        if (c->k->to_own)
          own[i * TOY_BLOCK] = ch < channels ? plain[i] : 0;
        else if (ch < channels)
          plain[i] = own[i * TOY_BLOCK];
      }
    }
  }
  return SX_CODE_OK;
}

/* ---- the door */

static sx_code fail(const toy_kernel* k, const char* what) {
  char text[160];
  snprintf(text, sizeof text, "%s: %s", k->name, what);
  toy_host->set_error(text);
  return SX_CODE_INTERNAL;
}

static void count(const call* c) {
  const toy_kernel* k = c->k;
  toy_add(&toy_count.runs);
  if (k->kind == TOY_REORDER)
    toy_add(&toy_count.reorders);
  else if (k->own)
    toy_add(&toy_count.own);
  if (k->packed) toy_add(&toy_count.packed);
  if (k->members > 1) toy_add(&toy_count.groups);
  for (int i = 0; i < 4; ++i) {
    if (c->data[i] == c->result && count_of(&c->out[0], 0) > 0) {
      toy_add(&toy_count.in_place);
      break;
    }
  }
}

static sx_code run_kernel(void* self, const void* prepared, const sx_view* in, size_t in_count,
                          const sx_view* out, size_t out_count, const sx_run* run) {
  const toy_kernel* k = self;
  const int operands[4] = {k->x, k->y, k->bias, k->residual};
  call c = {k, prepared, in, out, run, {NULL, NULL, NULL, NULL}, NULL};
  if (toy_host->cancelled(run->cancel)) return SX_CODE_CANCELLED;
  if (toy_should_fail()) return fail(k, "fails because it was told to");
  if (out_count != 1) return fail(k, "expected one output");
  for (int i = 0; i < 4; ++i) {
    if (operands[i] < 0) continue;
    if ((size_t)operands[i] >= in_count) return fail(k, "an operand is missing");
    c.data[i] = toy_real(in[operands[i]].data);
    if (!c.data[i]) toy_add(&toy_count.refused);
    if (!c.data[i]) return fail(k, "an operand does not lie in the toy's memory");
  }
  c.result = toy_real(out[0].data);
  if (!c.result) toy_add(&toy_count.refused);
  if (!c.result) return fail(k, "the result does not lie in the toy's memory");
  count(&c);
  switch (k->kind) {
    case TOY_CONV: return run_conv(&c);
    case TOY_PRODUCT: return run_product(&c);
    case TOY_AVERAGE: return run_average(&c);
    case TOY_REORDER: return run_reorder(&c);
    default: return run_elements(&c);
  }
}

static void destroy_kernel(void* self) {
  toy_kernel* k = self;
  free(k->packed);
  free(k);
}

void toy_finish(toy_kernel* k) {
  k->table.size = sizeof(sx_kernel);
  k->table.self = k;
  k->table.name.data = k->name;
  k->table.name.size = strlen(k->name);
  k->table.in_place = k->in_place;
  k->table.destroy = destroy_kernel;
  k->table.run = run_kernel;
  if (k->kind == TOY_CONV) {
    k->table.prepare = prepare_conv;
    k->table.destroy_prepared = destroy_geometry;
  }
}
