// SPDX-License-Identifier: Apache-2.0
#include "base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"

namespace sx {
namespace {

constexpr size_t kBuffer = 1 << 16, kPiece = size_t(1) << 26;

Status write_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, data, std::min(size, kPiece));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error(Code::io, "cannot write: {}", std::strerror(errno));
    data += n;
    size -= size_t(n);
  }
  return {};
}

// A file in the folder of `path` that has no name yet; -1 where file systems, or we without /proc, cannot.
int open_nameless(const std::string& path) {
  if (::access("/proc/self/fd", X_OK) != 0) return -1;
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

// Gives a nameless file a name beside `path` that nobody has.
Status give_name(int fd, const std::string& path, std::string& name) {
  const std::string self = format("/proc/self/fd/{}", fd);
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = format("{}.{}-{}", path, ::getpid(), attempt);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
    if (errno != EEXIST) break;
  }
  const int why = errno;
  name.clear();
  return error(Code::io, "cannot create: {}", std::strerror(why));
}

// The file has no data after `offset`: a hole up to its end, and an early end of the file after that.
uint64_t hole_at_end(int fd, off_t offset, uint64_t length) {
  const off_t end = ::lseek(fd, 0, SEEK_END);
  return end > offset ? std::min(uint64_t(end - offset), length) : 0;
}

// How much of `length` bytes at `offset` is a hole of a sparse file, which a copy keeps as one.
uint64_t hole_at(int fd, off_t offset, uint64_t length) {
  const off_t data = ::lseek(fd, offset, SEEK_DATA);
  if (data > offset) return std::min(uint64_t(data - offset), length);
  return data < 0 && errno == ENXIO ? hole_at_end(fd, offset, length) : 0;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile file;
  file.path_ = path;
  file.fd_ = open_nameless(path);
  if (file.fd_ < 0) {
    file.temporary_ = path + ".XXXXXX";
    file.fd_ = ::mkostemp(file.temporary_.data(), O_CLOEXEC);
  }
  if (file.fd_ < 0) {
    const int why = errno;
    file.temporary_.clear();
    return error(why == ENOENT ? Code::not_found : Code::io, "cannot create: {}", std::strerror(why))
        .in(path);
  }
  struct stat st {};
  mode_t mode = 0666;
  if (::stat(path.c_str(), &st) == 0) {
    mode = st.st_mode & 07777;
  } else {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    mode &= ~mask;
  }
  (void)::fchmod(file.fd_, mode);
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept { *this = std::move(other); }

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(used_, other.used_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status OutputFile::flush() {
  if (used_ == 0) return {};
  if (Status s = write_all(fd_, buffer_.data(), used_); !s.ok()) return std::move(s).in(path_);
  size_ += used_;
  used_ = 0;
  return {};
}

Status OutputFile::write(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > kBuffer) {
    SX_TRY(flush());
    if (Status s = write_all(fd_, text.data(), text.size()); !s.ok()) return std::move(s).in(path_);
    size_ += text.size();
    return {};
  }
  if (buffer_.empty()) buffer_.resize(kBuffer);
  if (used_ + text.size() > kBuffer) SX_TRY(flush());
  std::memcpy(buffer_.data() + used_, text.data(), text.size());
  used_ += text.size();
  return {};
}

Status OutputFile::write(std::span<const uint8_t> bytes) {
  return write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Status OutputFile::copy_from(int fd, uint64_t offset, uint64_t length) {
  SX_TRY(flush());
  off_t from = off_t(offset);
  while (length > 0) {
    if (const uint64_t hole = hole_at(fd, from, length); hole > 0) {
      if (::lseek(fd_, off_t(hole), SEEK_CUR) < 0) break;
      from += off_t(hole);
      length -= hole;
      size_ += hole;
      continue;
    }
    // In pieces: one call can take seconds, and signals and whoever counts the bytes wait for its end.
    const ssize_t n =
        ::copy_file_range(fd, &from, fd_, nullptr, size_t(std::min<uint64_t>(length, kPiece)), 0);
    if (n <= 0) break;  // across file systems, or not supported here: copy by hand below
    length -= uint64_t(n);
    size_ += uint64_t(n);
  }
  std::vector<char> block(length > 0 ? size_t(1) << 20 : 0);
  while (length > 0) {
    const ssize_t n = ::pread(fd, block.data(), std::min<uint64_t>(length, block.size()), from);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error(Code::io, "cannot read: {}", std::strerror(errno)).in(path_);
    if (n == 0) return error(Code::io, "the source ended {} bytes early", length).in(path_);
    if (Status s = write_all(fd_, block.data(), size_t(n)); !s.ok()) return std::move(s).in(path_);
    from += n;
    length -= uint64_t(n);
    size_ += uint64_t(n);
  }
  return {};
}

Status OutputFile::pad_to(uint64_t offset) {
  static constexpr char kZeros[4096] = {};
  while (size() < offset) {
    SX_TRY(write(std::string_view(kZeros, std::min<uint64_t>(sizeof kZeros, offset - size()))));
  }
  return {};
}

Status OutputFile::commit() {
  SX_TRY(flush());
  if (::ftruncate(fd_, off_t(size_)) != 0 && errno != EINVAL)  // a hole may be last
    return error(Code::io, "cannot write: {}", std::strerror(errno)).in(path_);
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) {
    return error(Code::io, "cannot write: {}", std::strerror(errno)).in(path_);
  }
  if (temporary_.empty()) {
    if (Status s = give_name(fd_, path_, temporary_); !s.ok()) return std::move(s).in(path_);
  }
  ::close(std::exchange(fd_, -1));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return error(Code::io, "cannot rename into place: {}", std::strerror(errno)).in(path_);
  }
  temporary_.clear();
  return {};
}

}  // namespace sx
