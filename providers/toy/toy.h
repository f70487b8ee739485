/* SPDX-License-Identifier: Apache-2.0
 * The toy provider: small, slow and honest. It uses every feature of the plugin door: memory of its own, a
 * blocked layout of its own, kernels in place, packed weights, groups, prepared states and scratch memory.
 */
#ifndef SARDONYX_TOY_H
#define SARDONYX_TOY_H
#include "sardonyx/plugin.h"

enum { TOY_BLOCK = 8, TOY_MOST_RANK = 8 };

/* What ran since the last reset. Tests find these functions by name in the opened library. */
typedef struct toy_counters {
  uint64_t runs;     /* kernels, reorders included */
  uint64_t reorders; /* between plain and the blocked layout */
  uint64_t own;      /* kernels with an operand in the blocked layout, reorders not counted */
  uint64_t in_place; /* kernels whose result lay in an operand's memory */
  uint64_t packed;   /* kernels with a packed weight */
  uint64_t groups;   /* kernels of more than one node */
  uint64_t uploads;  /* copies into the toy's memory */
  uint64_t refused;  /* kernels that were given memory of the host */
} toy_counters;
SX_EXPORT void toy_read_counters(toy_counters* counters);
SX_EXPORT void toy_reset_counters(void);
/* The k-th kernel from now fails; 0: none does. */
SX_EXPORT void toy_fail_at(long k);

extern const sx_host* toy_host;
extern toy_counters toy_count;
void toy_add(uint64_t* counter);
int toy_should_fail(void);

/* The toy's memory: what others get to see is the address with a tag in its top byte, so that nobody can read
 * through it by mistake, and a pointer of the host's is told from one of ours. NULL: not ours. */
float* toy_real(const void* device);
extern const sx_memory toy_memory;

typedef enum toy_kind { TOY_UNARY, TOY_BINARY, TOY_CONV, TOY_PRODUCT, TOY_AVERAGE, TOY_REORDER } toy_kind;
typedef enum toy_function {
  TOY_RELU,
  TOY_NEG,
  TOY_ABS,
  TOY_SQRT,
  TOY_TANH,
  TOY_SIGMOID,
  TOY_EXP, /* unary; the last two move zero */
  TOY_ADD,
  TOY_SUB,
  TOY_MUL
} toy_function;

typedef struct toy_kernel {
  sx_kernel table; /* first: its self is this struct */
  toy_kind kind;
  toy_function function;
  char name[64];
  sx_in_place in_place[2];
  int members;
  int x, y, bias, residual; /* operands of the step; -1: none */
  int relu;                 /* at the end of a group */
  int own;                  /* operands lie in the blocked layout */
  int to_own;               /* of a reorder */
  float* packed;
  int64_t in_channels, out_channels; /* of a product: rows and columns of B */
  int64_t window[2], stride[2], dilation[2], before[2];
  float alpha, beta;
} toy_kernel;

int64_t toy_blocks(int64_t channels);
/* Packs the weight w of `k`; 0: no memory. */
int toy_pack_conv(toy_kernel* k, const void* w);
int toy_pack_product(toy_kernel* k, const void* b, int transposed);
/* Fills the functions of k->table for its kind. */
void toy_finish(toy_kernel* k);

#endif
