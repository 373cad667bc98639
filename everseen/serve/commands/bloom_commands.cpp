#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/filter/filter_chunks.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/commands/bloom_requests.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

/// The Bloom commands of RedisBloom, with the rules, replies and error texts that its clients know.
namespace everseen::serve {

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

/// The destination is created like the first source if it does not exist, and only stays if all sources fit.
void merge(call& c) {
  std::vector<filter> siblings;
  std::vector<open_filter> held;
  for (const std::string_view name : c.words.subspan(2)) {
    auto found = c.all.filters().open(name);
    if (!found) throw not_found;
    held.emplace_back(std::move(found));
    siblings.push_back(held.back()->handle);
  }
  const std::string_view destination = c.words[1];
  if (auto there = c.all.filters().open(destination)) {
    there->handle.merge(siblings);
    return c.reply.ok();
  }
  try {
    c.all.filters().create(destination, siblings.front().sibling_spec(), {})->handle.merge(siblings);
  } catch (const full_error&) {
    c.all.filters().drop(destination);
    throw;
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

}  // namespace

std::span<const command> bloom_commands() {
  static constexpr command commands[] = {
      {"BF.ADD", 3, right::write, runs::on_worker, first_word, bloom_add, one_to_add},
      {"BF.EXISTS", 3, right::read, runs::on_worker, first_word, bloom_check, one_to_check},
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
