// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "command.h"

namespace sx::tools {
namespace {

Cancel g_interrupt;
volatile std::sig_atomic_t g_interrupted = 0, g_polls = 0;

void say(const char* text, size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(2, text, size);
    if (n <= 0) return;
    text += n;
    size -= size_t(n);
  }
}
void say(const char* text) { say(text, std::strlen(text)); }

void clear_progress() {
  if (::isatty(2)) say("\r\x1b[K");
}

extern "C" void on_interrupt(int) {
  if (g_interrupted || !g_polls) {
    clear_progress();
    ::_exit(kInterrupted);
  }
  g_interrupted = 1;
  g_interrupt.request();
}

// Reads /proc/self/maps line by line with nothing but system calls: a signal handler may use no memory.
class Maps {
 public:
  Maps() : fd_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~Maps() {
    if (fd_ >= 0) ::close(fd_);
  }
  // The next line without its end, cut at the size of the buffer; null at the end.
  const char* next() {
    size_t n = 0;
    for (char c; read(c);) {
      if (c == '\n') {
        line_[n] = 0;
        return line_;
      }
      if (n + 1 < sizeof line_) line_[n++] = c;
    }
    return nullptr;
  }

 private:
  bool read(char& c) {
    if (at_ == size_) {
      const ssize_t n = fd_ >= 0 ? ::read(fd_, block_, sizeof block_) : 0;
      if (n <= 0) return false;
      size_ = size_t(n);
      at_ = 0;
    }
    c = block_[at_++];
    return true;
  }
  int fd_;
  char block_[1024], line_[4608];
  size_t at_ = 0, size_ = 0;
};

uint64_t hexadecimal(const char*& text) {
  uint64_t value = 0;
  for (;; ++text) {
    const char c = *text;
    if (c >= '0' && c <= '9')
      value = value * 16 + uint64_t(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + uint64_t(c - 'a' + 10);
    else
      return value;
  }
}

// A page of a file that is mapped is not there any more: somebody cut the file.
extern "C" void on_bus_error(int signal, siginfo_t* info, void*) {
  const auto where = reinterpret_cast<uint64_t>(info->si_addr);
  Maps maps;
  while (const char* line = maps.next()) {
    const char* at = line;
    const uint64_t begin = hexadecimal(at);
    if (*at == '-') ++at;
    if (where < begin || where >= hexadecimal(at)) continue;
    const char* path = std::strchr(line, '/');
    if (!path) break;
    clear_progress();
    say("error: ");
    for (; *path; ++path) {
      const bool plain = uint8_t(*path) >= 0x20 && *path != 0x7f;
      say(plain ? path : "?", 1);
    }
    say(": the file became shorter while it was being read\n"
        "Another program changed it. Try again when that one is done.\n");
    ::_exit(kRefused);
  }
  std::signal(signal,
              SIG_DFL);  // not a file of ours: the instruction runs again and the system says what it was
}

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

void install_signals(bool polls) {
  g_polls = polls;
  std::signal(SIGPIPE, SIG_IGN);
  struct sigaction stop {};
  stop.sa_handler = on_interrupt;
  stop.sa_mask = interrupts();
  stop.sa_flags = SA_RESTART;
  for (int s : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(s, &stop, nullptr);
  struct sigaction bus {};
  bus.sa_sigaction = on_bus_error;
  sigemptyset(&bus.sa_mask);
  bus.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &bus, nullptr);
}

bool interrupted() { return g_interrupted != 0; }
const Cancel& interrupt() { return g_interrupt; }

LeaveAtOnce::LeaveAtOnce() : polled_(g_polls != 0) { g_polls = 0; }
LeaveAtOnce::~LeaveAtOnce() { g_polls = polled_; }

HoldInterrupts::HoldInterrupts() {
  const sigset_t set = interrupts();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}
HoldInterrupts::~HoldInterrupts() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace sx::tools
