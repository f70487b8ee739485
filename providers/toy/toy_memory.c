/* SPDX-License-Identifier: Apache-2.0
 * The toy's memory space, its counters and its switch for failing.
 */
#include <stdlib.h>
#include <string.h>

#include "toy.h"

enum { TAG = 0x5a, ALIGN = 64 };

toy_counters toy_count;
static long fail_at;

void toy_add(uint64_t* counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

void toy_read_counters(toy_counters* counters) {
  uint64_t* to = (uint64_t*)counters;
  uint64_t* from = (uint64_t*)&toy_count;
  for (size_t i = 0; i < sizeof(toy_counters) / sizeof(uint64_t); ++i)
    to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
}

void toy_reset_counters(void) {
  uint64_t* to = (uint64_t*)&toy_count;
  for (size_t i = 0; i < sizeof(toy_counters) / sizeof(uint64_t); ++i)
    __atomic_store_n(to + i, 0, __ATOMIC_RELAXED);
}

void toy_fail_at(long k) { __atomic_store_n(&fail_at, k, __ATOMIC_RELAXED); }

int toy_should_fail(void) {
  return __atomic_load_n(&fail_at, __ATOMIC_RELAXED) > 0 &&
         __atomic_sub_fetch(&fail_at, 1, __ATOMIC_RELAXED) == 0;
}

float* toy_real(const void* device) {
  const uintptr_t p = (uintptr_t)device;
  return p >> 56 == TAG ? (float*)(p & (((uintptr_t)1 << 56) - 1)) : NULL;
}

static void* allocate(void* self, size_t bytes) {
  (void)self;
  char* base = bytes > SIZE_MAX - 2 * ALIGN ? NULL : malloc(bytes + 2 * ALIGN);
  if (!base) return NULL;
  const uintptr_t p =
      ((uintptr_t)base + 2 * ALIGN - 1) / ALIGN * ALIGN; /* leaves room for the pointer to free */
  ((void**)p)[-1] = base;
  return (void*)(p | (uintptr_t)TAG << 56);
}

static void release(void* self, void* device) {
  (void)self;
  void* p = toy_real(device);
  if (p) free(((void**)p)[-1]);
}

static sx_code refuse(const char* text) {
  toy_add(&toy_count.refused);
  toy_host->set_error(text);
  return SX_CODE_INTERNAL;
}

static sx_code copy_in(void* self, void* device, const void* host, size_t bytes) {
  (void)self;
  if (!toy_real(device) || toy_real(host)) return refuse("a copy to the toy's memory has its sides mixed up");
  memcpy(toy_real(device), host, bytes);
  toy_add(&toy_count.uploads);
  return SX_CODE_OK;
}

static sx_code copy_out(void* self, void* host, const void* device, size_t bytes) {
  (void)self;
  if (!toy_real(device) || toy_real(host))
    return refuse("a copy from the toy's memory has its sides mixed up");
  memcpy(host, toy_real(device), bytes);
  return SX_CODE_OK;
}

const sx_memory toy_memory = {sizeof(sx_memory), NULL, allocate, release, copy_in, copy_out};
