#include "module/server/followers.hpp"

namespace everseen::redis_module {

namespace api = module_api;

namespace {

/// How long a positive answer of INFO is cached.
constexpr long long believed_ms = 1000;

struct {
  bool events = false;  ///< the server reports forks and role changes
  bool known = false;
  bool some = false;
  long long asked_at = 0;
  bool child = false;
} seen;

bool has_backlog(api::context* ctx) {
  api::server_info* const info = api::get_server_info(ctx, "replication");
  int failed = 0;
  const bool active = api::server_info_field(info, "repl_backlog_active", &failed) != 0;
  api::free_server_info(ctx, info);
  return active || failed != 0;
}

void note_role(api::context* /*ctx*/, api::event /*what*/, std::uint64_t /*role*/, void* /*data*/) {
  seen.known = false;
}

void note_child(api::context* /*ctx*/, api::event /*what*/, std::uint64_t what_of_it, void* /*data*/) {
  seen.known = false;
  seen.child = what_of_it == api::child_born;
}

bool asks_for_child(api::context* ctx) {
  return (api::get_context_flags(ctx) & api::flag_child) != 0;
}

}  // namespace

bool has_followers(api::context* ctx) {
  if ((api::get_context_flags(ctx) & api::flag_aof) != 0) return true;
  const long long now = api::milliseconds();
  const bool outdated = seen.some && (now - seen.asked_at > believed_ms || now < seen.asked_at);
  if (!seen.known || outdated || !seen.events) {
    seen.some = has_backlog(ctx);
    seen.asked_at = now;
    seen.known = true;
  }
  return seen.some;
}

bool has_child(api::context* ctx) {
  return seen.events ? seen.child : asks_for_child(ctx);
}

void watch_followers(api::context* ctx) {
  seen = {};
  seen.child = asks_for_child(ctx);
  const bool forks = api::subscribe_to_event(ctx, api::child_forked, &note_child) == api::ok;
  const bool roles = api::subscribe_to_event(ctx, api::role_changed, &note_role) == api::ok;
  seen.events = forks && roles;
}

}  // namespace everseen::redis_module
