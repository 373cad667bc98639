#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/redisbloom/bloom_request.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/core/spec/growth.hpp"

#include "module/commands/bloom_replies.hpp"
#include "module/commands/command.hpp"
#include "module/commands/command_table.hpp"
#include "module/commands/filter_key.hpp"
#include "module/server/counters.hpp"
#include "module/server/settings.hpp"
#include "module/value/filter_chunks.hpp"

/// The way of a batch: words become digests, the layers that it may need are allocated or the whole call is
/// refused, core/partition judges, and the words go to replicas and the AOF as they came. A replica judges
/// them again, on an equal value, with equal results. Only a new filter goes there in another form, as the
/// header of its chunks, since BF.RESERVE would choose another seed.
namespace everseen::redis_module {

namespace {

/// A filter of RedisBloom's type. The first layer is made immediately, as RedisBloom does, and replicas get
/// it with the header of the chunks.    @throws full_error  there is no room for it
std::unique_ptr<filter_value> empty_chain(api::context* ctx, const spec& s) {
  const announced_filter first = redisbloom::filter_of(redisbloom::chain_of(s, {}));
  must_fit(ctx, first.bit_bytes(), first.bit_bytes());
  return std::make_unique<filter_value>(first);
}

/// A filter in one partition: one key of Redis.
/// @throws full_error  there is no room for it
std::unique_ptr<filter_value> made_for(api::context* ctx, const redisbloom::bloom_request& asked) {
  spec_request request = asked.spec;
  request.partitions = 1;
  if (!settings().redisbloom_layout) {
    const spec s = make_spec(request);
    const std::uint64_t first = growth::plan_layer(s, 0).shape.bytes;  // which is made with the first key
    must_fit(ctx, first, 0);
    return std::make_unique<filter_value>(s);
  }
  request.layout = layout_kind::redisbloom;
  request.expansion = asked.expansion.value_or(settings().create.expansion.value_or(2));
  const spec s = make_spec(request);
  return empty_chain(ctx, s);
}

void add_items(api::context* ctx, filter_key& key, const redisbloom::bloom_request* create,
               std::span<const std::string_view> items, answer_shape shape) {
  std::unique_ptr<filter_value> made;
  if (key.get() == nullptr && create == nullptr) throw bad_word{"ERR not found"};
  if (key.get() == nullptr) made = made_for(ctx, *create);
  filter_value* filter = made ? made.get() : key.get();
  const std::vector<digest> digests = digests_of(filter->hash(), items);
  std::vector<verdict> verdicts(items.size());
  const slice_batch keys{digests, verdicts};
  must_accept(*filter);
  must_be_plain(*filter);
  prepare(ctx, *filter, keys);
  if (made) filter = &key.make(ctx, std::move(made));
  const bool has_changed = filter->add(keys);
  counters::all().note_added(verdicts);
  if (has_changed) api::replicate_verbatim(ctx);
  reply_with_added(ctx, verdicts, filter->get_spec().growth, shape);
  key.end(ctx, has_changed ? "bf.add" : nullptr);
}

int add_each(api::context* ctx, api::string** words, int count, answer_shape shape) {
  return guarded(ctx, [&] {
    const word_texts texts({words, static_cast<std::size_t>(count)});
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    add_items(ctx, key, &settings().create, texts.all().subspan(2), shape);
    return api::ok;
  });
}

int add(api::context* ctx, api::string** words, int count) {
  if (count != 3) return api::wrong_arity(ctx);
  return add_each(ctx, words, count, answer_shape::one);
}

int add_many(api::context* ctx, api::string** words, int count) {
  if (count < 3) return api::wrong_arity(ctx);
  return add_each(ctx, words, count, answer_shape::array);
}

int insert(api::context* ctx, api::string** words, int count) {
  if (count < 4) return api::wrong_arity(ctx);
  return guarded(ctx, [&] {
    const word_texts texts({words, static_cast<std::size_t>(count)});
    const redisbloom::bloom_insert asked = redisbloom::parse_insert(texts.all(), settings().create);
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    add_items(ctx, key, asked.may_create ? &asked.create : nullptr, texts.all().subspan(asked.first_item),
              answer_shape::array);
    return api::ok;
  });
}

int reserve(api::context* ctx, api::string** words, int count) {
  if (count < 4) return api::wrong_arity(ctx);
  return guarded(ctx, [&] {
    const word_texts texts({words, static_cast<std::size_t>(count)});
    const redisbloom::bloom_request asked = redisbloom::parse_reserve(texts.all());
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    if (key.get() != nullptr) throw bad_word{"ERR item exists"};
    key.make(ctx, made_for(ctx, asked));
    key.end(ctx, nullptr);
    return api::reply_with_simple_string(ctx, "OK");
  });
}

/// A missing filter contains nothing, as clients of RedisBloom expect.
int check_items(api::context* ctx, api::string** words, int count, answer_shape shape) {
  return guarded(ctx, [&] {
    const word_texts texts({words, static_cast<std::size_t>(count)});
    const auto items = texts.all().subspan(2);
    const filter_key key(ctx, words[1], api::read_key);
    std::vector<verdict> verdicts(items.size(), verdict::fresh);
    if (const filter_value* const filter = key.get()) {
      must_be_plain(*filter);
      filter->check({digests_of(filter->hash(), items), verdicts});
      counters::all().note_checked(verdicts);
    }
    reply_with_found(ctx, verdicts, shape);
    return api::ok;
  });
}

int check(api::context* ctx, api::string** words, int count) {
  if (count != 3) return api::wrong_arity(ctx);
  return check_items(ctx, words, count, answer_shape::one);
}

int check_many(api::context* ctx, api::string** words, int count) {
  if (count < 3) return api::wrong_arity(ctx);
  return check_items(ctx, words, count, answer_shape::array);
}

int card(api::context* ctx, api::string** words, int count) {
  if (count != 2) return api::wrong_arity(ctx);
  return guarded(ctx, [&] {
    const filter_key key(ctx, words[1], api::read_key);
    const filter_value* const filter = key.get();
    return api::reply_with_integer(ctx,
                                   filter == nullptr ? 0 : static_cast<long long>(filter->state().keys()));
  });
}

int info(api::context* ctx, api::string** words, int count) {
  if (count < 2 || count > 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&] {
    const filter_key key(ctx, words[1], api::read_key);
    const filter_value& filter = key.filter_or_not_found();
    return count == 2 ? reply_with_info(ctx, filter) : reply_with_info(ctx, filter, text_of(words[2]));
  });
}

int debug(api::context* ctx, api::string** words, int count) {
  if (count != 2) return api::wrong_arity(ctx);
  return guarded(ctx, [&] {
    const filter_key key(ctx, words[1], api::read_key);
    return reply_with_layers(ctx, key.filter_or_not_found());
  });
}

/// An empty filter with the spec of another one.    @throws full_error  there is no room for it
std::unique_ptr<filter_value> sibling_of(api::context* ctx, const filter_value& filter) {
  if (!filter.is_redisbloom()) return std::make_unique<filter_value>(filter.get_spec());
  return empty_chain(ctx, filter.get_spec());
}

/// All sources in one step, or none. A replica merges the same values again, and does not decide again
/// whether they fit: its estimate might differ by a rounding. A source that has expired is not found; the
/// master has deleted it on the replica before.
int merge(api::context* ctx, api::string** words, int count) {
  if (count < 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&] {
    std::vector<std::unique_ptr<filter_key>> sources;
    std::vector<const filter_value*> siblings;
    for (int i = 2; i < count; ++i) {
      sources.push_back(std::make_unique<filter_key>(ctx, words[i], api::read_key));
      siblings.push_back(&sources.back()->filter_or_not_found());
      must_be_plain(*siblings.back());
    }
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    std::unique_ptr<filter_value> made;
    if (key.get() == nullptr) made = sibling_of(ctx, *siblings.front());
    filter_value* filter = made ? made.get() : key.get();
    must_accept(*filter);
    must_be_plain(*filter);
    if (!repeats_a_decision(ctx)) filter->must_take(siblings);
    const std::vector<std::uint64_t> layers = filter->layers_to_merge(siblings);
    if (!layers.empty()) must_fit(ctx, filter->bit_bytes(), layers);
    filter->prepare(layers);
    if (made) filter = &key.make(ctx, std::move(made));
    const bool has_changed = filter->merge(siblings);
    if (has_changed) api::replicate_verbatim(ctx);
    sources.clear();
    key.end(ctx, has_changed ? "bf.merge" : nullptr);
    return api::reply_with_simple_string(ctx, "OK");
  });
}

