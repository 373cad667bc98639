#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace everseen::test {

/// Page faults of this thread that read no disk.
inline std::int64_t page_faults() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_minflt;
}

/// Whether write_first() has an instruction for it, and the page faults of a test are its own.
constexpr bool can_write_first() {
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

/// Zeroed memory in the system's smallest pages, none of which has been touched.
class small_pages {
 public:
  /// @param bytes  of whole pages
  explicit small_pages(std::size_t bytes) : bytes_(bytes) {
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::runtime_error("mmap");
    madvise(mapped, bytes, MADV_NOHUGEPAGE);  // a kernel without huge pages refuses
    data_ = static_cast<std::byte*>(mapped);
  }
  ~small_pages() { munmap(data_, bytes_); }
  small_pages(const small_pages&) = delete;
  small_pages& operator=(const small_pages&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t pages() const noexcept {
    return bytes_ / static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  /// How many pages have been touched.
  [[nodiscard]] std::size_t touched() const {
    std::vector<unsigned char> resident(pages());
    if (mincore(data_, bytes_, resident.data()) != 0) throw std::runtime_error("mincore");
    return static_cast<std::size_t>(
        std::ranges::count_if(resident, [](unsigned char each) { return (each & 1) != 0; }));
  }

 private:
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

}  // namespace everseen::test
