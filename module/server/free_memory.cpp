#include "module/server/free_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "everseen/core/base/error.hpp"

#include "module/server/settings.hpp"

namespace everseen::redis_module {

namespace api = module_api;

bool repeats_a_decision(api::context* ctx) noexcept {
  const int decided_elsewhere = ctx == nullptr ? api::flag_replica : api::flag_replicated;
  return (api::get_context_flags(ctx) & (decided_elsewhere | api::flag_loading)) != 0;
}

std::uint64_t bytes_left(api::context* ctx) {
  constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  api::server_info* const info = api::get_server_info(ctx, "memory");
  int failed = 0;
  const std::uint64_t most = api::server_info_field(info, "maxmemory", &failed);
  // With a policy that evicts, the server makes room before its next command.
  const bool evicts = (api::get_context_flags(ctx) & api::flag_evicts) != 0;
  const std::uint64_t used = evicts ? 0 : api::server_info_field(info, "used_memory", &failed);
  api::free_server_info(ctx, info);
  return most == 0 || failed != 0 ? all : most - std::min(most, used);
}

void must_fit(api::context* ctx, std::uint64_t bytes, std::uint64_t more) {
  if (repeats_a_decision(ctx)) return;
  if (bytes > settings().most_bytes)
    throw full_error("the filter would be larger than this server's MAX_SIZE allows; no key was added");
  if (more > 0 && more > bytes_left(ctx))
    throw full_error("the filter needs more memory than the server's maxmemory leaves; no key was added",
                     ENOMEM);
}

}  // namespace everseen::redis_module
