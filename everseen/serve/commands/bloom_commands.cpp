#include "everseen/serve/commands/bloom_commands.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "everseen/core/spec/growth.hpp"
#include "everseen/filter/filter_chunks.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"
#include "everseen/store/memory/memory_store.hpp"

/// The Bloom commands of RedisBloom, with the rules, replies and error texts that its clients know.
namespace everseen::serve {

namespace {

filter_registry::request request_of(const redisbloom::bloom_request& asked) {
  filter_registry::request r{asked.spec, {}, {}};
  if (asked.expansion) r.requested.expansion = *asked.expansion;
  return r;
}

template <typename Parse>
auto parse(word_list w, Parse parse_words) {
  try {
    return parse_words();
  } catch (const redisbloom::bloom_refusal& why) {
    throw why.text.empty() ? wrong_arity(w[0]) : refusal{why.text};
  }
}

}  // namespace

filter_registry::request default_request() {
  return request_of(redisbloom::default_bloom_request());
}

filter_registry::request parse_reserve(word_list w) {
  return request_of(parse(w, [&] { return redisbloom::parse_reserve(w); }));
}

filter_registry::request parse_own_reserve(word_list w) {
  filter_registry::request r = request_of(parse(w, [&] { return commands::parse_reserve(w); }));
  r.hash = std::exchange(r.spec.hash, {});
  return r;
}

insert_request parse_insert(word_list w) {
  const redisbloom::bloom_insert asked =
      parse(w, [&] { return redisbloom::parse_insert(w, redisbloom::default_bloom_request()); });
  return {request_of(asked.create), asked.may_create, w.subspan(asked.first_item)};
}

namespace {

const refusal not_found{"ERR not found"};

open_filter need(call& c) {
  auto found = c.all.filters().open(c.words[1]);
  if (!found) throw not_found;
  return open_filter(std::move(found));
}

/// Judges the keys of one request whose filter was not open yet.
void answer(call& c, const open_filter& f, const batched_keys& asked) {
  gathered_batches gathered;
  gathered.put(f.shared(), asked);
  gathered.judge();
  gathered.write_replies(c.all, c.reply);
}

void bloom_reserve(call& c) {
  c.all.filters().create(c.words[1], parse_reserve(c.words));
  c.reply.ok();
}

void bloom_add(call& c) {
  const batched_keys asked = *c.called.batched(c.words);
  answer(c, c.all.filters().open_or_create(c.words[1], default_request()), asked);
}

void insert(call& c) {
  const insert_request asked = parse_insert(c.words);
  const batched_keys keys{question::add, reply_shape::array, asked.keys};
  const auto f = asked.may_create ? c.all.filters().open_or_create(c.words[1], asked.create) : need(c);
  answer(c, f, keys);
}

/// A missing filter contains nothing, as clients of RedisBloom expect.
void bloom_check(call& c) {
  const batched_keys asked = *c.called.batched(c.words);
  if (auto f = c.all.filters().open(c.words[1])) return answer(c, open_filter(std::move(f)), asked);
  if (asked.shape != reply_shape::one) c.reply.array(asked.keys.size());
  for (std::size_t i = 0; i < asked.keys.size(); ++i) c.reply.truth(false);
}

/// Refuses what cannot be merged before a destination is made, as others could use it by then.
void must_fit_together(const std::string& destination, std::span<const filter> siblings) {
  filter(destination, memory_store().create(destination, siblings.front().sibling_spec())).must_fit(siblings);
}

/// The destination is created like the first source if it does not exist.
void merge(call& c) {
  std::vector<filter> siblings;
  std::vector<open_filter> held;
  for (const std::string_view name : c.words.subspan(2)) {
    auto found = c.all.filters().open(name);
    if (!found) throw not_found;
    held.emplace_back(std::move(found));
    siblings.push_back(held.back()->handle);
  }
  try {
    const std::string destination(c.words[1]);
    if (auto there = c.all.filters().open(destination)) {
      there->handle.merge(siblings);
    } else {
      must_fit_together(destination, siblings);
      c.all.filters().create(destination, siblings.front().sibling_spec(), {})->handle.merge(siblings);
    }
  } catch (const full_error& e) {
    if (e.code() != 0) throw;  // no room
    throw refusal{std::string("ERR ") + e.what()};
  }
  c.reply.ok();
}

void scan_dump(call& c) {
  const auto iterator = read_integer(c.words[2]);
  if (!iterator) throw refusal{"Second argument must be numeric"};
  const auto f = need(c);
  // The chunks of everseen's own layouts contain the filter's seed, with which keys that collide can be made.
  if (!is_foreign(f->handle.get_spec().layout) && c.from.rights() < right::admin)
    throw refusal{
        "NOPERM the chunks of a filter contain its secret seed: BF.SCANDUMP needs the right 'admin'"};
  const filter_chunk chunk = dump_chunk(f->handle, *iterator);
  c.reply.array(2);
  c.reply.integer(chunk.iterator);
  c.reply.bulk({reinterpret_cast<const char*>(chunk.bytes.data()), chunk.bytes.size()});
}

void load_chunk(call& c) {
  const auto iterator = read_integer(c.words[2]);
  if (!iterator) throw refusal{"ERR Second argument must be numeric"};
  c.all.loads().take(c.all.filters(), c.words[1], *iterator, c.words[3]);
  c.reply.ok();
}

std::optional<batched_keys> one_to_add(word_list w) {
  return batched_keys{question::add, reply_shape::one, w.subspan(2)};
}
std::optional<batched_keys> many_to_add(word_list w) {
  return batched_keys{question::add, reply_shape::array, w.subspan(2)};
}
std::optional<batched_keys> one_to_check(word_list w) {
  return batched_keys{question::check, reply_shape::one, w.subspan(2)};
}
std::optional<batched_keys> many_to_check(word_list w) {
  return batched_keys{question::check, reply_shape::array, w.subspan(2)};
}

/// Only the form without options: parse_insert checks the others first.
std::optional<batched_keys> many_to_insert(word_list w) {
  if (!is_word(w[2], "ITEMS")) return std::nullopt;
  return batched_keys{question::add, reply_shape::array, w.subspan(3)};
}

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
  if (!f) throw not_found;
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
  if (!f) throw not_found;
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

std::span<const command> bloom_commands() {
  static constexpr command commands[] = {
      {"BF.ADD", 3, right::write, runs::on_worker, first_word, bloom_add, one_to_add},
      {"BF.CARD", 2, right::read, runs::on_worker, first_word, card},
      {"BF.DEBUG", 2, right::read, runs::on_worker, first_word, debug},
      {"BF.EXISTS", 3, right::read, runs::on_worker, first_word, bloom_check, one_to_check},
      {"BF.INFO", -2, right::read, runs::on_worker, first_word, bloom_info},
      {"BF.INSERT", -4, right::write, runs::on_worker, first_word, insert, many_to_insert},
      {"BF.LOADCHUNK", 4, right::write, runs::on_worker, first_word, load_chunk},
      {"BF.MADD", -3, right::write, runs::on_worker, first_word, bloom_add, many_to_add},
      {"BF.MERGE", -3, right::write, runs::on_worker, every_word, merge},
      {"BF.MEXISTS", -3, right::read, runs::on_worker, first_word, bloom_check, many_to_check},
      {"BF.RESERVE", -4, right::write, runs::on_worker, first_word, bloom_reserve},
      {"BF.SCANDUMP", 3, right::read, runs::on_worker, first_word, scan_dump},
  };
  return commands;
}

}  // namespace everseen::serve
