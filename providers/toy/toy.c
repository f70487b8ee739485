/* SPDX-License-Identifier: Apache-2.0
 * The toy's answers: what it claims, how it lays operands out, what it fuses and how it compiles.
 */
#include "toy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const sx_host* toy_host;

typedef struct operator_entry {
  const char* name;
  toy_kind kind;
  toy_function function;
} operator_entry;

static const operator_entry kOperators[] = {
    {"Relu", TOY_UNARY, TOY_RELU},  {"Neg", TOY_UNARY, TOY_NEG},
    {"Abs", TOY_UNARY, TOY_ABS},    {"Sqrt", TOY_UNARY, TOY_SQRT},
    {"Tanh", TOY_UNARY, TOY_TANH},  {"Sigmoid", TOY_UNARY, TOY_SIGMOID},
    {"Exp", TOY_UNARY, TOY_EXP},    {"Add", TOY_BINARY, TOY_ADD},
    {"Sub", TOY_BINARY, TOY_SUB},   {"Mul", TOY_BINARY, TOY_MUL},
    {"Conv", TOY_CONV, TOY_ADD},    {"MatMul", TOY_PRODUCT, TOY_ADD},
    {"Gemm", TOY_PRODUCT, TOY_ADD}, {"GlobalAveragePool", TOY_AVERAGE, TOY_ADD},
};

static int is(sx_text text, const char* name) {
  return text.size == strlen(name) && memcmp(text.data, name, text.size) == 0;
}

static const operator_entry* find(const sx_node* node) {
  if (toy_host->node_domain(node).size != 0) return NULL;
  for (size_t i = 0; i < sizeof kOperators / sizeof *kOperators; ++i) {
    if (is(toy_host->node_operator(node), kOperators[i].name)) return &kOperators[i];
  }
  return NULL;
}

static int64_t integer(const sx_node* node, const char* name, int64_t otherwise) {
  int64_t v = otherwise;
  toy_host->node_integer(node, name, &v);
  return v;
}

/* ---- claim */

static const char* refuse_conv(const sx_node* node) {
  const sx_operand x = toy_host->node_input(node, 0), w = toy_host->node_input(node, 1);
  sx_text pad;
  if (x.rank != 3 && x.rank != 4) return "it has not one or two spatial dimensions";
  if (!w.constant) return "the weight is not constant";
  if (integer(node, "group", 1) != 1) return "it has groups of channels";
  if (toy_host->node_text(node, "auto_pad", &pad) && !is(pad, "NOTSET") && !is(pad, "VALID"))
    return "auto_pad asks for SAME";
  return NULL;
}

static const char* refuse_product(const sx_node* node) {
  const sx_operand a = toy_host->node_input(node, 0), b = toy_host->node_input(node, 1),
                   c = toy_host->node_input(node, 2);
  if (!b.constant || b.rank != 2) return "the second operand is no constant matrix";
  if (a.rank < 2) return "the first operand has less than two dimensions";
  if (is(toy_host->node_operator(node), "MatMul")) return NULL;
  if (integer(node, "transA", 0) != 0) return "the first operand is transposed";
  if (c.given && c.rank > 2) return "the addend has more than two dimensions";
  return NULL;
}

static const char* refuse(const sx_node* node, const operator_entry* entry) {
  const size_t inputs = toy_host->node_inputs(node);
  if (!entry) return "the toy does not know this operator";
  if (toy_host->node_outputs(node) != 1) return "it has more than one output";
  for (size_t i = 0; i <= inputs; ++i) {
    const sx_operand o = i < inputs ? toy_host->node_input(node, i) : toy_host->node_output(node, 0);
    if (!o.given) continue;
    if (o.type != SX_FLOAT32) return "an operand is not float32";
    if (o.rank < 0) return "the rank of an operand is not known";
    if (o.rank > TOY_MOST_RANK) return "an operand has more than eight dimensions";
  }
  if (entry->kind == TOY_CONV) return refuse_conv(node);
  if (entry->kind == TOY_PRODUCT) return refuse_product(node);
  if (entry->kind == TOY_AVERAGE && toy_host->node_input(node, 0).rank < 3)
    return "there is no space to average over";
  return NULL;
}

