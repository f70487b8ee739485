// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin.h"

#include <dlfcn.h>

#include <mutex>

#include "base/format.h"
#include "runtime/abi.h"
#include "runtime/abi_provider.h"

namespace sx {
namespace {

constexpr uint32_t kMostProviders = 64;

std::string dl_error() {
  const char* text = dlerror();
  return text ? text : "no reason given";
}

}  // namespace

Result<std::vector<std::unique_ptr<Provider>>> load_plugin(const std::string& path, uint32_t number) {
  const auto failed = [&](Code code, std::string text) {
    return Status(code, std::move(text)).in("plugin '" + path + "'");
  };
  // A bare name would be searched in the system's folders; a plugin is always a file that somebody named.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) return failed(Code::not_found, "cannot be opened: " + dl_error());
  const std::shared_ptr<const void> library(opened, [](void* p) { dlclose(p); });
  const auto open = reinterpret_cast<sx_plugin_open_fn>(dlsym(opened, "sx_plugin_open"));
  if (!open) return failed(Code::invalid_argument, "is no plugin: it has no function sx_plugin_open");
  abi::clear_error();
  const sx_plugin* plugin = nullptr;
  {
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    plugin = open(&abi::host(), SX_PLUGIN_ABI);
  }
  if (!plugin) return std::move(abi::take(SX_CODE_UNSUPPORTED, "sx_plugin_open")).in("plugin '" + path + "'");
  if (plugin->size < sizeof(sx_plugin)) {
    return failed(Code::unsupported, format("its sx_plugin has {} bytes, expected at least {}", plugin->size,
                                            sizeof(sx_plugin)));
  }
  if (plugin->abi != SX_PLUGIN_ABI) {
    return failed(Code::unsupported,
                  format("speaks version {} of the tables, expected {}", plugin->abi, SX_PLUGIN_ABI));
  }
  if (plugin->provider_count == 0 || plugin->provider_count > kMostProviders) {
    return failed(Code::invalid_argument,
                  format("has {} providers, expected 1 to {}", plugin->provider_count, kMostProviders));
  }
  std::vector<std::unique_ptr<Provider>> list;
  for (size_t i = 0; i < plugin->provider_count; ++i) {
    const uint32_t owner = number * kMostProviders + uint32_t(i) + 1;
    auto provider = abi::make_provider(plugin->providers[i], library, owner);
    if (!provider.ok()) return std::move(provider).status().in("plugin '" + path + "'");
    list.push_back(std::move(provider).value());
  }
  return list;
}

}  // namespace sx
