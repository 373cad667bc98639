#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "everseen/dedup/output.hpp"

namespace everseen::cli {

/// Collects text for a file descriptor and writes it in large pieces.
///
/// The owner calls flush() at the end; the destructor writes nothing, as it could not report an error.
/// Threads: one at a time.
class printer {
 public:
  /// @param name  for messages, as in "standard output"
  printer(int descriptor, std::string name) : descriptor_(descriptor), out_(descriptor, std::move(name)) {}

  /// @throws storage_error  as flush
  void write(std::string_view text);

  /// @throws storage_error  as flush
  template <typename... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    // One out-of-line function keeps the formatting code out of every verb's object file.
    print_arguments(format, fmt::make_format_args(arguments...));
  }

  /// Room for at most `bytes` more, to be written directly; call wrote() with the end of the text.
  [[nodiscard]] char* room(std::size_t bytes);
  void wrote(const char* end) { used_ = static_cast<std::size_t>(end - buffer_.data()); }

  /// @throws storage_error  writing failed; its code is EPIPE if the reader has closed the pipe
  void flush();

  /// For verbs that write to it directly, after flush().
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  void print_arguments(fmt::string_view format, fmt::format_args arguments);

  static constexpr std::size_t enough_bytes = 64 * 1024;

  int descriptor_;
  everseen::output out_;
  std::vector<char> buffer_ = std::vector<char>(enough_bytes);
  std::size_t used_ = 0;
};

}  // namespace everseen::cli