static int32_t claim(void* self, const sx_node* node, double* cost, sx_text* reason) {
  const char* why = refuse(node, find(node));
  (void)self;
  *cost = 1000;
  reason->data = why ? why : "toy";
  reason->size = strlen(reason->data);
  return why == NULL;
}

/* ---- groups: a convolution, product or sum, perhaps with one more addend of its own shape, perhaps with
 * Relu */

static int32_t can_fuse(void* self, const sx_node* const* members, size_t count, const sx_node* next,
                        sx_text* why_not) {
  const operator_entry* first = find(members[0]);
  const operator_entry* entry = find(next);
  const char* why = NULL;
  (void)self;
  if (!first || !entry || first->kind == TOY_UNARY || first->kind == TOY_AVERAGE) {
    why = "the toy starts no group here";
  } else if (find(members[count - 1])->function == TOY_RELU) {
    why = "Relu is the end of a group";
  } else if (entry->kind == TOY_BINARY && entry->function == TOY_ADD && first->kind != TOY_BINARY &&
             count == 1) {
    const int left = toy_host->reads(next, 0, members[0], 0), right = toy_host->reads(next, 1, members[0], 0);
    if (left + right != 1)
      why = "it adds the result to itself";
    else if (toy_host->node_input(next, left ? 1 : 0).constant)
      why = "the addend is constant";
    else if (!toy_host->same_shape(next, 0, 0, 0, 1))
      why = "the addend has another shape";
  } else if (entry->function != TOY_RELU) {
    why = "only an addition and Relu join a group";
  }
  why_not->data = why ? why : "";
  why_not->size = strlen(why_not->data);
  return why == NULL;
}

/* A node or a group as compile and layouts see it: the anchor, and which operands of the step it reads. */
typedef struct site {
  const sx_node* anchor;
  const operator_entry* entry;
  int members;
  int input[3], residual, relu; /* operands of the step; -1: none */
} site;

static site look(const sx_node* node) {
  const size_t members = toy_host->group_members(node);
  site s = {members ? toy_host->group_member(node, 0) : node,
            NULL,
            members ? (int)members : 1,
            {-1, -1, -1},
            -1,
            0};
  s.entry = find(s.anchor);
  for (size_t i = 0; i < 3 && i < toy_host->node_inputs(s.anchor); ++i) {
    if (members)
      s.input[i] = toy_host->member_operand(node, 0, i);
    else if (toy_host->node_input(node, i).given)
      s.input[i] = (int)i;
  }
  for (size_t m = 1; m < members; ++m) {
    if (find(toy_host->group_member(node, m))->function == TOY_RELU) {
      s.relu = 1;
    } else {
      const int left = toy_host->member_operand(node, m, 0);
      s.residual = left >= 0 ? left : toy_host->member_operand(node, m, 1);
    }
  }
  return s;
}

/* ---- layouts */

static int offers_own(const site* s) {
  const sx_node* n = s->anchor;
  const int32_t rank = toy_host->node_output(n, 0).rank;
  if (s->entry->kind == TOY_CONV || s->entry->kind == TOY_AVERAGE) return 1;
  if (rank < 3 || s->entry->function == TOY_SIGMOID || s->entry->function == TOY_EXP) return 0;
  if (s->entry->kind == TOY_UNARY) return 1;
  if (s->entry->kind != TOY_BINARY) return 0;
  if (toy_host->node_input(n, 0).constant || toy_host->node_input(n, 1).constant) return 0;
  return toy_host->same_shape(n, 0, 0, 1, 0) && toy_host->same_shape(n, 0, 1, 1, 0);
}

