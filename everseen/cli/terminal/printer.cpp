#include "everseen/cli/terminal/printer.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace everseen::cli {

void printer::write(std::string_view text) {
  std::ranges::copy(text, room(text.size()));
  used_ += text.size();
  if (used_ >= enough_bytes) flush();
}

void printer::print_arguments(fmt::string_view format, fmt::format_args arguments) {
  fmt::memory_buffer text;
  fmt::vformat_to(fmt::appender(text), format, arguments);
  write({text.data(), text.size()});
}

char* printer::room(std::size_t bytes) {
  if (used_ + bytes > enough_bytes) flush();
  if (bytes > buffer_.size()) buffer_.resize(bytes);
  return buffer_.data() + used_;
}

void printer::flush() {
  const std::string_view text(buffer_.data(), used_);
  used_ = 0;  // before writing, so that a failed write is not retried
  out_.write(text);
}

}  // namespace everseen::cli
