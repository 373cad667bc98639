// A library for LD_PRELOAD that shifts the clock of a program, by the seconds that the file $EVERSEEN_CLOCK
// begins with.
//
// The file may change at any time. Only the time of day is shifted: durations are right. A library that
// Debian has for this purpose, libfaketime, allocates memory in its first call, which redis-server's
// allocator makes while it begins.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

const std::int64_t right_clock = 0;

/// The seconds in the file, as long as the program runs.
const std::int64_t* shift() noexcept {
  static std::atomic<const std::int64_t*> mapped{nullptr};
  if (const std::int64_t* const known = mapped.load()) return known;
  const char* const path = std::getenv("EVERSEEN_CLOCK");
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
  void* const memory =
      file < 0 ? MAP_FAILED : ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (file >= 0) ::close(file);
  mapped = memory == MAP_FAILED ? &right_clock : static_cast<const std::int64_t*>(memory);
  return mapped.load();
}

}  // namespace

// The names, and the types of their parameters, are those of the C library.
extern "C" {

int clock_gettime(clockid_t clock, timespec* moment) noexcept {
  const auto failed = ::syscall(SYS_clock_gettime, clock, moment);
  if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    moment->tv_sec += __atomic_load_n(shift(), __ATOMIC_RELAXED);
  return static_cast<int>(failed);
}

int gettimeofday(timeval* __restrict moment, void* __restrict /*zone*/) noexcept {
  timespec exact{};
  clock_gettime(CLOCK_REALTIME, &exact);
  *moment = {exact.tv_sec, exact.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* moment) noexcept {
  timespec exact{};
  clock_gettime(CLOCK_REALTIME, &exact);
  if (moment != nullptr) *moment = exact.tv_sec;
  return exact.tv_sec;
}
}
