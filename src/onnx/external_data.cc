// SPDX-License-Identifier: Apache-2.0
#include "onnx/external_data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "base/format.h"
#include "onnx/display.h"

namespace sx::onnx {
namespace {

struct Fd {
  int value = -1;
  ~Fd() {
    if (value >= 0) ::close(value);
  }
};

Result<uint64_t> parse_number(std::string_view text, std::string_view key) {
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) {
    return error(Code::invalid_model, "external data: {} must be a number that is not negative, found {}",
                 key, quoted(text));
  }
  return value;
}

struct FreeLater {
  void operator()(char* p) const { ::free(p); }
};

// Where a path leads to, all symbolic links followed.
Result<std::string> real_path(const std::string& path, std::string_view location) {
  const std::unique_ptr<char, FreeLater> real(::realpath(path.c_str(), nullptr));
  if (real) return std::string(real.get());
  return error(errno == ENOENT ? Code::not_found : Code::io, "cannot open external data {}: {}",
               quoted(location), std::strerror(errno));
}

// Opens a file that lies in the folder. Links are followed once, to see that they stay inside; the way that
// they lead is then walked from the folder without following any, so that nobody who changes the folder
// meanwhile can lead it elsewhere.
Result<int> open_inside(const std::string& folder, std::string_view location) {
  Fd at{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  SX_ASSIGN(std::string inside, real_path(folder, location));
  SX_ASSIGN(const std::string target, real_path(folder + "/" + std::string(location), location));
  if (!inside.ends_with('/')) inside += '/';
  if (!target.starts_with(inside)) {
    return error(Code::invalid_model, "external data {} leaves the model's folder through a symbolic link",
                 quoted(location))
        .advise("Replace the link by the file: data must lie in the model's folder.");
  }
  for (size_t begin = inside.size(); begin <= target.size();) {
    const size_t slash = std::min(target.find('/', begin), target.size());
    const int kind = slash == target.size() ? O_NONBLOCK : O_DIRECTORY;  // a FIFO must not hang here
    const int next = ::openat(at.value, target.substr(begin, slash - begin).c_str(),
                              O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind);
    if (next < 0) {
      return error(Code::io, "cannot open external data {}: {}", quoted(location), std::strerror(errno));
    }
    ::close(std::exchange(at.value, next));
    begin = slash + 1;
  }
  struct stat st {};
  if (::fstat(at.value, &st) != 0 || !S_ISREG(st.st_mode)) {
    return error(Code::invalid_model, "external data {} is not a regular file", quoted(location));
  }
  return std::exchange(at.value, -1);
}

}  // namespace

struct ExternalFiles::State {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const MappedFile>, std::less<>> files;
};

ExternalFiles::ExternalFiles(std::string folder, LoadMode load)
    : folder_(std::move(folder)), load_(load), state_(std::make_unique<State>()) {}
ExternalFiles::~ExternalFiles() = default;

Status check_location(std::string_view location) {
  if (location.empty()) return error(Code::invalid_model, "external data has no location");
  if (location.find('\0') != std::string_view::npos) {
    return error(Code::invalid_model, "external data location {} holds a NUL byte", quoted(location));
  }
  // A backslash or a drive letter means a path on another system; refused everywhere so that a file means the
  // same.
  if (location.find('\\') != std::string_view::npos) {
    return error(Code::invalid_model, "external data location {} holds a backslash", quoted(location));
  }
  const bool drive = location.size() >= 2 && location[1] == ':';
  if (location.front() == '/' || drive) {
    return error(Code::invalid_model,
                 "external data location {} is absolute, expected a path in the model's folder",
                 quoted(location));
  }
  for (size_t begin = 0; begin <= location.size();) {
    const size_t slash = std::min(location.find('/', begin), location.size());
    if (location.substr(begin, slash - begin) == "..") {
      return error(Code::invalid_model, "external data location {} climbs out of the model's folder",
                   quoted(location));
    }
    begin = slash + 1;
  }
  if (location.back() == '/' || location == "." || location.ends_with("/.")) {
    return error(Code::invalid_model, "external data location {} is a folder", quoted(location));
  }
  return {};
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::open(std::string_view location) {
  SX_TRY(check_location(location));
  std::lock_guard lock(state_->mutex);
  if (auto it = state_->files.find(location); it != state_->files.end()) return it->second;
  SX_ASSIGN(const int descriptor, open_inside(folder_, location));
  const Fd fd{descriptor};
  SX_ASSIGN(std::shared_ptr<const MappedFile> file,
            MappedFile::from_descriptor(fd.value, folder_ + "/" + std::string(location), load_));
  state_->files.emplace(location, file);
  return file;
}

std::vector<std::shared_ptr<const MappedFile>> ExternalFiles::opened() const {
  std::lock_guard lock(state_->mutex);
  std::vector<std::shared_ptr<const MappedFile>> files;
  for (const auto& [location, file] : state_->files) files.push_back(file);
  return files;
}

void ExternalFiles::provide(std::string location, std::shared_ptr<const MappedFile> file) {
  std::lock_guard lock(state_->mutex);
  state_->files[std::move(location)] = std::move(file);
}

Result<ExternalInfo> external_info(const TensorProto& tensor) {
  ExternalInfo info;
  bool seen_location = false, seen_checksum = false;
  for (const StringStringEntryProto& e : tensor.external_data) {
    bool again = false;
    if (e.key == "location") {
      again = std::exchange(seen_location, true);
      info.location = e.value;
    } else if (e.key == "offset") {
      again = info.offset.has_value();
      SX_ASSIGN(info.offset, parse_number(e.value, "offset"));
    } else if (e.key == "length") {
      again = info.length.has_value();
      SX_ASSIGN(info.length, parse_number(e.value, "length"));
    } else if (e.key == "checksum") {
      again = std::exchange(seen_checksum, true);
      info.checksum = e.value;
    } else if (e.key != "basepath") {  // written by the onnx package; never used to find the file
      return error(Code::invalid_model,
                   "external data: unknown key {}, expected location, offset, length or checksum",
                   quoted(e.key));
    }
    if (again) return error(Code::invalid_model, "external data: {} occurs twice", quoted(e.key));
  }
  SX_TRY(check_location(info.location));
  return info;
}

Result<ExternalBytes> external_bytes(const TensorProto& tensor, uint64_t expected, ExternalFiles* files) {
  SX_ASSIGN(const ExternalInfo info, external_info(tensor));
  if (!files) {
    return error(Code::invalid_argument,
                 "external data {} is needed, but the model came from memory without a folder",
                 quoted(info.location));
  }
  SX_ASSIGN(std::shared_ptr<const MappedFile> file, files->open(info.location));
  const uint64_t size = file->bytes().size(), offset = info.offset.value_or(0);
  if (offset > size) {
    return error(Code::invalid_model, "external data starts at byte {}, the file {} has {}", offset,
                 quoted(info.location), size);
  }
  const uint64_t length = info.length.value_or(expected);
  if (length != expected) {
    return error(Code::invalid_model, "external data has length {}, type and dims need {} bytes", length,
                 expected);
  }
  if (length > size - offset) {
    return error(Code::invalid_model, "external data needs {} bytes at offset {}, the file {} has {}", length,
                 offset, quoted(info.location), size);
  }
  return ExternalBytes{file->bytes().subspan(offset, length), std::move(file)};
}

}  // namespace sx::onnx