int scan_dump(api::context* ctx, api::string** words, int count) {
  if (count != 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&] {
    const auto iterator = number_of<long long>(words[2], "Second argument must be numeric");
    const filter_key key(ctx, words[1], api::read_key);
    const value_chunk chunk = chunk_after(key.filter_or_not_found(), iterator, image::max_chunk_bits_bytes);
    api::reply_with_array(ctx, 2);
    api::reply_with_integer(ctx, chunk.iterator);
    return reply_with(ctx, {reinterpret_cast<const char*>(chunk.bytes.data()), chunk.bytes.size()});
  });
}

int load_chunk(api::context* ctx, api::string** words, int count) {
  return load_filter(ctx, words, count, load_rules::bloom);
}

constexpr std::array item_words = {key_argument("key"), text_argument("item")};
constexpr std::array items_words = {key_argument("key"), text_argument("item", api::argument_repeats)};
constexpr std::array key_words = {key_argument("key")};
constexpr std::array reserve_words = {key_argument("key"), text_argument("error_rate"),
                                      number_argument("capacity"),
                                      number_argument("expansion", api::argument_optional, "EXPANSION"),
                                      switch_argument("nonscaling", "NONSCALING")};
constexpr std::array insert_words = {key_argument("key"),
                                     number_argument("capacity", api::argument_optional, "CAPACITY"),
                                     text_argument("error", api::argument_optional, "ERROR"),
                                     number_argument("expansion", api::argument_optional, "EXPANSION"),
                                     switch_argument("nocreate", "NOCREATE"),
                                     switch_argument("nonscaling", "NONSCALING"),
                                     text_argument("item", api::argument_repeats, "ITEMS")};
