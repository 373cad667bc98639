#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/commands/request.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/core/spec/window.hpp"

#include "module/commands/bloom_replies.hpp"
#include "module/commands/command.hpp"
#include "module/commands/command_table.hpp"
#include "module/commands/filter_key.hpp"
#include "module/commands/packed_batch.hpp"
#include "module/server/counters.hpp"
#include "module/server/settings.hpp"

namespace everseen::redis_module {

namespace {

/// The words of a call: items of one time.
struct item_call {
  std::optional<std::int64_t> time_ms{};
  std::span<api::string*> items;
};

/// @throws refusal  the words are not as the commands are described    @throws bad_word  too many items
item_call read_items(api::string** words, int count) {
  const word_texts texts({words, static_cast<std::size_t>(count)});
  const commands::items read = commands::parse_items(texts.all());
  const std::span<api::string*> all(words, static_cast<std::size_t>(count));
  if (all.size() - read.first > most_digests) throw bad_word{"ERR more than 65536 items in a call"};
  return {read.time_ms, all.subspan(read.first)};
}

/// Items that the value can have, in their order, and why it cannot have the others.
struct sorted_items {
  sorted_items(const filter_value& filter, std::span<api::string*> items) : refusals(items.size()) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      try {
        const digest each = filter.hash()(text_of(items[i]));
        if (partition_of(each, filter.get_spec().partitions) == filter.number())
          digests.push_back(each);
        else
          refusals[i] = "CROSSPARTITION the item belongs to another partition";
      } catch (const parameter_error& e) {  // not a number, in a filter of Guava's for numbers
        refusals[i] = std::string("ERR ") + e.what();
      }
    }
    verdicts.resize(digests.size());
  }

  std::vector<digest> digests{};
  std::vector<verdict> verdicts{};
  std::vector<std::string> refusals;  // of each item; empty: it has a verdict
};

/// The slice of the call's time, or of the server's clock.
/// @throws refusal  a time, and no window    @throws parameter_error  it cannot be meant
window::slice_index slice_of(api::context* ctx, const filter_value& filter, const item_call& call,
                             event_time clock) {
  const auto& w = filter.get_spec().window;
  if (!w && call.time_ms) throw commands::refusal{std::string(commands::no_window)};
  if (!w) return window::timeless;
  if (!call.time_ms) return window::slice_at(*w, clock);
  const std::array<event_time, 1> given = {event_time(std::chrono::milliseconds(*call.time_ms))};
  if (!repeats_a_decision(ctx)) window::must_be_plausible(*w, given, clock);
  return window::slice_at(*w, given.front());
}

int reply_with_verdicts(api::context* ctx, const sorted_items& all, growth_kind growth) {
  api::reply_with_array(ctx, static_cast<long>(all.refusals.size()));
  auto next = all.verdicts.begin();
  for (const std::string& refusal : all.refusals) {
    if (!refusal.empty()) {
      api::reply_with_error(ctx, refusal.c_str());
      continue;
    }
    const verdict each = *next++;
    if (each == verdict::unknown)
      api::reply_with_error(ctx, text_without_room(growth));
    else
      api::reply_with_simple_string(ctx, to_string(each).data());
  }
  return api::ok;
}

/// Items whose time is the server's clock go to replicas with that time: theirs is another one.
void replicate(api::context* ctx, const filter_value& filter, const item_call& call, api::string* key,
               event_time clock) {
  if (!filter.get_spec().window || call.time_ms) {
    api::replicate_verbatim(ctx);
    return;
  }
  api::replicate(ctx, "EVERSEEN.ADD", "sclcv", key, "TIME",
                 static_cast<long long>(clock.time_since_epoch().count()), "ITEMS", call.items.data(),
                 call.items.size());
}

event_time server_clock() {
  return event_time(std::chrono::milliseconds(api::milliseconds()));
}

}  // namespace

int reserve_value(api::context* ctx, api::string** words, int count) {
  return guarded(ctx, [&]() -> int {
    const word_texts texts({words, static_cast<std::size_t>(count)});
    spec_request request = commands::parse_reserve(texts.all()).spec;
    request.partitions = 1;
    const spec s = make_spec(request);
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    if (key.get() != nullptr) throw bad_word{"ERR item exists"};
    const std::uint64_t first = growth::plan_layer(s, 0).shape.bytes;  // which is made with the first key
    must_fit(ctx, first, 0);
    key.make(ctx, std::make_unique<filter_value>(s));
    key.end(ctx, nullptr);
    return api::reply_with_simple_string(ctx, "OK");
  });
}

int add_values(api::context* ctx, api::string** words, int count) {
  if (count < 4) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const item_call call = read_items(words, count);
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    filter_value& filter = key.filter_or_not_found();
    must_accept(filter);
    sorted_items all(filter, call.items);
    const event_time clock = server_clock();
    const slice_batch keys{all.digests, all.verdicts, slice_of(ctx, filter, call, clock)};
    prepare(ctx, filter, keys);
    const bool has_changed = filter.add(keys);
    counters::all().note_added(all.verdicts);
    if (has_changed) replicate(ctx, filter, call, words[1], clock);
    reply_with_verdicts(ctx, all, filter.get_spec().growth);
    key.end(ctx, has_changed ? "everseen.add" : nullptr);
    return api::ok;
  });
}

int check_values(api::context* ctx, api::string** words, int count) {
  if (count < 4) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const item_call call = read_items(words, count);
    const filter_key key(ctx, words[1], api::read_key);
    const filter_value& filter = key.filter_or_not_found();
    sorted_items all(filter, call.items);
    const slice_batch keys{all.digests, all.verdicts, slice_of(ctx, filter, call, server_clock())};
    filter.check(keys);
    counters::all().note_checked(all.verdicts);
    return reply_with_verdicts(ctx, all, filter.get_spec().growth);
  });
}

}  // namespace everseen::redis_module
