#pragma once

#include <cerrno>
#include <exception>
#include <string>
#include <string_view>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/redisbloom/bloom_request.hpp"

#include "module/server/counters.hpp"
#include "module/server/settings.hpp"
#include "module/server/values.hpp"

/// Shared by all commands: no exception leaves the module.
namespace everseen::redis_module {

/// An invalid argument of a command; nothing was changed.
struct bad_word {
  const char* message;
};

/// An error whose first word says why a call was refused; nothing was changed.
struct refused_reply {
  std::string message;
};

/// @throws bad_word
template <typename Integer>
[[nodiscard]] Integer number_of(const api::string* word, const char* message) {
  const auto number = read_number<Integer>(text_of(word));
  if (!number) throw bad_word{message};
  return *number;
}

inline int reply_with(api::context* ctx, std::string_view text) {
  return api::reply_with_string(ctx, text.data(), text.size());
}

/// Lets one command run at a time, since all commands share memory and hold keys open.
///
/// A second command can only be nested: another module may react to a keyspace event by calling one of ours.
class command_lock {
 public:
  command_lock() noexcept : mine_(!taken_) { taken_ = true; }
  ~command_lock() {
    if (mine_) taken_ = false;
  }
  command_lock(const command_lock&) = delete;
  command_lock& operator=(const command_lock&) = delete;

  [[nodiscard]] bool is_mine() const noexcept { return mine_; }

 private:
  static inline bool taken_ = false;
  bool mine_;
};

inline int refuse(api::context* ctx, const std::string& why) {
  ++counters::all().refusals;
  return api::reply_with_error(ctx, why.c_str());
}

/// Runs a command, unless another one is running.
template <typename Command>
int guarded(api::context* ctx, Command command) noexcept {
  const command_lock lock;
  if (!lock.is_mine())
    return api::reply_with_error(ctx, "ERR a command of everseen cannot be called from within another one");
  try {
    return command();
  } catch (const bad_word& e) {
    return refuse(ctx, e.message);
  } catch (const refused_reply& e) {
    return refuse(ctx, e.message);
  } catch (const redisbloom::bloom_refusal& e) {
    return e.text.empty() ? api::wrong_arity(ctx) : refuse(ctx, e.text);
  } catch (const full_error& e) {
    return refuse(ctx, (e.code() == ENOMEM ? "OOM " : "ERR ") + std::string(e.what()));
  } catch (const std::exception& e) {
    end_if_it_lacks_memory(ctx, e);
    return refuse(ctx, std::string("ERR ") + e.what());
  }
}

}  // namespace everseen::redis_module
