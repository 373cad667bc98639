#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "everseen/stream/output.hpp"

namespace everseen::cli {

/// Collects text for a file descriptor and writes it in large pieces.
///
/// Whoever owns it calls flush() at the end; the destructor could not report an error and so writes nothing.
/// Threads: one at a time.
class printer {
 public:
  /// @param name  for messages, as in "standard output"
  printer(int descriptor, std::string name) : descriptor_(descriptor), out_(descriptor, std::move(name)) {}

  /// @throws storage_error  as flush
  void write(std::string_view text) {
    buffer_.append(text.data(), text.data() + text.size());
    if (buffer_.size() >= enough_bytes) flush();
  }

  /// @throws storage_error  as flush
  template <typename... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Arguments>(arguments)...);
    if (buffer_.size() >= enough_bytes) flush();
  }

  /// Room for at most `bytes` more, to be written directly; wrote() tells where the text ends.
  [[nodiscard]] char* room(std::size_t bytes) {
    if (buffer_.size() + bytes > enough_bytes) flush();
    buffer_.reserve(buffer_.size() + bytes);
    return buffer_.data() + buffer_.size();
  }
  void wrote(const char* end) { buffer_.resize(static_cast<std::size_t>(end - buffer_.data())); }

  /// @throws storage_error  the descriptor took no more; its code is EPIPE where nobody reads any longer
  void flush() {
    const std::string_view text(buffer_.data(), buffer_.size());
    buffer_.clear();  // before writing, so that nobody tries these bytes again
    out_.write(text);
  }

  /// For verbs that write to it directly, after flush().
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  static constexpr std::size_t enough_bytes = 64 * 1024;

  int descriptor_;
  everseen::output out_;
  fmt::basic_memory_buffer<char, enough_bytes> buffer_;
};

}  // namespace everseen::cli
