#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "everseen/core/spec/growth.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

/// What RedisBloom's clients ask about a filter as a whole.
namespace everseen::serve {

namespace {

const refusal no_such_filter{"ERR not found"};

void card(call& c) {
  const auto f = c.all.filters().peek(c.words[1]);
  c.reply.integer(f ? static_cast<std::int64_t>(f->handle.info().keys) : 0);
}

/// A field of BF.INFO, with the word that requests it alone.
struct info_field {
  std::string_view word;
  std::string_view name;
  void (*write)(const shared_filter& f, const filter_info& info, wire::reply_writer& reply);
};

std::uint64_t layers_of(const filter_info& info) {
  return std::max<std::uint64_t>(1, info.max_layers);
}

void write_capacity(const shared_filter& f, const filter_info& info, wire::reply_writer& reply) {
  if (info.spec.partitions == 1 && layers_of(info) > 1) {
    std::uint64_t all = 0;
    for (const slice_state& slice : info.partitions.front().slices)
      for (const layer_state& layer : slice.layers) all += layer.capacity;
    return reply.integer(static_cast<std::int64_t>(all));
  }
  // Each layer has twice the capacity of the one before it.
  const double doubled = std::exp2(static_cast<double>(layers_of(info))) - 1;
  const double all = static_cast<double>(f.handle.get_spec().capacity) * doubled;
  constexpr double most = 9e18;
  reply.integer(static_cast<std::int64_t>(std::min(all, most)));
}

/// RedisBloom counts what is beside the bits, too: one structure for the filter, and one for each layer.
void write_size(const shared_filter& f, const filter_info& info, wire::reply_writer& reply) {
  constexpr std::uint64_t of_filter = 32, of_layer = 64;
  const bool redisbloom = info.spec.layout == layout_kind::redisbloom;
  const std::uint64_t beside_bits = redisbloom ? of_filter + of_layer * layers_of(info) : 0;
  reply.integer(static_cast<std::int64_t>(std::max(info.bytes, f.planned_bytes) + beside_bits));
}

void write_layers(const shared_filter&, const filter_info& info, wire::reply_writer& reply) {
  reply.integer(static_cast<std::int64_t>(layers_of(info)));
}

void write_keys(const shared_filter&, const filter_info& info, wire::reply_writer& reply) {
  reply.integer(static_cast<std::int64_t>(info.keys));
}

void write_expansion(const shared_filter& f, const filter_info&, wire::reply_writer& reply) {
  const spec& s = f.handle.get_spec();
  if (s.growth != growth_kind::grow) return reply.null();
  reply.integer(s.layout == layout_kind::redisbloom ? s.foreign.expansion : f.requested.expansion);
}

constexpr info_field info_fields[] = {
    {"CAPACITY", "Capacity", write_capacity},         {"SIZE", "Size", write_size},
    {"FILTERS", "Number of filters", write_layers},   {"ITEMS", "Number of items inserted", write_keys},
    {"EXPANSION", "Expansion rate", write_expansion},
};

void bloom_info(call& c) {
  if (c.words.size() > 3) throw wrong_arity(c.called.name);
  const auto f = c.all.filters().peek(c.words[1]);
  if (!f) throw no_such_filter;
  if (c.words.size() == 2) {
    const filter_info info = f->handle.info();
    c.reply.map(std::size(info_fields));
    for (const info_field& field : info_fields) {
      c.reply.status(field.name);
      field.write(*f, info, c.reply);
    }
    return;
  }
  for (const info_field& field : info_fields)
    if (is_word(c.words[2], field.word)) {
      if (c.from.version() == wire::protocol::resp3) {
        c.reply.map(1);
        c.reply.status(field.name);
      } else {
        c.reply.array(1);
      }
      return field.write(*f, f->handle.info(), c.reply);
    }
  throw refusal{"Invalid information value"};
}

std::string described(const spec& s, const layer_state& layer, std::size_t index) {
  const bool grows = s.growth == growth_kind::grow;
  const double rate = std::ldexp(growth::slice_budget(s), grows ? -static_cast<int>(index) - 1 : 0);
  return fmt::format("bytes:{} bits:{} hashes:{} hashwidth:{} capacity:{} size:{} ratio:{:g}",
                     layer.shape.bytes, layer.shape.bits(), layer.shape.probes,
                     s.layout == layout_kind::redisbloom ? 64 : 128, layer.capacity, layer.keys, rate);
}

/// A line for each layer, of each slice and partition.
void debug(call& c) {
  const auto f = c.all.filters().peek(c.words[1]);
  if (!f) throw no_such_filter;
  const filter_info info = f->handle.info();
  std::vector<std::string> lines = {fmt::format("size:{}", info.keys)};
  for (const partition_state& state : info.partitions) {
    if (state.slices.empty()) {  // the store makes the first layer with the first key
      const growth::layer_plan first = growth::plan_layer(info.spec, 0);
      lines.push_back(described(info.spec, {first.shape, first.capacity, 0}, 0));
    }
    for (const slice_state& slice : state.slices)
      for (std::size_t i = 0; i < slice.layers.size(); ++i)
        lines.push_back(described(info.spec, slice.layers[i], i));
  }
  c.reply.array(lines.size());
  for (const std::string& line : lines) c.reply.bulk(line);
}

}  // namespace

std::span<const command> bloom_info_commands() {
  static constexpr command commands[] = {
      {"BF.CARD", 2, right::read, runs::on_worker, first_word, card},
      {"BF.DEBUG", 2, right::read, runs::on_worker, first_word, debug},
      {"BF.INFO", -2, right::read, runs::on_worker, first_word, bloom_info},
  };
  return commands;
}

}  // namespace everseen::serve
