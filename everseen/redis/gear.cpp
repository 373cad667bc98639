#include "everseen/redis/gear.hpp"

#include "everseen/core/assert.hpp"
#include "everseen/redis/bitfield_gear.hpp"
#include "everseen/redis/module_gear.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/script_gear.hpp"

namespace everseen::redis {

request gear::recall(const judging& /*q*/) {
  EVERSEEN_ASSERT(false);
  return {};
}

meaning gear::recalled(const judging& /*q*/, const answer& /*a*/) {
  EVERSEEN_ASSERT(false);
  return {meaning::kind::refused, "this gear recalls nothing"};
}

std::unique_ptr<gear> make_gear(gear_kind kind, const remote_filter& f, std::string_view client) {
  if (kind == gear_kind::module) return std::make_unique<module_gear>(f, client);
  if (kind == gear_kind::bitfield) return std::make_unique<bitfield_gear>(f);
  return std::make_unique<script_gear>(f, client);
}

bool forbids_scripts(const reply& r) noexcept {
  if (!is_denial(r)) return false;
  // It names what it refuses, in quotes of one kind or another: 'evalsha', `EVAL`. A command that only the
  // script may not run is another matter.
  for (const std::string_view name : {"'eval", "'EVAL", "`eval", "`EVAL"})
    if (r.text().find(name) != std::string_view::npos) return true;
  return false;
}

}  // namespace everseen::redis
