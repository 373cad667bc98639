#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/scratch_directory.hpp"

namespace everseen::test {

/// Small files in a directory of their own.
class text_files {
 public:
  /// Writes a file and returns its path.
  std::string make(std::string_view text) {
    paths_.push_back((directory_.path() / std::to_string(paths_.size())).string());
    std::ofstream(paths_.back(), std::ios::binary) << text;
    return paths_.back();
  }
  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return paths_; }
  [[nodiscard]] std::string directory() const { return directory_.path().string(); }

 private:
  scratch_directory directory_;
  std::vector<std::string> paths_;
};

inline std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace everseen::test
