#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/format/image.hpp"
#include "everseen/core/format/partition_keys.hpp"
#include "everseen/core/layout/layout.hpp"

#include "module/commands/command.hpp"
#include "module/commands/named_filter.hpp"
#include "module/commands/plain_commands.hpp"
#include "module/partition/record.hpp"
#include "module/server/permission.hpp"

namespace everseen::redis_module {

namespace {

record record_of(api::context* ctx, const named_filter& f, std::uint32_t number) {
  const value state(ctx, f.state(number));
  if (!user_permissions::of(ctx).on(state.get(), false))
    throw refused_reply{message_of({.why = refusal::kind::forbidden, .text = std::string(state.text())})};
  auto r = read_record(ctx, state.get());
  if (!r) throw refused_reply{message_of(r.error())};
  return *std::move(r);
}

named_filter shown_filter(api::context* ctx, api::string* name) {
  auto f = find_filter(ctx, name);
  if (!f) throw refused_reply{message_of(f.error())};
  return *std::move(f);
}

std::string shortest(double number) {
  std::array<char, 32> text{};
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.12g", number))};
}

std::string text(std::string_view v) {
  return std::string(v);
}

using fields = std::vector<std::pair<const char*, std::string>>;

void add_spec(fields& all, const spec& s) {
  all.insert(all.end(), {{"capacity", std::to_string(s.capacity)},
                         {"error_rate", shortest(s.error_rate)},
                         {"layout", text(to_string(s.layout))},
                         {"probes", std::to_string(s.probes)},
                         {"hash", text(to_string(s.hash))},
                         {"growth", text(to_string(s.growth))},
                         {"window_ms", std::to_string(s.window ? s.window->width.count() : 0)},
                         {"slices", std::to_string(s.window ? s.window->slices : 0)},
                         {"partitions", std::to_string(s.partitions)}});
}

void reply_with_segment(api::context* ctx, const named_filter& f, const segment_id& id, const geometry& shape,
                        const digest& d) {
  const value name(ctx, partition_keys::segment(f.state(id.partition), id));
  const open_key key(ctx, name.get(), api::read_key);
  const bool whole = user_permissions::of(ctx).on(name.get(), false) && key.type() == api::type_string &&
                     key.length() == shape.bytes;
  const char* const bytes = whole ? key.bytes(api::read_key) : nullptr;
  std::array<std::uint64_t, max_probes> positions{};
  const std::size_t count = bit_positions(shape, d, positions);
  api::reply_with_array(ctx, static_cast<long>(1 + count));
  reply_with(ctx, name.text());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t p = positions[i];
    const bool set = whole && (static_cast<unsigned char>(bytes[p / 8]) & (0x80U >> (p % 8))) != 0;
    reply_with(ctx, "bit " + std::to_string(p) + (whole ? set ? ": 1" : ": 0" : ": unknown"));
  }
}

}  // namespace

int show_info(api::context* ctx, api::string** words, int count) {
  if (count != 2) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const named_filter f = shown_filter(ctx, words[1]);
    std::uint64_t keys = 0, bytes = 0, segments = 0;
    const std::uint32_t first = f.partition.value_or(0);
    const std::uint32_t last = f.partition ? first + 1 : f.spec().partitions;
    for (std::uint32_t p = first; p < last; ++p) {
      const record r = record_of(ctx, f, p);
      keys += r.state.keys();
      bytes += r.state.bytes();
      segments += r.shape->manifest.segments.size();
    }
    fields all;
    add_spec(all, f.spec());
    all.insert(all.end(), {{"keys", std::to_string(keys)},
                           {"bytes", std::to_string(bytes)},
                           {"segments", std::to_string(segments)}});
    api::reply_with_array(ctx, static_cast<long>(2 * all.size()));
    for (const auto& [field, its_value] : all) {
      reply_with(ctx, field);
      reply_with(ctx, its_value);
    }
    return api::ok;
  });
}

int explain(api::context* ctx, api::string** words, int count) {
  if (count != 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const named_filter f = shown_filter(ctx, words[1]);
    const digest d = f.made->hash(text_of(words[2]));
    const std::uint32_t number = partition_of(d, f.spec().partitions);
    if (f.partition && *f.partition != number)
      throw bad_word{"CROSSPARTITION the key belongs to another partition"};
    const record r = record_of(ctx, f, number);
    const auto& segments = r.shape->manifest.segments;
    api::reply_with_array(ctx, static_cast<long>(1 + segments.size()));
    reply_with(ctx, f.state(number));
    for (const image::manifest::entry& e : segments) reply_with_segment(ctx, f, e.id, e.shape, d);
    return api::ok;
  });
}

}  // namespace everseen::redis_module