static size_t layouts(void* self, const sx_node* node, sx_layout_offer* offers, size_t room) {
  static const sx_layout plain[4] = {
      {SX_LAYOUT_PLAIN, 0}, {SX_LAYOUT_PLAIN, 0}, {SX_LAYOUT_PLAIN, 0}, {SX_LAYOUT_PLAIN, 0}};
  static __thread sx_layout in[4];
  static __thread sx_layout out[1];
  const site s = look(node);
  size_t count = 0;
  (void)self;
  if (room < 2 || !offers_own(&s)) return 0;
  memcpy(in, plain, sizeof in);
  memcpy(out, plain, sizeof out);
  in[s.input[0]].kind = SX_LAYOUT_OWN;
  if (s.entry->kind == TOY_BINARY) in[s.input[1]].kind = SX_LAYOUT_OWN;
  if (s.residual >= 0) in[s.residual].kind = SX_LAYOUT_OWN;
  if (s.entry->kind != TOY_AVERAGE) out[0].kind = SX_LAYOUT_OWN;
  for (size_t i = 0; i < 4; ++i) in[i].block = in[i].kind == SX_LAYOUT_OWN ? TOY_BLOCK : 0;
  out[0].block = out[0].kind == SX_LAYOUT_OWN ? TOY_BLOCK : 0;
  offers[count++] = (sx_layout_offer){in, out, 1000};
  if (s.entry->kind != TOY_CONV) offers[count++] = (sx_layout_offer){plain, plain, 1000};
  return count;
}

static size_t own_bytes(void* self, sx_dtype type, uint32_t own, const int64_t* dims, size_t rank) {
  size_t n = type == SX_FLOAT32 && own == TOY_BLOCK ? sizeof(float) : 0;
  (void)self;
  for (size_t i = 0; i < rank; ++i) n *= (size_t)(i == 1 ? toy_blocks(dims[i]) * TOY_BLOCK : dims[i]);
  return n;
}

/* ---- compile */

static int compile_conv(toy_kernel* k, const site* s) {
  const sx_operand w = toy_host->node_input(s->anchor, 1);
  const size_t axes = (size_t)w.rank - 2;
  const struct {
    const char* name;
    int64_t* to;
    int64_t otherwise;
  } lists[] = {{"strides", k->stride, 1}, {"dilations", k->dilation, 1}, {"pads", k->before, 0}};
  sx_text pad = {"", 0};
  k->out_channels = w.dims[0];
  k->in_channels = w.dims[1];
  toy_host->node_text(s->anchor, "auto_pad", &pad);
  for (size_t l = 0; l < 3; ++l) {
    const int64_t* values = NULL;
    size_t count = 0;
    const int given =
        toy_host->node_integers(s->anchor, lists[l].name, &values, &count) && !(l == 2 && is(pad, "VALID"));
    lists[l].to[0] = lists[l].to[1] = lists[l].otherwise;
    for (size_t i = 0; i < axes; ++i) {
      if (given && i < count) lists[l].to[2 - axes + i] = values[i];
    }
  }
  k->window[0] = axes == 2 ? w.dims[2] : 1;
  k->window[1] = w.dims[w.rank - 1];
  k->bias = s->input[2];
  k->table.unused_inputs = (uint64_t)1 << s->input[1];
  return toy_pack_conv(k, w.constant);
}

static int compile_product(toy_kernel* k, const site* s) {
  const sx_operand b = toy_host->node_input(s->anchor, 1);
  const int transposed = integer(s->anchor, "transB", 0) != 0;
  k->in_channels = b.dims[transposed ? 1 : 0];
  k->out_channels = b.dims[transposed ? 0 : 1];
  k->alpha = k->beta = 1;
  toy_host->node_float(s->anchor, "alpha", &k->alpha);
  toy_host->node_float(s->anchor, "beta", &k->beta);
  k->bias = s->input[2];
  k->table.unused_inputs = (uint64_t)1 << s->input[1];
  return toy_pack_product(k, b.constant, transposed);
}

