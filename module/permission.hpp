#pragma once

#include "module/api.hpp"

namespace everseen::redis_module {

namespace api = module_api;

/// What the user of a command may do with keys that the command does not name, as the server knows only the
/// state's: the segments beside it.
///
/// Servers before Redis 7 cannot be asked; there whoever may use the state may use its segments. Another
/// module that calls the command without a user may do everything, as it may anyway; a user whom the server
/// does not know any more may do nothing.
///
/// Who he is takes as long to ask as to judge twenty keys, so it is asked once a command.
class user_permissions {
 public:
  /// Of the command that runs.
  [[nodiscard]] static const user_permissions& of(api::context* ctx);
  /// The command has ended.
  static void forget() noexcept;

  explicit user_permissions(api::context* ctx);
  ~user_permissions();
  user_permissions(const user_permissions&) = delete;
  user_permissions& operator=(const user_permissions&) = delete;

  [[nodiscard]] bool on(api::string* key, bool writing) const noexcept;

 private:
  bool may_all_ = true;
  api::user* user_ = nullptr;
};

}  // namespace everseen::redis_module
