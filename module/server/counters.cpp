#include "module/server/counters.hpp"

#include "everseen/core/base/verdict.hpp"

namespace everseen::redis_module {

namespace api = module_api;

/// @return the number of keys with a verdict
std::uint64_t counters::note(std::span<const verdict> verdicts) noexcept {
  const tally got = tally_of(verdicts);
  const std::uint64_t judged = verdicts.size() - got.unknown;
  seen += got.seen;
  fresh += got.fresh;
  batches += judged > 0;
  return judged;
}

void counters::note_added(std::span<const verdict> verdicts) noexcept {
  keys_added += note(verdicts);
}

void counters::note_checked(std::span<const verdict> verdicts) noexcept {
  keys_checked += note(verdicts);
}

void show_counters(api::info_context* info, int /*for_crash*/) {
  const counters& c = counters::all();
  api::info_add_section(info, "");  // the server prepends the module's name
  api::info_add_number(info, "batches", c.batches);
  api::info_add_number(info, "keys_added", c.keys_added);
  api::info_add_number(info, "keys_checked", c.keys_checked);
  api::info_add_number(info, "fresh", c.fresh);
  api::info_add_number(info, "seen", c.seen);
  api::info_add_number(info, "repeated_batches", c.repeated_batches);
  api::info_add_number(info, "refusals", c.refusals);
  api::info_add_number(info, "growths", c.growths);
}

}  // namespace everseen::redis_module