static toy_kernel* new_kernel(toy_kind kind) {
  toy_kernel* k = calloc(1, sizeof *k);
  if (!k) return NULL;
  k->kind = kind;
  k->members = 1;
  k->y = k->bias = k->residual = -1;
  return k;
}

static void add_in_place(toy_kernel* k, int operand) {
  k->in_place[k->table.in_place_count].output = 0;
  k->in_place[k->table.in_place_count++].input = (uint8_t)operand;
}

static sx_code compile(void* self, const sx_node* node, const sx_layout* in, const sx_layout* out,
                       sx_kernel** kernel) {
  const site s = look(node);
  toy_kernel* k = new_kernel(s.entry->kind);
  int ok = 1;
  (void)self, (void)out;
  if (!k) return SX_CODE_OUT_OF_MEMORY;
  k->function = s.entry->function;
  k->members = s.members;
  k->x = s.input[0];
  k->residual = s.residual;
  k->relu = s.relu;
  k->own = in[k->x].kind == SX_LAYOUT_OWN;
  if (k->kind == TOY_BINARY) k->y = s.input[1];
  if (k->kind == TOY_CONV) ok = compile_conv(k, &s);
  if (k->kind == TOY_PRODUCT) ok = compile_product(k, &s);
  if (k->kind == TOY_UNARY || k->kind == TOY_BINARY) add_in_place(k, k->x);
  if (k->kind == TOY_BINARY) add_in_place(k, k->y);
  if (k->residual >= 0 && k->residual != k->x && k->residual != k->bias) add_in_place(k, k->residual);
  snprintf(k->name, sizeof k->name, "toy %s%s%s%s", s.entry->name, k->own ? " blocked" : "",
           k->residual >= 0 ? " +add" : "", k->relu ? " +relu" : "");
  toy_finish(k);
  if (!ok) {
    k->table.destroy(k);
    toy_host->set_error("no memory for a packed weight");
    return SX_CODE_OUT_OF_MEMORY;
  }
  *kernel = &k->table;
  return SX_CODE_OK;
}

static sx_code compile_reorder(void* self, sx_dtype type, sx_layout from, sx_layout to, sx_kernel** kernel) {
  toy_kernel* k = NULL;
  (void)self;
  if (type != SX_FLOAT32 || (from.kind == SX_LAYOUT_OWN) == (to.kind == SX_LAYOUT_OWN) ||
      from.kind + to.kind != SX_LAYOUT_OWN) {
    toy_host->set_error("the toy moves float32 between plain and its own layout, nothing else");
    return SX_CODE_UNSUPPORTED;
  }
  k = new_kernel(TOY_REORDER);
  if (!k) return SX_CODE_OUT_OF_MEMORY;
  k->to_own = to.kind == SX_LAYOUT_OWN;
  snprintf(k->name, sizeof k->name, "toy reorder %s", k->to_own ? "to blocks" : "from blocks");
  toy_finish(k);
  *kernel = &k->table;
  return SX_CODE_OK;
}

const sx_plugin* sx_plugin_open(const sx_host* host, uint32_t abi) {
  static const sx_provider provider = {
      sizeof(sx_provider), NULL,      {"toy", 3}, claim, layouts, can_fuse, compile,
      compile_reorder,     own_bytes, &toy_memory};
  static const sx_provider* const providers[] = {&provider};
  static const sx_plugin plugin = {sizeof(sx_plugin), SX_PLUGIN_ABI, {"toy", 3}, providers, 1};
  if (abi != SX_PLUGIN_ABI || host->size < sizeof(sx_host)) {
    host->set_error("the toy was built for another version of the tables");
    return NULL;
  }
  if (toy_host != host) toy_host = host; /* other sessions may be reading it */
  return &plugin;
}
