#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace everseen::test {

/// The words of a command line, or NAME=VALUE pairs, as exec needs them.
///
/// Created before fork(): in the child of a process with threads nothing may allocate, as another thread may
/// have held the allocator's lock, which is never released there.
class exec_words {
 public:
  explicit exec_words(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  exec_words(const exec_words&) = delete;
  exec_words& operator=(const exec_words&) = delete;

  [[nodiscard]] char* const* get() const noexcept { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

/// This process's environment, with these variables set.
[[nodiscard]] inline std::vector<std::string> environment_with(
    const std::map<std::string, std::string>& set) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view pair = *each;
    if (!set.contains(std::string(pair.substr(0, pair.find('='))))) all.emplace_back(pair);
  }
  for (const auto& [name, value] : set) all.push_back(name + "=" + value);
  return all;
}

}  // namespace everseen::test
