#include "module/growth.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/partition_keys.hpp"
#include "everseen/core/window.hpp"

#include "module/moving.hpp"
#include "module/permission.hpp"

namespace everseen::redis_module {

namespace {

using kind = refusal::kind;

/// Runs a command, and replicates it if it changes anything.
template <typename... Arguments>
bool run(api::context* ctx, const char* command, const char* format, Arguments... arguments) {
  return called(api::call(ctx, command, format, arguments...)).succeeded();
}

/// In a cluster whose slot is on the move some keys of the partition may be elsewhere already. Whoever made
/// them here anew would overwrite those that arrive, or be overwritten.
bool is_settled(api::context* ctx, api::string* state, api::string* segment, api::string* fence) {
  return !is_moving(ctx, segment) && !is_moving(ctx, state) && !is_moving(ctx, fence);
}

/// @return its length then
judged<std::uint64_t> lengthen(api::context* ctx, api::string* segment, std::uint64_t bytes,
                               std::uint64_t& budget) {
  const called length(api::call(ctx, "STRLEN", "s", segment));
  if (!length.succeeded()) return refuse(kind::failed, "a key in place of a new segment has another type");
  const auto now = static_cast<std::uint64_t>(length.number());
  const std::uint64_t next = std::min(bytes, now + budget);
  if (next <= now) return now;
  budget -= next - now;
  if (!run(ctx, "SETRANGE", "!slb", segment, static_cast<long long>(next - 1), "\0", std::size_t{1}) ||
      !run(ctx, "PEXPIRE", "!sc", segment, partition_keys::unpublished_life_ms.data()))
    return refuse(kind::failed, "a new segment cannot be made; proto-max-bulk-len may be too small");
  return next;
}

/// The list of segments with the new one, and without those that its slice makes too old.
struct next_list {
  image::manifest manifest;
  std::vector<segment_id> expired{};
};

next_list list_with(const record& r, const segment_needed& needed) {
  next_list next{r.shape->manifest};
  auto& all = next.manifest.segments;
  const auto at = std::ranges::lower_bound(all, needed.id, {}, &image::manifest::entry::id);
  all.insert(at, {needed.id, needed.shape, needed.capacity});
  next.manifest.revision = r.epoch + 1;
  if (!r.spec().window) return next;
  const auto oldest = window::oldest_live(*r.spec().window, all.back().id.slice);
  const auto is_expired = [&](const image::manifest::entry& e) { return e.id.slice < oldest; };
  for (const image::manifest::entry& e : all)
    if (is_expired(e)) next.expired.push_back(e.id);
  std::erase_if(all, is_expired);
  return next;
}

void publish(api::context* ctx, api::string* state, const record& r, const segment_needed& needed,
             api::string* segment, api::string* fence) {
  const next_list next = list_with(r, needed);
  const std::vector<std::byte> manifest = image::encode_manifest(next.manifest);
  const std::string epoch = std::to_string(next.manifest.revision);
  const std::string fence_bytes = partition_keys::fence_bytes(next.manifest.revision);
  if (r.ends_at.empty())
    run(ctx, "PERSIST", "!s", segment);
  else
    run(ctx, "PEXPIREAT", "!sc", segment, r.ends_at.c_str());
  run(ctx, "HSET", "!scccbcc", state, "epoch", epoch.c_str(), "manifest",
      reinterpret_cast<const char*>(manifest.data()), manifest.size(),
      partition_keys::count_field(needed.id).c_str(), "0");
  run(ctx, "SET", "!sb", fence, fence_bytes.data(), fence_bytes.size());
  if (!r.ends_at.empty()) run(ctx, "PEXPIREAT", "!sc", fence, r.ends_at.c_str());
  for (const segment_id& id : next.expired) {
    const value gone(ctx, partition_keys::segment(std::string(text_of(state)), id));
    run(ctx, "UNLINK", "!s", gone.get());
    run(ctx, "HDEL", "!sc", state, partition_keys::count_field(id).c_str());
  }
  api::notify_keyspace_event(ctx, api::notify_module, "everseen.grow", state);
}

}  // namespace

judged<bool> grow(api::context* ctx, api::string* state, const record& r, const segment_needed& needed,
                  std::uint64_t& budget) {
  const std::string name(text_of(state));
  const value segment(ctx, partition_keys::segment(name, needed.id));
  const value fence(ctx, partition_keys::fence(name));
  const user_permissions permitted(ctx);
  for (const value* key : {&segment, &fence})
    if (!permitted.on(key->get(), true)) return refuse(kind::forbidden, std::string(key->text()));
  if (!is_settled(ctx, state, segment.get(), fence.get())) return refuse(kind::moving);
  const auto length = lengthen(ctx, segment.get(), needed.shape.bytes, budget);
  if (!length) return tl::unexpected(length.error());
  if (*length < needed.shape.bytes) return false;
  if (*length > needed.shape.bytes) return tl::unexpected(refusal{.why = kind::segment, .id = needed.id});
  publish(ctx, state, r, needed, segment.get(), fence.get());
  return true;
}

}  // namespace everseen::redis_module
