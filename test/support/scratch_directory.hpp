#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <stdlib.h>
#include <unistd.h>

namespace everseen::test {

/// An empty directory for one test, removed with its content.
///
/// In memory if possible, unless TMPDIR is set: a store syncs often, and waiting for a real disk would prove
/// nothing. The effect of syncing is tested with forgetful_disk.hpp.
class scratch_directory {
 public:
  scratch_directory() {
    std::string name = (parent() / "everseen-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~scratch_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  static std::filesystem::path parent() {
    const std::filesystem::path in_memory = "/dev/shm";
    const bool chosen = std::getenv("TMPDIR") != nullptr;
    return !chosen && ::access(in_memory.c_str(), W_OK) == 0 ? in_memory
                                                             : std::filesystem::temp_directory_path();
  }

  std::filesystem::path path_;
};

}  // namespace everseen::test
