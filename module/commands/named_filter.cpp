#include "module/commands/named_filter.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/filter_names.hpp"
#include "everseen/core/format/image.hpp"

#include "module/partition/record.hpp"
#include "module/server/permission.hpp"

namespace everseen::redis_module {

namespace {

using kind = refusal::kind;
using recipe = named_filter::recipe;

/// Nothing: not a number.
std::optional<long long> number_in(std::string_view text) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

/// Opens a hash that is not an argument of the command, if the user may read it.
judged<open_key> open_hash(api::context* ctx, const std::string& name) {
  const value text(ctx, name);
  if (!user_permissions::of(ctx).on(text.get(), false)) return refuse(kind::forbidden, name);
  open_key key(ctx, text.get(), api::read_key);
  if (key.type() == api::type_empty) return refuse(kind::gone);
  if (key.type() != api::type_hash) return refuse(kind::wrong_type);
  return key;
}

value field_of(api::context* ctx, const open_key& hash, std::string_view field) {
  const value name(ctx, field);
  api::string* found = nullptr;
  api::hash_get(hash.get(), 0, name.get(), &found, nullptr);
  return {ctx, found};
}

/// Decoding a spec costs as much as judging many keys, so the last one is cached.
/// @throws format_error, parameter_error
std::shared_ptr<const recipe> recipe_of(std::string_view bytes) {
  static std::string last_bytes;
  static std::shared_ptr<const recipe> last;
  if (last == nullptr || last_bytes != bytes) {
    const spec s = image::decode_spec(std::as_bytes(std::span(bytes)));
    last = std::make_shared<const recipe>(recipe{s, hasher(s.hash, s.seed, s.foreign.funnel)});
    last_bytes = bytes;
  }
  return last;
}

/// Whether a key has the form of the state of a partition: it ends with `:{ID/P}`.
bool is_state(std::string_view key) {
  const std::size_t open = key.rfind(":{");
  if (open == std::string_view::npos || !key.ends_with('}')) return false;
  const std::string_view tag = key.substr(open + 2, key.size() - open - 3);
  const std::size_t slash = tag.rfind('/');
  return slash != std::string_view::npos && filter_names::parse_id(tag.substr(0, slash)) &&
         number_in(tag.substr(slash + 1));
}

judged<named_filter> by_state(api::context* ctx, api::string* name) {
  const auto r = read_record(ctx, name);
  if (!r) return tl::unexpected(r.error());
  named_filter f{std::make_shared<const recipe>(recipe{r->spec(), r->shape->hash})};
  f.partition = r->number;
  f.beginning = text_of(name).substr(0, text_of(name).rfind('/') + 1);
  return f;
}

/// A filter in the index.
struct entry {
  std::string prefix;
  std::string_view name;
  image::filter_id id{};
};

/// The filter of this prefix and name.
judged<entry> look_up(api::context* ctx, std::string_view prefix, std::string_view name) {
  entry e{std::string(prefix), name};
  const std::string index = filter_names::index(e.prefix);
  const auto names = open_hash(ctx, index);
  if (!names) return tl::unexpected(names.error());
  const value id = field_of(ctx, *names, e.name);
  if (!id.exists()) return refuse(kind::gone);
  if (id.text().size() != e.id.size())
    return refuse(kind::unreadable, "the key " + index + " holds something else than the id of a filter");
  std::ranges::copy(id.text(), e.id.begin());
  return e;
}

/// Both parts may contain colons: the shortest prefix that has such a filter counts.
judged<entry> look_up(api::context* ctx, std::string_view words) {
  constexpr std::size_t longest_prefix = 64;  // of a URL
  judged<entry> found = refuse(kind::gone);
  for (std::size_t colon = words.find(':'); colon <= longest_prefix; colon = words.find(':', colon + 1)) {
    auto e = look_up(ctx, words.substr(0, colon), words.substr(colon + 1));
    if (e) return e;
    if (e.error().why != kind::gone) found = std::move(e);
  }
  return found;
}

/// Whether the filter asks an older one first now; the older filter's keys may be on another server.
judged<bool> asks_another(api::context* ctx, const entry& e) {
  const std::string key = filter_names::links(e.prefix);
  const auto links = open_hash(ctx, key);
  if (!links && links.error().why == kind::gone) return false;
  if (!links) return tl::unexpected(links.error());
  const value link = field_of(ctx, *links, e.name);
  // Ignore the link of an earlier filter of the same name.
  const std::string id = filter_names::to_text(e.id);
  if (!link.text().starts_with(id)) return false;
  const std::string_view rest = link.text().substr(id.size());  // " UNTIL NAME"; UNTIL may be "-"
  const std::string_view until = rest.substr(std::min<std::size_t>(rest.size(), 1), rest.find(' ', 1) - 1);
  const auto ends = number_in(until);
  return !ends || api::milliseconds() < *ends;
}

constexpr const char* is_attached =
    "the filter is attached, its bits belong to another program: use that or everseen, not the module";
constexpr const char* asks_an_older =
    "the filter asks an older one first, which the module cannot do: use everseen, or end that with everseen "
    "link --off";
constexpr const char* clients_judge =
    "the filter is judged by its clients, so the server does not have all of its bits: use everseen";

bool is_id(std::string_view bytes, const image::filter_id& id) {
  return std::ranges::equal(bytes, id, {}, [](char c) { return static_cast<std::uint8_t>(c); });
}

/// Reads the header of a filter, but not its link.
/// @param key  its name
judged<named_filter> read_header(api::context* ctx, const entry& e, const std::string& key) {
  const auto unreadable = [&](const std::string& why) {
    return refuse(kind::unreadable, "the key " + key + ' ' + why);
  };
  const auto header = open_hash(ctx, key);
  if (!header) return tl::unexpected(header.error());
  std::array<api::string*, 6> fields{};
  api::hash_get(header->get(), api::hash_c_fields, "id", &fields[0], "spec", &fields[1], "expires_at",
                &fields[2], "next", &fields[3], "after", &fields[4], "attached", &fields[5], nullptr);
  const value id(ctx, fields[0]), spec(ctx, fields[1]), end(ctx, fields[2]), next(ctx, fields[3]),
      after(ctx, fields[4]), attached(ctx, fields[5]);
  if (!is_id(id.text(), e.id)) return unreadable("belongs to another filter");
  const auto expires_at = end.exists() ? number_in(end.text()) : std::nullopt;
  if (end.exists() && !expires_at) return unreadable("has no valid end");
  if (expires_at && *expires_at <= api::milliseconds()) return refuse(kind::gone);
  if (attached.exists()) return refuse(kind::failed, is_attached);
  named_filter f{};
  try {
    f.made = recipe_of(spec.text());
  } catch (const error& damage) {
    return unreadable(std::string("is damaged (") + damage.what() + ")");
  }
  if (f.spec().judge == judge_kind::client) return refuse(kind::failed, clients_judge);
  f.is_rebuilt = next.exists() || after.exists();
  return f;
}

judged<named_filter> by_name(api::context* ctx, api::string* words) {
  const auto e = look_up(ctx, text_of(words));
  if (!e) return tl::unexpected(e.error());
  const std::string id = filter_names::to_text(e->id);
  auto f = read_header(ctx, *e, filter_names::header(e->prefix, id));
  if (!f) return f;
  const auto linked = asks_another(ctx, *e);
  if (!linked) return tl::unexpected(linked.error());
  if (*linked) return refuse(kind::failed, asks_an_older);
  f->beginning = e->prefix + ":{" + id + "/";
  return f;
}

}  // namespace

judged<named_filter> find_filter(api::context* ctx, api::string* name) {
  return is_state(text_of(name)) ? by_state(ctx, name) : by_name(ctx, name);
}

}  // namespace everseen::redis_module