constexpr std::array bloom_info_words = {key_argument("key"), text_argument("field", api::argument_optional)};
constexpr std::array merge_words = {key_argument("destination"),
                                    key_argument("source", 1, api::argument_repeats)};
constexpr std::array dump_words = {key_argument("key"), number_argument("iterator")};
constexpr std::array load_words = {key_argument("key"), number_argument("iterator"), text_argument("data")};

constexpr const char* one_key = "O(1): a cache miss or two for each layer";
constexpr const char* each_item = "O(N) for N keys: a cache miss or two each";

constexpr std::array all_bloom_commands = {
    described_command{"bf.reserve", &reserve, "write deny-oom", "write fast", -4, 1, "Creates a filter",
                      "O(1)", reserve_words},
    described_command{"bf.add", &add, "write deny-oom", "write fast", 3, 1,
                      "Adds a key to a filter, which is created if it does not exist", one_key, item_words},
    described_command{"bf.madd", &add_many, "write deny-oom", "write slow", -3, 1,
                      "Adds keys to a filter, which is created if it does not exist", each_item, items_words},
    described_command{"bf.insert", &insert, "write deny-oom", "write slow", -4, 1,
                      "Adds keys to a filter, which is created with the given options if it does not exist",
                      each_item, insert_words},
    described_command{"bf.exists", &check, "readonly fast", "read fast", 3, 1,
                      "Tells whether a key was probably added", one_key, item_words},
    described_command{"bf.mexists", &check_many, "readonly fast", "read fast", -3, 1,
                      "Tells for each key whether it was probably added", each_item, items_words},
    described_command{"bf.info", &info, "readonly fast", "read fast", -2, 1,
                      "Shows the properties and the fill of a filter", "O(1)", bloom_info_words},
    described_command{"bf.card", &card, "readonly fast", "read fast", 2, 1,
                      "Returns the number of keys in a filter", "O(1)", key_words},
    described_command{"bf.debug", &debug, "readonly fast", "read fast", 2, 1,
                      "Describes the layers of a filter", "O(N) for N layers", key_words},
    described_command{
        "bf.merge", &merge, "write deny-oom", "write slow", -3, -1,
        "Adds all keys of filters with the same properties and seed to a filter, which is created like "
        "the first of them if it does not exist",
        "O(N) for N bytes of all sources", merge_words},
    described_command{"bf.scandump", &scan_dump, "readonly fast", "read fast", 3, 1,
                      "Returns a filter in chunks, one in each call", "O(N) for N bytes", dump_words},
    described_command{"bf.loadchunk", &load_chunk, "write deny-oom", "write slow", 4, 1,
                      "Restores a filter from its chunks", "O(N) for N bytes", load_words},
};

}  // namespace

std::span<const described_command> bloom_commands() noexcept {
  return all_bloom_commands;
}

}  // namespace everseen::redis_module
