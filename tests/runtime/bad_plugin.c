/* SPDX-License-Identifier: Apache-2.0
 * A plugin whose tables are wrong in the way that bad_plugin_mode names.
 */
#include "sardonyx/plugin.h"

SX_EXPORT void bad_plugin_mode(int mode);
static int mode_now;
void bad_plugin_mode(int mode) { mode_now = mode; }

static int32_t claim(void* self, const sx_node* node, double* cost, sx_text* reason) {
  (void)self, (void)node, (void)cost, (void)reason;
  return 1;
}

/* Says yes and gives nothing. */
static sx_code compile(void* self, const sx_node* node, const sx_layout* in, const sx_layout* out,
                       sx_kernel** kernel) {
  (void)self, (void)node, (void)in, (void)out, (void)kernel;
  return SX_CODE_OK;
}

const sx_plugin* sx_plugin_open(const sx_host* host, uint32_t abi) {
  static sx_provider provider;
  static sx_memory memory;
  static const sx_provider* const providers[] = {&provider};
  static sx_plugin plugin;
  provider = (sx_provider){sizeof(sx_provider), 0, {"bad", 3}, claim, 0, 0, compile, 0, 0, 0};
  plugin = (sx_plugin){sizeof(sx_plugin), abi, {"bad", 3}, providers, 1};
  memory.size = sizeof(sx_memory);
  switch (mode_now) {
    case 0: host->set_error("this machine has none of our devices"); return 0;
    case 1: return 0;
    case 2: plugin.abi = 99; break;
    case 3: plugin.size = 8; break;
    case 4: plugin.provider_count = 0; break;
    case 5: provider.size = 16; break;
    case 6: provider.name.size = 0; break;
    case 7: provider.compile = 0; break;
    case 8: provider.memory = &memory; break;
    default: break;
  }
  return &plugin;
}
