#include "module/commands/command_table.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "everseen/core/hash/digest.hpp"

namespace everseen::redis_module {

namespace api = module_api;

namespace {

constexpr auto reserve_value_words = [] {
  constexpr std::array before_hashes = {key_argument("key"),
                                        text_argument("error_rate"),
                                        number_argument("capacity"),
                                        number_argument("window", api::argument_optional, "WINDOW"),
                                        number_argument("slices", api::argument_optional, "SLICES"),
                                        switch_argument("nonscaling", "NONSCALING")};
  constexpr auto hashes = std::ranges::count_if(all_hashes, &hash_facts::may_be_asked);
  std::array<api::argument, before_hashes.size() + static_cast<std::size_t>(hashes)> all{};
  std::ranges::copy(before_hashes, all.begin());
  auto end = all.end();
  for (const hash_facts& f : all_hashes)
    if (f.may_be_asked()) *--end = switch_argument(f.name, f.word);
  return all;
}();
constexpr std::array time_items_words = {key_argument("key"),
                                         number_argument("time", api::argument_optional, "TIME"),
                                         text_argument("item", api::argument_repeats, "ITEMS")};
constexpr std::array explain_words = {key_argument("key"), text_argument("item")};

constexpr const char* each_key = "O(N) for N keys: a cache miss or two each";

constexpr std::array add_packed_words = {key_argument("key"),
                                         key_argument("token", 1),
                                         number_argument("slice"),
                                         text_argument("sequence"),
                                         number_argument("life"),
                                         text_argument("digests"),
                                         text_argument("offsets", api::argument_optional),
                                         text_argument("fingerprint", api::argument_optional)};
constexpr std::array check_packed_words = {
    key_argument("key"), number_argument("slice"), text_argument("digests"),
    text_argument("offsets", api::argument_optional), text_argument("fingerprint", api::argument_optional)};
constexpr std::array claim_packed_words = {
    key_argument("key"),
    key_argument("records", 1),
    text_argument("lane"),
    text_argument("head"),
    number_argument("forgotten"),
    number_argument("slice"),
    text_argument("digests"),
    text_argument("offsets"),
    text_argument("fingerprint"),
    text_argument("positions"),
    number_argument("counters"),
    text_argument("places"),
    text_argument("name", api::argument_repeats | api::argument_optional)};
constexpr std::array key_word = {key_argument("key")};
constexpr std::array chunk_words = {key_argument("key"), number_argument("iterator"), text_argument("data")};
constexpr std::array read_words = {key_argument("key"), number_argument("slice"), number_argument("layer"),
                                   number_argument("offset"), number_argument("bytes")};
constexpr std::array seal_words = {key_argument("key"), text_argument("successor")};
constexpr std::array clear_words = {key_argument("key"), text_argument("content")};
constexpr std::array merge_value_words = {key_argument("key"), key_argument("source", 1)};
constexpr std::array extend_words = {key_argument("key"), number_argument("slice")};

constexpr std::array commands = {
    described_command{"everseen.addpacked", &add_packed, "write deny-oom", "write slow", -7, 2,
                      "Judges packed digests and adds the fresh ones to a filter", each_key,
                      add_packed_words},
    described_command{"everseen.checkpacked", &check_packed, "readonly", "read slow", -4, 1,
                      "Judges packed digests", each_key, check_packed_words},
    described_command{"everseen.claimpacked", &claim_packed, "write deny-oom", "write slow", -13, 2,
                      "Judges events of a job, adds and counts the fresh ones, and remembers which they were",
                      "O(N) for N events, fresh ones not settled, and counters", claim_packed_words},
    described_command{"everseen.loadchunk", &load_value, "write deny-oom", "write slow", 4, 1,
                      "Makes a filter of its chunks", "O(N) for N bytes", chunk_words},
    described_command{"everseen.state", &show_state, "readonly", "read slow", 2, 1,
                      "Returns the header of a filter's chunks, its successor and its content",
                      "O(S) for S segments", key_word},
    described_command{"everseen.read", &read_bits, "readonly", "read slow", 6, 1, "Returns bits of a segment",
                      "O(N) for N bytes", read_words},
    described_command{"everseen.seal", &seal_value, "write", "write fast", 3, 1,
                      "Ends the adding of keys to a filter that has a successor", "O(1)", seal_words},
    described_command{"everseen.clear", &clear_value, "write", "write slow", 3, 1,
                      "Removes every key of a filter", "O(S) for S segments", clear_words},
    described_command{"everseen.extend", &extend_value, "write deny-oom", "write slow", 3, 1,
                      "Moves the window of a filter", "O(S) for S segments", extend_words},
    described_command{"everseen.merge", &merge_value, "write deny-oom", "write slow", 3, -1,
                      "Adds all keys of a filter with the same properties and seed to a filter",
                      "O(N) for N bytes of the source", merge_value_words},
    described_command{"everseen.reserve", &reserve_value, "write deny-oom", "write fast", -4, 1,
                      "Creates a filter, which may have a window", "O(1)", reserve_value_words},
    described_command{"everseen.add", &add_values, "write deny-oom", "write slow", -4, 1,
                      "Adds items to a filter: each is fresh, seen or late", each_key, time_items_words},
    described_command{"everseen.check", &check_values, "readonly", "read slow", -4, 1,
                      "Looks items up in a filter: each is fresh, seen or late", each_key, time_items_words},
    described_command{"everseen.info", &show_value, "readonly", "read slow", 2, 1,
                      "Shows the properties and the fill of a filter", "O(S) for S segments", key_word},
    described_command{"everseen.explain", &explain_item, "readonly", "read slow", 3, 1,
                      "Shows the bits of an item in a filter, and whether they are set",
                      "O(S) for S segments", explain_words},
};

api::key_spec key_spec_at(int position, int last, bool is_written) {
  api::key_spec one{};
  one.flags = is_written ? api::key_is_changed | api::key_access | api::key_update
                         : api::key_is_read | api::key_access;
  one.begin_search = api::search_by_index;
  one.begin.position = position;
  one.find_keys = api::find_range;
  one.range = {last, 1, 0};
  return one;
}

/// One per key, since keys may have different permissions.
std::vector<api::key_spec> key_specs(const described_command& c) {
  std::vector<api::key_spec> all;
  if (c.keys < 0) all = {key_spec_at(1, 0, c.writes()), key_spec_at(2, -1, false)};
  for (int position = 1; position <= c.keys; ++position) all.push_back(key_spec_at(position, 0, c.writes()));
  all.push_back({});  // terminator
  return all;
}

/// With a category of ours, where the server takes any: an ACL file that names it would not be loaded else.
std::string categories_of(api::context* ctx, const described_command& c, const char* own_category) {
  std::string all = c.categories;
  if (own_category == nullptr || api::add_acl_category == nullptr) return all;
  errno = 0;
  const bool has_it = api::add_acl_category(ctx, own_category) == api::ok || errno == EBUSY;
  return has_it ? all + ' ' + own_category : all;
}

void describe(api::context* ctx, const described_command& c, const char* own_category) {
  if (api::get_command == nullptr || api::set_command_info == nullptr) return;
  api::command* const made = api::get_command(ctx, c.name);
  if (made == nullptr) return;
  static const api::info_version version = {1, sizeof(api::history_entry), sizeof(api::key_spec),
                                            sizeof(api::argument)};
  std::vector<api::key_spec> specs = key_specs(c);
  std::vector<api::argument> arguments(c.arguments.begin(), c.arguments.end());
  arguments.push_back({});  // terminator
  const api::command_info info = {.version = &version,
                                  .summary = c.summary,
                                  .complexity = c.complexity,
                                  .since = EVERSEEN_VERSION,
                                  .arity = c.arity,
                                  .key_specs = specs.data(),
                                  .arguments = arguments.data()};
  (void)api::set_command_info(made, &info);  // on failure, the server only shows less
  if (api::set_command_categories != nullptr)
    (void)api::set_command_categories(made, categories_of(ctx, c, own_category).c_str());
}

}  // namespace

std::span<const described_command> all_commands() noexcept {
  return commands;
}

bool introduce(api::context* ctx, const described_command& c, const char* own_category) {
  if (api::create_command(ctx, c.name, c.run, c.flags, 1, c.keys, 1) != api::ok) return false;
  describe(ctx, c, own_category);
  return true;
}

}  // namespace everseen::redis_module
