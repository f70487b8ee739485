// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/format.h"
#include "options.h"
#include "terminal.h"

namespace sx::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostEntries = 10000, kMostShown = 4;

std::vector<std::string> entries(const fs::path& folder, bool only_folders) {
  std::vector<std::string> names;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end && names.size() < kMostEntries;
       it.increment(ec)) {
    std::error_code ignored;
    if (!only_folders || it->is_directory(ignored)) names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// "has a.onnx, b.onnx and 3 more models", or nothing.
std::string models_in(const fs::path& folder) {
  std::vector<std::string> names = entries(folder, false);
  std::erase_if(names, [](const std::string& n) { return !n.ends_with(".onnx"); });
  if (names.empty()) return "";
  const size_t shown = std::min(kMostShown, names.size());
  std::string list;
  for (size_t i = 0; i < shown; ++i) list += (i ? ", " : "") + escaped(names[i]);
  if (names.size() > shown) list += format(" and {} more", names.size() - shown);
  return list;
}

}  // namespace

Status check_path(const std::string& text, bool model, bool or_folder) {
  if (text.find('\0') != std::string::npos) return {};
  const fs::path path(text);
  std::error_code ec;
  const fs::file_status found = fs::status(path, ec);
  if (found.type() == fs::file_type::directory && model) {
    const std::string list = models_in(path);
    if (list.empty()) return {};
    return error(Code::invalid_argument, "this is a folder; the models in it are {}", list).in(text);
  }
  if (found.type() != fs::file_type::not_found) return {};  // what else is wrong with it, opening it will say
  const char* what = or_folder ? "no such file or folder" : "no such file";
  // The first part of the way that is not there.
  fs::path there, name;
  for (const fs::path& part : path) {
    if (!fs::exists(there / part, ec)) {
      name = part;
      break;
    }
    there /= part;
  }
  const fs::path folder = there.empty() ? fs::path(".") : there;
  const bool last = (there / name) == path;
  const std::string near = nearest(name.string(), entries(folder, !last));
  Status status = error(Code::not_found, "{}{}", what,
                        last ? "" : format("; there is no folder '{}'", escaped((there / name).string())))
                      .in(text);
  if (!near.empty()) {
    fs::path meant = there / near;
    if (!last) meant /= path.lexically_relative(there / name);
    return std::move(status).advise(format("Did you mean '{}'?", escaped(meant.string())));
  }
  if (const std::string list = last && model ? models_in(folder) : ""; !list.empty()) {
    return std::move(status).advise(
        format("Models {}: {}.", there.empty() ? "here" : format("in '{}'", escaped(there.string())), list));
  }
  return status;
}

}  // namespace sx::tools
