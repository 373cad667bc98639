#include "module/server/permission.hpp"

#include <cerrno>
#include <optional>

#include "module/server/values.hpp"

namespace everseen::redis_module {

namespace {

/// A command that another module calls by itself has no user, and asking for the user's name would crash the
/// server. So a nonexistent command is called as the user first: without a user, that is the error reported.
bool has_user(api::context* ctx) {
  errno = 0;
  const called nothing(api::call(ctx, "EVERSEEN.NOTHING", "C"));
  return errno != ENOTSUP;
}

std::optional<user_permissions>& known() noexcept {
  static std::optional<user_permissions> of_this_command;
  return of_this_command;
}

}  // namespace

const user_permissions& user_permissions::of(api::context* ctx) {
  return known() ? *known() : known().emplace(ctx);
}

void user_permissions::forget() noexcept {
  known().reset();
}

user_permissions::user_permissions(api::context* ctx) {
  if (api::current_user_name == nullptr || api::user_of_name == nullptr ||
      api::check_key_permission == nullptr || api::free_user == nullptr)
    return;
  if (!has_user(ctx)) return;
  const value name(ctx, api::current_user_name(ctx));
  user_ = name.exists() ? api::user_of_name(name.get()) : nullptr;
  may_all_ = false;
}

user_permissions::~user_permissions() {
  if (user_ != nullptr) api::free_user(user_);
}

bool user_permissions::on(api::string* key, bool writing) const noexcept {
  if (may_all_) return true;
  if (user_ == nullptr) return false;
  const int wanted = writing ? api::permit_access | api::permit_update : api::permit_access;
  return api::check_key_permission(user_, key, wanted) == api::ok;
}

}  // namespace everseen::redis_module
