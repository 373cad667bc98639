#pragma once

#include "module/server/api.hpp"

namespace everseen::redis_module {

namespace api = module_api;

/// The user's permissions on keys that the command does not name. The server checks only the state's key, not
/// its segments.
///
/// Servers before Redis 7 have no such check; there, a user who may access the state may access its segments.
/// A command that another module calls without a user has all permissions, as that module does anyway. A user
/// unknown to the server has none.
///
/// Looking up the user costs as much as judging twenty keys, so it is done once per command.
class user_permissions {
 public:
  /// The permissions for the running command.
  [[nodiscard]] static const user_permissions& of(api::context* ctx);
  /// Called when the command has ended.
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
