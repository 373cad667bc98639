#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace everseen::test {

/// An anonymous file, for output to a descriptor.
class memory_file {
 public:
  explicit memory_file(std::string_view text = {}) : descriptor_(::memfd_create("test", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::runtime_error("no memory file");
    if (::pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("cannot fill a memory file");
  }
  ~memory_file() { ::close(descriptor_); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(descriptor_); }
  [[nodiscard]] std::string text() const {
    std::string all(static_cast<std::size_t>(::lseek(descriptor_, 0, SEEK_END)), '\0');
    const ssize_t got = ::pread(descriptor_, all.data(), all.size(), 0);
    if (got != static_cast<ssize_t>(all.size())) throw std::runtime_error("cannot read a memory file");
    return all;
  }

 private:
  int descriptor_;
};

}  // namespace everseen::test
