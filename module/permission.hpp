#pragma once

#include "module/api.hpp"

namespace everseen::redis_module {

namespace api = module_api;

/// What the user of a command may do with keys that the command does not name, as the server knows only the
/// state's: the segments beside it.
///
/// Servers before Redis 7 cannot be asked; there whoever may use the state may use its segments.
class user_permissions {
 public:
  explicit user_permissions(api::context* ctx);
  ~user_permissions();
  user_permissions(const user_permissions&) = delete;
  user_permissions& operator=(const user_permissions&) = delete;

  [[nodiscard]] bool on(api::string* key, bool writing) const noexcept;

 private:
  api::user* user_ = nullptr;  // null: everything is allowed
};

}  // namespace everseen::redis_module
