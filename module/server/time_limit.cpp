#include "module/server/time_limit.hpp"

namespace everseen::redis_module {

namespace {

/// In milliseconds since 1970, or no_expiry.
long long expiry_of(api::context* ctx, api::string* name) {
  const open_key key(ctx, name, api::read_key);
  if (key.type() == api::type_empty) return api::no_expiry;
  if (api::expiry_time != nullptr) return api::expiry_time(key.get());
  const long long left = api::milliseconds_left(key.get());
  return left == api::no_expiry ? left : api::milliseconds() + left;
}

}  // namespace

bool end_like(api::context* ctx, api::string* other, api::string* key) {
  const long long at = expiry_of(ctx, other);
  if (at == api::no_expiry) return called(api::call(ctx, "PERSIST", "!s", key)).succeeded();
  return called(api::call(ctx, "PEXPIREAT", "!sl", key, at)).succeeded();
}

}  // namespace everseen::redis_module
