// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "base/format.h"
#include "base/memory.h"
#include "base/task.h"

namespace sx {
namespace {

struct Fd {
  int value;
  ~Fd() {
    if (value >= 0) ::close(value);
  }
};

int64_t modified_ns(const struct stat& st) {
  return int64_t(st.st_mtim.tv_sec) * 1000000000 + st.st_mtim.tv_nsec;
}

Status refuse_kind(const struct stat& st) {
  if (S_ISREG(st.st_mode)) return {};
  const char* kind = S_ISDIR(st.st_mode)    ? "a folder"
                     : S_ISFIFO(st.st_mode) ? "a FIFO"
                     : S_ISSOCK(st.st_mode) ? "a socket"
                                            : "a device";
  return error(Code::invalid_argument, "expected a regular file, found {}", kind);
}

Status read_all(int fd, size_t offset, std::span<uint8_t> to) {
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t n = ::pread(fd, to.data() + done, to.size() - done, off_t(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error(Code::io, "cannot read: {}", std::strerror(errno));
    if (n == 0) {
      return error(Code::io, "the file shrank while it was read: it ends at byte {}, expected {} or more",
                   offset + done, offset + to.size());
    }
    done += size_t(n);
  }
  return {};
}

// O_NONBLOCK: opening a FIFO that nobody writes must not hang before fstat can refuse it.
int open_to_read(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path, LoadMode mode) {
  if (path.find('\0') != std::string::npos)
    return error(Code::invalid_argument, "the file name has a NUL byte");
  Fd fd{open_to_read(path)};
  if (fd.value < 0) {
    const Code code = errno == ENOENT ? Code::not_found : Code::io;
    return error(code, "cannot open: {}", std::strerror(errno)).in(path);
  }
  return from_descriptor(fd.value, path, mode);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::from_descriptor(int fd, const std::string& path,
                                                                      LoadMode mode) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) return error(Code::io, "cannot stat: {}", std::strerror(errno)).in(path);
  if (Status s = refuse_kind(st); !s.ok()) return std::move(s).in(path);

  std::shared_ptr<MappedFile> file(new MappedFile);
  file->path_ = path;
  file->size_ = size_t(st.st_size);
  file->modified_ns_ = modified_ns(st);
  file->device_ = st.st_dev;
  file->inode_ = st.st_ino;
  if (file->size_ == 0) return std::shared_ptr<const MappedFile>(file);
  if (mode == LoadMode::map) {
    void* p = ::mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
      return error(Code::io, "cannot map {} bytes: {}", file->size_, std::strerror(errno)).in(path);
    file->data_ = static_cast<const uint8_t*>(p);
    file->mapped_ = true;
    return std::shared_ptr<const MappedFile>(file);
  }
  auto* copy = static_cast<uint8_t*>(::operator new(file->size_, std::align_val_t(64), std::nothrow));
  if (!copy) return error(Code::out_of_memory, "cannot allocate {} bytes", file->size_).in(path);
  file->data_ = copy;
  if (Status s = read_all(fd, 0, {copy, file->size_}); !s.ok()) return std::move(s).in(path);
  return std::shared_ptr<const MappedFile>(file);
}

std::shared_ptr<const MappedFile> MappedFile::from_bytes(std::string name, const void* data, size_t size) {
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->path_ = std::move(name);
  file->size_ = size;
  if (size > 0) {
    auto* copy = static_cast<uint8_t*>(::operator new(size, std::align_val_t(64)));
    std::memcpy(copy, data, size);
    file->data_ = copy;
  }
  return file;
}

MappedFile::~MappedFile() {
  if (!data_) return;
  if (mapped_) {
    ::munmap(const_cast<uint8_t*>(data_), size_);
  } else {
    ::operator delete(const_cast<uint8_t*>(data_), std::align_val_t(64));
  }
}

Status MappedFile::check_unchanged() const {
  if (!mapped_) return {};
  struct stat st {};
  if (::stat(path_.c_str(), &st) != 0) return {};  // unlinked: the mapping keeps the old bytes
  if (size_t(st.st_size) == size_ && modified_ns(st) == modified_ns_) return {};
  return error(Code::io, "the file changed after it was opened: it had {} bytes, now {}", size_, st.st_size)
      .in(path_)
      .advise("Load the model again, or use load=copy where files change under a running program.");
}

Result<bool> MappedFile::copy_out(size_t offset, std::span<uint8_t> to, Parallel& parallel) const {
  if (!mapped_) return false;
  const Fd fd{open_to_read(path_)};
  struct stat st {};
  if (fd.value < 0 || ::fstat(fd.value, &st) != 0 || st.st_dev != device_ || st.st_ino != inode_)
    return false;
  constexpr size_t kPiece = size_t{1} << 20;
  const size_t pieces = (to.size() + kPiece - 1) / kPiece;
  std::vector<Status> read(pieces);
  parallel.run(pieces, [&](size_t piece, size_t) {
    if (stop_requested()) return;
    const size_t at = piece * kPiece;
    read[piece] = read_all(fd.value, offset + at, to.subspan(at, std::min(kPiece, to.size() - at)));
  });
  for (Status& s : read) {
    if (!s.ok()) return std::move(s).in(path_);
  }
  return true;
}

void MappedFile::release(size_t offset, size_t length) const {
  if (!mapped_ || offset >= size_) return;
  return_pages(const_cast<uint8_t*>(data_) + offset, std::min(length, size_ - offset));
}

}  // namespace sx
