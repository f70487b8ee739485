/* SPDX-License-Identifier: Apache-2.0
 * The door for execution providers in shared libraries. EXPERIMENTAL: it may change until providers for
 * oneDNN and CUDA live behind it.
 *
 * A plugin exports one function, sx_plugin_open. It gets the host's table and returns a table of providers.
 * Tables are structs of function pointers whose first member is their size, so that either side may be newer:
 * a function that lies beyond the other side's size does not exist there. No C++ type, no exception and no
 * ownership crosses: whoever made a thing destroys it through its table. Numeric tensors cross as views;
 * strings, sequences and maps as opaque handles.
 *
 * All functions may be called from several threads, except that one kernel's prepared states are made one at
 * a time.
 */
#ifndef SARDONYX_PLUGIN_H
#define SARDONYX_PLUGIN_H
#include "sardonyx/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_PLUGIN_ABI 1u

/* How a tensor lies in memory; its dims stay as ONNX says. */
typedef enum sx_layout_kind {
  SX_LAYOUT_PLAIN = 0,            /* row-major */
  SX_LAYOUT_BLOCKED_CHANNELS = 1, /* [N, C/block, spatial..., block], lanes past the last channel zero */
  SX_LAYOUT_OWN = 2               /* known only to the provider that offered it */
} sx_layout_kind;
typedef struct sx_layout {
  uint32_t kind;  /* sx_layout_kind */
  uint32_t block; /* channels of a block, or the provider's own number (below 65536) */
} sx_layout;

/* A tensor. `strides` is NULL where it is contiguous in its layout; type 0 is an absent operand. */
typedef struct sx_view {
  sx_dtype type;
  sx_layout layout;
  size_t rank;
  const int64_t* dims;
  const int64_t* strides; /* in elements */
  void* data; /* in the provider's memory space; while preparing NULL, unless the operand is constant */
} sx_view;

typedef struct sx_node sx_node;   /* a node, or a group of nodes, inside the host */
typedef struct sx_value sx_value; /* any value inside the host: a tensor of strings, a sequence, a map ... */
typedef struct sx_text {          /* not terminated by a NUL */
  const char* data;
  size_t size;
} sx_text;

/* What a node's operand is, as far as it is known before a run. */
typedef struct sx_operand {
  int32_t given;       /* 0: an optional operand that is not there */
  sx_dtype type;       /* 0: not a tensor */
  int32_t rank;        /* -1: not known */
  const int64_t* dims; /* -1 where a size is known only later */
  /* Contents in the host's memory, where they are constant; contiguous, plain. Weights in a file lie at any
     address: copy numbers out with memcpy. */
  const void* constant;
} sx_operand;

/* The host's half. Handles and texts live as long as the call that they were given in. */
typedef struct sx_host {
  size_t size;
  /* The sentence that belongs to an error code, for the calling thread. It is copied. */
  void (*set_error)(const char* text);
  /* Nodes. */
  sx_text (*node_operator)(const sx_node* node); /* "Conv"; "Group" in domain "sx" for a group */
  sx_text (*node_domain)(const sx_node* node);   /* "" for ONNX's own */
  sx_text (*node_name)(const sx_node* node);     /* may be empty */
  size_t (*node_inputs)(const sx_node* node);
  size_t (*node_outputs)(const sx_node* node);
  sx_operand (*node_input)(const sx_node* node, size_t index);
  sx_operand (*node_output)(const sx_node* node, size_t index);
  /* Attributes: 1 if it is there (and of that kind), 0 if not. Defaults of the operator are filled in. */
  int32_t (*node_integer)(const sx_node* node, const char* name, int64_t* value);
  int32_t (*node_float)(const sx_node* node, const char* name, float* value);
  int32_t (*node_text)(const sx_node* node, const char* name, sx_text* value);
  int32_t (*node_integers)(const sx_node* node, const char* name, const int64_t** values, size_t* count);
  /* Two operands of one node whose shapes inference proved equal for every binding, also where sizes are not
   * known. */
  int32_t (*same_shape)(const sx_node* node, int32_t a_is_output, size_t a, int32_t b_is_output, size_t b);
  /* Is input `input` of `reader` the output `output` of `maker`? */
  int32_t (*reads)(const sx_node* reader, size_t input, const sx_node* maker, size_t output);
  /* Members of a group, in order; the first is the anchor. member_operand says where a member's input comes
   * from: k >= 0 is operand k of the group, k <= -2 the first output of member -(k + 2), -1 is not given. */
  size_t (*group_members)(const sx_node* group);
  const sx_node* (*group_member)(const sx_node* group, size_t index);
  int32_t (*member_operand)(const sx_node* group, size_t member, size_t input);
  /* During a run. Calls body(context, chunk, worker) for each chunk and returns when all are done; workers
   * are below sx_run.workers. Cut work by shape alone, so that results do not depend on the number of
   * workers. */
  void (*parallel_for)(void* parallel, size_t chunks,
                       void (*body)(void* context, size_t chunk, size_t worker), void* context);
  int32_t (*cancelled)(const void* cancel);
  /* The tables of a provider that is linked into the host; NULL if there is none of that name. */
  const struct sx_provider* (*builtin_provider)(const char* name);
} sx_host;

