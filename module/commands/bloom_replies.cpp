#include "module/commands/bloom_replies.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/spec/growth.hpp"

#include "module/commands/command.hpp"

namespace everseen::redis_module {

namespace {

int reply_with_truth(api::context* ctx, bool truth) {
  return api::reply_with_bool != nullptr ? api::reply_with_bool(ctx, truth ? 1 : 0)
                                         : api::reply_with_integer(ctx, truth ? 1 : 0);
}

/// Before Redis 7.0, modules know no map, and RESP3 has an array in its place.
void begin_map(api::context* ctx, std::size_t fields) {
  if (api::reply_with_map != nullptr)
    api::reply_with_map(ctx, static_cast<long>(fields));
  else
    api::reply_with_array(ctx, static_cast<long>(2 * fields));
}

/// The shortest form: servers write 17 digits.
int reply_with_real(api::context* ctx, double number) {
  if ((api::get_context_flags(ctx) & api::flag_resp3) != 0) return api::reply_with_double(ctx, number);
  std::array<char, 32> text{};
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return reply_with(ctx, {text.data(), static_cast<std::size_t>(end - text.data())});
}

/// The layers of a filter without keys: the first is allocated with the first key.
std::vector<layer_state> layers_of(const filter_value& filter) {
  std::vector<layer_state> all;
  for (const slice_state& slice : filter.state().slices)
    all.insert(all.end(), slice.layers.begin(), slice.layers.end());
  if (!all.empty()) return all;
  const growth::layer_plan first = growth::plan_layer(filter.get_spec(), 0);
  return {{first.shape, first.capacity, 0}};
}

int write_capacity(api::context* ctx, const filter_value& filter) {
  std::uint64_t all = 0;
  for (const layer_state& layer : layers_of(filter)) all += layer.capacity;
  return api::reply_with_integer(ctx, static_cast<long long>(all));
}

int write_size(api::context* ctx, const filter_value& filter) {
  constexpr std::uint64_t of_filter = 32, of_layer = 64;  // RedisBloom counts what is beside the bits, too
  const bool theirs = filter.get_spec().layout == layout_kind::redisbloom;
  const std::vector<layer_state> layers = layers_of(filter);
  std::uint64_t all = theirs ? of_filter + of_layer * layers.size() : 0;
  for (const layer_state& layer : layers) all += layer.shape.bytes;
  return api::reply_with_integer(ctx, static_cast<long long>(all));
}

int write_layers(api::context* ctx, const filter_value& filter) {
  return api::reply_with_integer(ctx, static_cast<long long>(layers_of(filter).size()));
}

int write_keys(api::context* ctx, const filter_value& filter) {
  return api::reply_with_integer(ctx, static_cast<long long>(filter.state().keys()));
}

int write_expansion(api::context* ctx, const filter_value& filter) {
  const spec& s = filter.get_spec();
  if (s.growth != growth_kind::grow) return api::reply_with_null(ctx);
  constexpr long long own = 2;
  return api::reply_with_integer(ctx, s.layout == layout_kind::redisbloom ? s.foreign.expansion : own);
}

struct info_field {
  std::string_view word;
  const char* name;
  int (*write)(api::context* ctx, const filter_value& filter);
};

constexpr info_field info_fields[] = {
    {"CAPACITY", "Capacity", write_capacity},         {"SIZE", "Size", write_size},
    {"FILTERS", "Number of filters", write_layers},   {"ITEMS", "Number of items inserted", write_keys},
    {"EXPANSION", "Expansion rate", write_expansion},
};

}  // namespace

const char* text_without_room(growth_kind growth) noexcept {
  return growth == growth_kind::refuse ? "ERR non scaling filter is full"
                                       : "ERR the filter cannot grow further";
}

int reply_with_figures(api::context* ctx, std::span<const commands::figure> figures) {
  begin_map(ctx, figures.size());
  for (const auto& [name, value] : figures) {
    reply_with(ctx, name);
    if (const auto* const text = std::get_if<std::string>(&value))
      reply_with(ctx, *text);
    else if (const auto* const number = std::get_if<std::uint64_t>(&value))
      api::reply_with_integer(ctx, static_cast<long long>(*number));
    else
      reply_with_real(ctx, std::get<double>(value));
  }
  return api::ok;
}

/// As RedisBloom, the reply ends with the first key that found no room. No key after it was added.
int reply_with_added(api::context* ctx, std::span<const verdict> verdicts, growth_kind growth,
                     answer_shape shape) {
  const auto first_refused = std::ranges::find(verdicts, verdict::unknown);
  if (first_refused != verdicts.end())
    verdicts = verdicts.first(static_cast<std::size_t>(first_refused - verdicts.begin()) + 1);
  if (shape == answer_shape::array) api::reply_with_array(ctx, static_cast<long>(verdicts.size()));
  for (const verdict each : verdicts)
    if (each == verdict::unknown)
      api::reply_with_error(ctx, text_without_room(growth));
    else
      reply_with_truth(ctx, each == verdict::fresh);
  return api::ok;
}

int reply_with_found(api::context* ctx, std::span<const verdict> verdicts, answer_shape shape) {
  if (shape == answer_shape::array) api::reply_with_array(ctx, static_cast<long>(verdicts.size()));
  for (const verdict each : verdicts) reply_with_truth(ctx, each == verdict::seen);
  return api::ok;
}

int reply_with_info(api::context* ctx, const filter_value& filter) {
  begin_map(ctx, std::size(info_fields));
  for (const info_field& field : info_fields) {
    api::reply_with_simple_string(ctx, field.name);
    field.write(ctx, filter);
  }
  return api::ok;
}

int reply_with_info(api::context* ctx, const filter_value& filter, std::string_view word) {
  for (const info_field& field : info_fields) {
    if (!is_word(word, field.word)) continue;
    if ((api::get_context_flags(ctx) & api::flag_resp3) != 0) {
      begin_map(ctx, 1);
      api::reply_with_simple_string(ctx, field.name);
    } else {
      api::reply_with_array(ctx, 1);
    }
    return field.write(ctx, filter);
  }
  throw bad_word{"Invalid information value"};
}

int reply_with_layers(api::context* ctx, const filter_value& filter) {
  const spec& s = filter.get_spec();
  const std::vector<layer_state> layers = layers_of(filter);
  api::reply_with_array(ctx, static_cast<long>(1 + layers.size()));
  reply_with(ctx, "size:" + std::to_string(filter.state().keys()));
  int halvings = s.growth == growth_kind::grow ? 1 : 0;
  for (const layer_state& layer : layers) {
    char line[256];
    const int size = std::snprintf(
        line, sizeof line, "bytes:%llu bits:%llu hashes:%u hashwidth:%u capacity:%llu size:%llu ratio:%g",
        static_cast<unsigned long long>(layer.shape.bytes),
        static_cast<unsigned long long>(layer.shape.bits()), static_cast<unsigned>(layer.shape.probes),
        s.layout == layout_kind::redisbloom ? 64U : 128U, static_cast<unsigned long long>(layer.capacity),
        static_cast<unsigned long long>(layer.keys), std::ldexp(growth::slice_budget(s), -halvings));
    if (halvings > 0) ++halvings;
    reply_with(ctx, {line, static_cast<std::size_t>(size)});
  }
  return api::ok;
}

}  // namespace everseen::redis_module
