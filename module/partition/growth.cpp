#include "module/partition/growth.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/format/partition_keys.hpp"
#include "everseen/core/spec/window.hpp"

#include "module/server/moving.hpp"
#include "module/server/permission.hpp"

namespace everseen::redis_module {

namespace {

using kind = refusal::kind;

/// Runs a command, and replicates it if it changed anything.
template <typename... Arguments>
bool run(api::context* ctx, const char* command, const char* format, Arguments... arguments) {
  return called(api::call(ctx, command, format, arguments...)).succeeded();
}

/// Lets a string grow in place.
///
/// A string created step by step is moved at each step, unless the memory after it is free. So the allocator
/// is asked for the whole size first, and gets it back untouched. It then places the string there, by the
/// second step at the latest (doc/measurements.md, "The Redis module").
void make_room(std::uint64_t bytes) {
  constexpr std::uint64_t spare = std::uint64_t{2} << 20;  // overhead of a string
  if (api::try_allocate == nullptr || api::free_memory == nullptr) return;
  if (void* const whole = api::try_allocate(bytes + spare); whole != nullptr) api::free_memory(whole);
}

/// @return the new length
judged<std::uint64_t> lengthen(api::context* ctx, api::string* segment, std::uint64_t bytes,
                               std::uint64_t& budget) {
  const called length(api::call(ctx, "STRLEN", "s", segment));
  if (!length.succeeded()) return refuse(kind::failed, "a key in place of a new segment has another type");
  const auto now = static_cast<std::uint64_t>(length.number());
  const std::uint64_t next = std::min(bytes, now + budget);
  if (next <= now) return now;
  if (now == 0 && next < bytes) make_room(bytes);
  budget -= next - now;
  if (!run(ctx, "SETRANGE", "!slb", segment, static_cast<long long>(next - 1), "\0", std::size_t{1}) ||
      !run(ctx, "PEXPIRE", "!sc", segment, partition_keys::unpublished_life_ms.data()))
    return refuse(kind::failed, "a new segment cannot be created; proto-max-bulk-len may be too small");
  return next;
}

/// The list of segments with the new one, without those that its slice expires.
struct next_list {
  image::manifest manifest;
  std::vector<segment_id> expired{};
};

next_list list_with(const record& r, const segment_needed& needed) {
  next_list next{r.shape->manifest};
  auto& all = next.manifest.segments;
  const auto at = std::ranges::lower_bound(all, needed.id, {}, &image::manifest::entry::id);
  all.insert(at, {needed.id, needed.shape, needed.capacity});
  if (!r.spec().window) return next;
  const auto oldest = window::oldest_live(*r.spec().window, all.back().id.slice);
  const auto is_expired = [&](const image::manifest::entry& e) { return e.id.slice < oldest; };
  for (const image::manifest::entry& e : all)
    if (is_expired(e)) next.expired.push_back(e.id);
  std::erase_if(all, is_expired);
  return next;
}

/// Keys that growth touches besides the state, which is an argument of the command.
struct touched_keys {
  value segment;
  std::vector<value> expired{};

  touched_keys(api::context* ctx, const std::string& state, const segment_needed& needed,
               const std::vector<segment_id>& gone)
      : segment(ctx, partition_keys::segment(state, needed.id)) {
    expired.reserve(gone.size());
    for (const segment_id& id : gone) expired.emplace_back(ctx, partition_keys::segment(state, id));
  }

  [[nodiscard]] std::vector<api::string*> all() const {
    std::vector<api::string*> keys = {segment.get()};
    for (const value& key : expired) keys.push_back(key.get());
    return keys;
  }
};

/// Why the keys may not be touched now; nothing if they may. Checked first, so that a refusal changes
/// nothing.
std::optional<refusal> reason_against(api::context* ctx, api::string* state, const touched_keys& keys) {
  std::vector<api::string*> all = keys.all();
  const user_permissions& permitted = user_permissions::of(ctx);
  for (api::string* key : all)
    if (!permitted.on(key, true)) return refusal{.why = kind::forbidden, .text = std::string(text_of(key))};
  // In a cluster, some keys may already have moved. Creating them here would overwrite the moved ones later,
  // or be overwritten by them.
  all.push_back(state);
  if (is_moving(ctx, all)) return refusal{.why = kind::moving};
  return {};
}

/// @return whether everything succeeded; stops at the first failure
bool publish(api::context* ctx, api::string* state, const record& r, const segment_needed& needed,
             const next_list& next, const touched_keys& keys) {
  const std::vector<std::byte> manifest = image::encode_manifest(next.manifest);
  const std::string epoch = std::to_string(r.epoch + 1);
  // PERSIST first: a manifest with a segment that expires would be damage.
  if (!run(ctx, "PERSIST", "!s", keys.segment.get()) ||
      !run(ctx, "HSET", "!scccbcc", state, "epoch", epoch.c_str(), "manifest",
           reinterpret_cast<const char*>(manifest.data()), manifest.size(),
           partition_keys::count_field(needed.id).c_str(), "0"))
    return false;
  for (std::size_t i = 0; i < next.expired.size(); ++i)
    if (!run(ctx, "UNLINK", "!s", keys.expired[i].get()) ||
        !run(ctx, "HDEL", "!sc", state, partition_keys::count_field(next.expired[i]).c_str()))
      return false;
  api::notify_keyspace_event(ctx, api::notify_module, "everseen.grow", state);
  return true;
}

}  // namespace

judged<bool> grow(api::context* ctx, api::string* state, const record& r, const segment_needed& needed,
                  std::uint64_t& budget) {
  const next_list next = list_with(r, needed);
  const touched_keys keys(ctx, std::string(text_of(state)), needed, next.expired);
  if (auto against = reason_against(ctx, state, keys)) return tl::unexpected(*std::move(against));
  const auto length = lengthen(ctx, keys.segment.get(), needed.shape.bytes, budget);
  if (!length) return tl::unexpected(length.error());
  if (*length < needed.shape.bytes) return false;
  if (*length > needed.shape.bytes) return tl::unexpected(refusal{.why = kind::segment, .id = needed.id});
  if (!publish(ctx, state, r, needed, next, keys))
    return refuse(kind::failed, "a new segment was created, and the server refused to list it");
  return true;
}

}  // namespace everseen::redis_module