typedef struct sx_run {
  void* parallel; /* for sx_host.parallel_for */
  size_t workers;
  const void* cancel;   /* for sx_host.cancelled */
  void* scratch;        /* in the host's memory, as asked for by prepare */
  void* worker_scratch; /* worker w's part starts at w * worker_stride */
  size_t worker_stride;
} sx_run;

typedef struct sx_in_place {
  uint8_t output, input;
} sx_in_place;

/* One compiled step. `self` is the plugin's own; the table itself lives until destroy(self). */
typedef struct sx_kernel {
  size_t size;
  void* self;
  sx_text name; /* which implementation, for people: "conv blocked +relu" */
  const sx_in_place*
      in_place; /* outputs that may lie in an input's memory when nothing else needs that input */
  size_t in_place_count;
  uint64_t strided_inputs; /* bit i: input i may have strides; otherwise it arrives contiguous */
  uint64_t unused_inputs;  /* bit i: input i is not read by run: packed ahead, or only its dims matter */
  int32_t values;          /* 1: run_values instead of run */
  void (*destroy)(void* self);
  /* Per-shape state, read-only during run; may be NULL, and `prepared` may be set to NULL. Sizes of scratch
   * memory are returned in bytes. */
  sx_code (*prepare)(void* self, const sx_view* in, size_t in_count, const sx_view* out, size_t out_count,
                     size_t workers, size_t* scratch, size_t* scratch_per_worker, void** prepared);
  void (*destroy_prepared)(void* self, void* prepared);
  /* Outputs are contiguous in their layout. An error other than INVALID_ARGUMENT, CANCELLED and DEADLINE
   * means that the provider failed: the host goes on without it. */
  sx_code (*run)(void* self, const void* prepared, const sx_view* in, size_t in_count, const sx_view* out,
                 size_t out_count, const sx_run* run);
  sx_code (*run_values)(void* self, const sx_value* const* in, size_t in_count, sx_value* const* out,
                        size_t out_count, const sx_run* run);
} sx_kernel;

/* One way to lay out a node's operands: as many entries as the node has inputs and outputs. Constants stay
 * plain. */
typedef struct sx_layout_offer {
  const sx_layout* in;
  const sx_layout* out;
  double cost; /* estimated nanoseconds */
} sx_layout_offer;

/* Memory of a provider's own. The host moves addresses inside a block by adding bytes and never looks at what
 * is there; copies are of whole contiguous tensors. */
typedef struct sx_memory {
  size_t size;
  void* self;
  void* (*allocate)(void* self, size_t bytes); /* aligned to 64 bytes; NULL: there is none left */
  void (*release)(void* self, void* p);
  sx_code (*copy_in)(void* self, void* device, const void* host, size_t bytes);
  sx_code (*copy_out)(void* self, void* host, const void* device, size_t bytes);
} sx_memory;

typedef struct sx_provider {
  size_t size;
  void* self;
  sx_text name;
  /* 1: yes, 0: no. The reason is a sentence in either case; it is copied before the next call on this thread.
   */
  int32_t (*claim)(void* self, const sx_node* node, double* cost, sx_text* reason);
  /* Fills at most `room` offers and returns how many there are; valid until the next call on this thread.
   * None, or NULL: everything plain. Plain must be among them if it is possible. */
  size_t (*layouts)(void* self, const sx_node* node, sx_layout_offer* offers, size_t room);
  /* May `next`, the only user of the last member's result, join the members so far? NULL: never. */
  int32_t (*can_fuse)(void* self, const sx_node* const* members, size_t count, const sx_node* next,
                      sx_text* why_not);
  sx_code (*compile)(void* self, const sx_node* node, const sx_layout* in, const sx_layout* out,
                     sx_kernel** kernel);
  /* Between plain and one of the provider's layouts, either way; NULL where it has none. */
  sx_code (*compile_reorder)(void* self, sx_dtype type, sx_layout from, sx_layout to, sx_kernel** kernel);
  /* Bytes that a tensor takes in the provider's own layout `own`, padding included; NULL where it has none.
   */
  size_t (*own_bytes)(void* self, sx_dtype type, uint32_t own, const int64_t* dims, size_t rank);
  const sx_memory* memory; /* NULL: the host's memory */
} sx_provider;

typedef struct sx_plugin {
  size_t size;
  uint32_t abi; /* SX_PLUGIN_ABI */
  sx_text name;
  const sx_provider* const* providers;
  size_t provider_count;
} sx_plugin;

/* Called once for each session that uses the plugin, by one thread at a time. It may return the same tables
 * each time; they live until the library is closed. NULL on failure, with a text through host->set_error.
 * `host` lives as long as the process. */
typedef const sx_plugin* (*sx_plugin_open_fn)(const sx_host* host, uint32_t abi);
SX_EXPORT const sx_plugin* sx_plugin_open(const sx_host* host, uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif
