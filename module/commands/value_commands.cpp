#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/digits.hpp"
#include "everseen/core/commands/figures.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/core/partition/rates.hpp"

#include "module/commands/bloom_replies.hpp"
#include "module/commands/command.hpp"
#include "module/commands/command_table.hpp"
#include "module/commands/filter_key.hpp"
#include "module/commands/packed_batch.hpp"
#include "module/value/filter_chunks.hpp"

namespace everseen::redis_module {

namespace {

constexpr std::size_t content_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t most_bytes_read = std::uint64_t{4} << 20;

/// Bytes of an argument of a fixed length.    @throws bad_word
template <std::size_t Size>
std::array<std::uint8_t, Size> fixed_bytes(const api::string* word, const char* message) {
  const std::string_view text = text_of(word);
  std::array<std::uint8_t, Size> bytes{};
  if (text.size() != Size) throw bad_word{message};
  std::memcpy(bytes.data(), text.data(), Size);
  return bytes;
}

/// RedisBloom's type has no place for what only ours has.    @throws bad_word
void must_be_ours(const filter_value& filter) {
  if (filter.is_redisbloom())
    throw bad_word{"ERR the filter is RedisBloom's, which can be neither sealed nor cleared"};
}

/// @throws refused_reply  FULL    @throws parameter_error  they are no siblings
void must_take(const filter_value& filter, std::span<const filter_value* const> siblings) {
  try {
    filter.must_take(siblings);
  } catch (const full_error& e) {
    throw refused_reply{std::string("FULL ") + e.what()};
  }
}

int reply_with_bytes(api::context* ctx, std::span<const std::byte> bytes) {
  return reply_with(ctx, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

/// One segment of EXPLAIN: its name, and the bits of a key.
void reply_with_bits(api::context* ctx, const announced_filter::segment& segment,
                     std::span<const std::byte> bytes, const digest& item) {
  std::array<std::uint64_t, max_layer_probes> positions{};
  const std::size_t count = bit_positions(segment.layer.shape, item, positions);
  api::reply_with_array(ctx, static_cast<long>(1 + count));
  reply_with(ctx, std::to_string(segment.id.slice) + '.' + std::to_string(segment.id.layer));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t p = positions[i];
    const bool is_set = (std::to_integer<unsigned>(bytes[p / 8]) & (0x80U >> (p % 8))) != 0;
    reply_with(ctx, "bit " + std::to_string(p) + (is_set ? ": 1" : ": 0"));
  }
}

/// Makes the filter of a header.
/// @return whether something changed: EVERSEEN.LOADCHUNK may come again, as its first reply may be lost
bool load_header(api::context* ctx, filter_key& key, std::span<const std::byte> header, load_rules rules) {
  // RedisBloom's are of another type, which another module may have.
  if (rules == load_rules::own && !image::is_chunk_header(header))
    throw bad_word{"ERR not the header of a filter of everseen's type; BF.LOADCHUNK takes RedisBloom's"};
  const announced_filter announced = announced_by(header);
  if (rules == load_rules::bloom) must_be_plain(announced.spec);
  if (rules == load_rules::bloom && key.get() != nullptr) throw bad_word{"ERR item exists"};
  if (const filter_value* const there = key.get()) {
    if (there->content() != announced.content)
      throw refused_reply{"COPIED there is another filter, or other content, at this key"};
    return false;
  }
  must_fit(ctx, announced.bit_bytes(), announced.bit_bytes());
  key.make(ctx, std::make_unique<filter_value>(announced));
  return true;
}

bool load_bits(api::context* ctx, filter_key& key, std::int64_t iterator, std::span<const std::byte> bits,
               load_rules rules) {
  filter_value& filter = rules == load_rules::bloom ? key.filter_or_not_found() : key.filter_or_gone();
  if (rules == load_rules::bloom) must_be_plain(filter);
  try {
    if (load_chunk(filter, iterator, bits) == 0) return false;
  } catch (const other_content& e) {
    throw refused_reply{std::string("COPIED ") + e.what()};
  }
  api::replicate_verbatim(ctx);
  return true;
}

}  // namespace

int load_filter(api::context* ctx, api::string** words, int count, load_rules rules) {
  if (count != 4) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const auto iterator =
        number_of<long long>(words[2], rules == load_rules::bloom ? "ERR Second argument must be numeric"
                                                                  : "ERR the iterator is not a number");
    const std::string_view data = text_of(words[3]);
    const auto bytes = std::as_bytes(std::span(data.data(), data.size()));
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    const bool has_changed =
        iterator == 1 ? load_header(ctx, key, bytes, rules) : load_bits(ctx, key, iterator, bytes, rules);
    const char* const event = rules == load_rules::bloom ? "bf.loadchunk" : "everseen.loadchunk";
    key.end(ctx, has_changed ? event : nullptr);
    return api::reply_with_simple_string(ctx, "OK");
  });
}

int load_value(api::context* ctx, api::string** words, int count) {
  return load_filter(ctx, words, count, load_rules::own);
}

int show_state(api::context* ctx, api::string** words, int count) {
  if (count != 2) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const filter_key key(ctx, words[1], api::read_key);
    const filter_value& filter = key.filter_or_gone();
    std::array<std::byte, content_bytes> content;
    store_le(content.data(), static_cast<std::uint64_t>(filter.content()));
    api::reply_with_array(ctx, 3);
    reply_with_bytes(ctx, image::encode_chunk_header(filter.announced()));
    reply_with_bytes(ctx, filter.successor() ? std::as_bytes(std::span(*filter.successor()))
                                             : std::span<const std::byte>());
    return reply_with_bytes(ctx, content);
  });
}

int read_bits(api::context* ctx, api::string** words, int count) {
  if (count != 6) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const auto slice = number_of<window::slice_index>(words[2], "ERR the slice is not a number");
    const auto layer = number_of<std::uint32_t>(words[3], "ERR the layer is not a number");
    const auto offset = number_of<std::uint64_t>(words[4], "ERR the offset is not a number");
    const auto bytes = number_of<std::uint64_t>(words[5], "ERR the bytes are not a number");
    if (bytes > most_bytes_read) throw bad_word{"ERR more than 4 MiB in a call"};
    const filter_key key(ctx, words[1], api::read_key);
    filter_value& filter = key.filter_or_gone();
    const std::span<const std::byte> segment = filter.bits_of({filter.number(), slice, layer});
    if (segment.empty()) throw refused_reply{"NOSEGMENT the filter has no such segment"};
    const std::uint64_t begin = std::min<std::uint64_t>(offset, segment.size());
    return reply_with_bytes(ctx,
                            segment.subspan(begin, std::min<std::uint64_t>(bytes, segment.size() - begin)));
  });
}

int seal_value(api::context* ctx, api::string** words, int count) {
  if (count != 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const auto successor =
        fixed_bytes<sizeof(successor_id)>(words[2], "ERR a successor is the 16 bytes of a filter's id");
    if (successor == successor_id{}) throw bad_word{"ERR a successor is the 16 bytes of a filter's id"};
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    filter_value& filter = key.filter_or_gone();
    must_be_ours(filter);
    if (filter.successor() != successor) must_accept(filter);
    filter.seal(successor);
    api::replicate_verbatim(ctx);
    key.end(ctx, "everseen.seal");
    return api::reply_with_simple_string(ctx, "OK");
  });
}

int clear_value(api::context* ctx, api::string** words, int count) {
  if (count != 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const auto bytes = fixed_bytes<content_bytes>(words[2], "ERR a content is 8 bytes");
    const content_id content{load_le64(std::as_bytes(std::span(bytes)).data())};
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    filter_value& filter = key.filter_or_gone();
    must_be_ours(filter);
    const bool is_done = filter.content() == content;
    if (!is_done) {
      must_accept(filter);
      filter.clear(content);
    }
    // A repeated call also writes, so that a WAIT after it waits for the first one.
    api::replicate_verbatim(ctx);
    key.end(ctx, is_done ? nullptr : "everseen.clear");
    return api::reply_with_simple_string(ctx, "OK");
  });
}

int extend_value(api::context* ctx, api::string** words, int count) {
  if (count != 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const auto slice = number_of<window::slice_index>(words[2], "ERR the slice is not a number");
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    filter_value& filter = key.filter_or_gone();
    must_accept(filter);
    if (!filter.get_spec().window) throw bad_word{"ERR the filter has no window"};
    must_fit_window(ctx, filter.get_spec(), {.digests = {}, .out = {}, .slice = slice});
    const std::vector<std::uint64_t> layers = filter.layers_to_extend(slice);
    if (!layers.empty()) must_fit(ctx, filter.bit_bytes(), layers);
    filter.prepare(layers);
    const bool has_changed = filter.extend(slice);
    api::replicate_verbatim(ctx);  // as EVERSEEN.CLEAR
    key.end(ctx, has_changed ? "everseen.extend" : nullptr);
    return api::reply_with_simple_string(ctx, "OK");
  });
}

/// A replica merges the same values again, as with BF.MERGE. A repeated call also writes, as EVERSEEN.CLEAR.
int merge_value(api::context* ctx, api::string** words, int count) {
  if (count != 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    std::optional<filter_key> source(std::in_place, ctx, words[2], api::read_key);
    const std::array<const filter_value*, 1> siblings = {&source->filter_or_not_found()};
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    filter_value& filter = key.filter_or_gone();
    must_accept(filter);
    if (siblings.front()->number() != filter.number())
      throw refused_reply{"CROSSPARTITION the source is another partition"};
    if (!repeats_a_decision(ctx)) must_take(filter, siblings);
    const std::vector<std::uint64_t> layers = filter.layers_to_merge(siblings);
    if (!layers.empty()) must_fit(ctx, filter.bit_bytes(), layers);
    filter.prepare(layers);
    const bool has_changed = filter.merge(siblings);
    api::replicate_verbatim(ctx);
    source.reset();
    key.end(ctx, has_changed ? "everseen.merge" : nullptr);
    return api::reply_with_simple_string(ctx, "OK");
  });
}

int show_value(api::context* ctx, api::string** words, int count) {
  if (count != 2) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const filter_key key(ctx, words[1], api::read_key);
    const filter_value& filter = key.filter_or_not_found();
    const spec& s = filter.get_spec();
    std::vector<commands::figure> figures =
        commands::figures_of(text_of(words[1]), s,
                             {filter.state().keys(), filter.bit_bytes(), filter.allocations() - 1,
                              error_rate_now(s, filter.state())});
    if (s.partitions > 1) figures.emplace_back("partition", std::uint64_t{filter.number()});
    if (filter.successor()) figures.emplace_back("successor", hex_of(*filter.successor()));
    return reply_with_figures(ctx, figures);
  });
}

int explain_item(api::context* ctx, api::string** words, int count) {
  if (count != 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const filter_key key(ctx, words[1], api::read_key);
    filter_value& filter = key.filter_or_not_found();
    const digest item = filter.hash()(text_of(words[2]));
    if (partition_of(item, filter.get_spec().partitions) != filter.number())
      throw refused_reply{"CROSSPARTITION the key belongs to another partition"};
    const announced_filter all = filter.announced();
    api::reply_with_array(ctx, static_cast<long>(all.segments.size()));
    for (std::size_t i = 0; i < all.segments.size(); ++i)
      reply_with_bits(ctx, all.segments[i], filter.bits(i), item);
    return api::ok;
  });
}

}  // namespace everseen::redis_module
