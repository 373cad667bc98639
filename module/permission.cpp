#include "module/permission.hpp"

namespace everseen::redis_module {

user_permissions::user_permissions(api::context* ctx) {
  if (api::current_user_name == nullptr || api::user_of_name == nullptr ||
      api::check_key_permission == nullptr || api::free_user == nullptr)
    return;
  api::string* const name = api::current_user_name(ctx);
  if (name == nullptr) return;
  user_ = api::user_of_name(name);
  api::free_string(ctx, name);
}

user_permissions::~user_permissions() {
  if (user_ != nullptr) api::free_user(user_);
}

bool user_permissions::on(api::string* key, bool writing) const noexcept {
  if (user_ == nullptr) return true;
  const int wanted = writing ? api::permit_access | api::permit_update : api::permit_access;
  return api::check_key_permission(user_, key, wanted) == api::ok;
}

}  // namespace everseen::redis_module
