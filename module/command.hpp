#pragma once

#include <charconv>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>

#include "module/values.hpp"

/// What the commands have in common: nothing that they throw leaves the module.
namespace everseen::redis_module {

/// A word of a command that is not as the grammar says; nothing was changed.
struct bad_word {
  const char* message;
};

/// @throws bad_word
template <typename Integer>
[[nodiscard]] Integer number_of(const api::string* word, const char* message) {
  const std::string_view text = text_of(word);
  Integer number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) throw bad_word{message};
  return number;
}

inline int reply_with(api::context* ctx, std::string_view text) {
  return api::reply_with_string(ctx, text.data(), text.size());
}

/// Runs a command.
template <typename Command>
int guarded(api::context* ctx, Command command) noexcept {
  try {
    return command();
  } catch (const bad_word& e) {
    return api::reply_with_error(ctx, e.message);
  } catch (const std::exception& e) {
    return api::reply_with_error(ctx, (std::string("ERR ") + e.what()).c_str());
  }
}

}  // namespace everseen::redis_module
