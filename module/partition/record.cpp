#include "module/partition/record.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <unordered_map>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/filter_names.hpp"
#include "everseen/core/format/partition_keys.hpp"

namespace everseen::redis_module {

namespace {

template <typename Integer>
std::optional<Integer> read_number(std::string_view text) {
  Integer number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

/// The parts of a state's name, which ends in `{ID/P}`.
struct partition_place {
  std::string_view filter;
  std::uint32_t partition;
};

std::optional<partition_place> state_place(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos || !name.ends_with('}')) return {};
  const auto number = read_number<std::uint32_t>(name.substr(slash + 1, name.size() - slash - 2));
  const std::size_t brace = name.rfind('{', slash);
  if (!number || brace == std::string_view::npos) return {};
  return partition_place{name.substr(brace + 1, slash - brace - 1), *number};
}

std::shared_ptr<const plan> decode(std::string_view bytes) {
  image::manifest m = image::decode_manifest(std::as_bytes(std::span(bytes)));
  const hasher hash(m.spec.hash, m.spec.seed, m.spec.foreign.funnel);
  std::vector<std::string> fields;
  fields.reserve(m.segments.size());
  for (const image::manifest::entry& e : m.segments) {
    if (!partition_keys::excess_of(e.shape).empty())
      throw format_error("it names a segment that no server can have");
    fields.push_back(partition_keys::count_field(e.id));
  }
  std::string filter = filter_names::to_text(m.filter);
  return std::make_shared<const plan>(plan{std::move(m), std::move(filter), hash, std::move(fields)});
}

/// A manifest ends in its checksum, which serves as its hash.
struct checksum_of {
  std::size_t operator()(const std::string& bytes) const noexcept {
    return bytes.size() < 8 ? 0 : load_le64(bytes.data() + bytes.size() - 8);
  }
};

/// Decoding is a pure function of the bytes, so cached results never become outdated. Decoding costs more
/// than judging a small batch.
/// @throws format_error, parameter_error  as image::decode_manifest
std::shared_ptr<const plan> plan_of(std::string_view bytes) {
  constexpr std::size_t most_plans = 4096;
  static std::unordered_map<std::string, std::shared_ptr<const plan>, checksum_of> known;
  static std::string name;
  name.assign(bytes);
  if (const auto found = known.find(name); found != known.end()) return found->second;
  auto made = decode(bytes);
  if (known.size() == most_plans) known.clear();
  known.emplace(name, made);
  return made;
}

/// A number in the form that the server's own commands accept; no other form could be incremented.
std::optional<std::uint64_t> read_plain_number(std::string_view text) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  const auto number = read_number<std::uint64_t>(text);
  if (!number || *number > most || text != std::to_string(*number)) return {};
  return number;
}

std::optional<partition_state> read_counts(api::context* ctx, const open_key& key, const plan& shape) {
  partition_state state;
  for (std::size_t i = 0; i < shape.manifest.segments.size(); ++i) {
    const image::manifest::entry& e = shape.manifest.segments[i];
    api::string* text = nullptr;
    api::hash_get(key.get(), api::hash_c_fields, shape.count_fields[i].c_str(), &text, nullptr);
    const auto keys = read_plain_number(value(ctx, text).text());
    if (!keys) return {};
    if (state.slices.empty() || state.slices.back().index != e.id.slice)
      state.slices.push_back({e.id.slice, {}});
    state.slices.back().layers.push_back({e.shape, e.capacity, *keys});
  }
  return state;
}

}  // namespace

judged<record> read_record(api::context* ctx, api::string* state) {
  const open_key key(ctx, state, api::read_key);
  if (key.type() == api::type_empty) return refuse(refusal::kind::gone);
  if (key.type() != api::type_hash) return refuse(refusal::kind::damaged, "has another type");
  std::array<api::string*, 3> fields{};
  api::hash_get(key.get(), api::hash_c_fields, "epoch", &fields[0], "manifest", &fields[1], "successor",
                &fields[2], nullptr);
  const value epoch(ctx, fields[0]), manifest(ctx, fields[1]), successor(ctx, fields[2]);
  if (!epoch.exists() || !manifest.exists()) return refuse(refusal::kind::gone);

  record r;
  const auto here = state_place(text_of(state));
  const auto its_epoch = read_number<std::uint64_t>(epoch.text());
  if (!here) return refuse(refusal::kind::damaged, "is not named as the state of a partition is");
  if (!its_epoch) return refuse(refusal::kind::damaged, "lacks a valid epoch");
  try {
    r.shape = plan_of(manifest.text());
  } catch (const error& e) {
    return refuse(refusal::kind::damaged, std::string("is damaged (") + e.what() + ")");
  }
  if (r.shape->filter != here->filter) return refuse(refusal::kind::damaged, "belongs to another filter");
  for (const image::manifest::entry& e : r.shape->manifest.segments)
    if (e.id.partition != here->partition)
      return refuse(refusal::kind::damaged, "names a segment of another partition");
  auto counted = read_counts(ctx, key, *r.shape);
  if (!counted) return refuse(refusal::kind::damaged, "lacks a valid count");
  r.number = here->partition;
  r.state = *std::move(counted);
  r.epoch = *its_epoch;
  r.sealed = successor.exists();
  return r;
}

}  // namespace everseen::redis_module
