#pragma once

#include <charconv>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>

#include "module/permission.hpp"
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

/// Whose turn it is: one command's at a time, since all of them use the same memory and hold keys open.
///
/// Another can only come from within it, where a module answers keyspace events with a command of ours.
class turn {
 public:
  turn() noexcept : mine_(!taken_) { taken_ = true; }
  ~turn() {
    if (!mine_) return;
    user_permissions::forget();
    taken_ = false;
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

  [[nodiscard]] bool is_mine() const noexcept { return mine_; }

 private:
  static inline bool taken_ = false;
  bool mine_;
};

/// Runs a command, unless another one runs.
template <typename Command>
int guarded(api::context* ctx, Command command) noexcept {
  const turn now;
  if (!now.is_mine())
    return api::reply_with_error(ctx, "ERR a command of everseen cannot be called from within another one");
  try {
    return command();
  } catch (const bad_word& e) {
    return api::reply_with_error(ctx, e.message);
  } catch (const std::exception& e) {
    return api::reply_with_error(ctx, (std::string("ERR ") + e.what()).c_str());
  }
}

}  // namespace everseen::redis_module
