#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/core/redisbloom/bloom_request.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/core/spec/window.hpp"

#include "module/commands/command.hpp"
#include "module/commands/command_table.hpp"
#include "module/commands/filter_key.hpp"
#include "module/commands/packed_batch.hpp"
#include "module/server/counters.hpp"

namespace everseen::redis_module {

namespace {

constexpr int first_option = 4;

/// The words of a call: items of one time.
struct item_call {
  std::optional<std::int64_t> time_ms{};
  std::span<api::string*> items;
};

/// @throws bad_word
item_call read_items(api::string** words, int count) {
  item_call call{{}, {words + 2, static_cast<std::size_t>(count) - 2}};
  if (is_word(text_of(words[2]), "TIME")) {
    if (count <= first_option) throw bad_word{"ERR TIME needs milliseconds since 1970, and items after it"};
    call.time_ms =
        number_of<std::int64_t>(words[3], "ERR the time is not a number of milliseconds since 1970");
    call.items = call.items.subspan(2);
  }
  if (call.items.size() > most_digests) throw bad_word{"ERR more than 65536 items in a call"};
  return call;
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
        refusals[i] = std::string("UNFIT ") + e.what();
      }
    }
    verdicts.resize(digests.size());
  }

  std::vector<digest> digests{};
  std::vector<verdict> verdicts{};
  std::vector<std::string> refusals;  // of each item; empty: it has a verdict
};

/// The slice of the call's time, or of the server's clock.
window::slice_index slice_of(const filter_value& filter, std::int64_t time_ms) {
  if (!filter.get_spec().window) return window::timeless;
  return window::slice_at(*filter.get_spec().window, event_time(std::chrono::milliseconds(time_ms)));
}

int reply_with_verdicts(api::context* ctx, const sorted_items& all, growth_kind growth, verdict yes) {
  api::reply_with_array(ctx, static_cast<long>(all.refusals.size()));
  auto next = all.verdicts.begin();
  for (const std::string& refusal : all.refusals) {
    if (!refusal.empty()) {
      api::reply_with_error(ctx, refusal.c_str());
      continue;
    }
    const verdict each = *next++;
    if (each == verdict::unknown)
      api::reply_with_error(ctx,
                            growth == growth_kind::refuse
                                ? "FULL the filter has no room for this item, and was created without growth"
                                : "FULL the filter cannot grow further");
    else if (each == verdict::late)
      api::reply_with_error(ctx, "LATE the window has moved beyond the time of this item");
    else
      api::reply_with_integer(ctx, each == yes ? 1 : 0);
  }
  return api::ok;
}

/// Items whose time is the server's clock go to replicas with that time: theirs is another one.
void replicate(api::context* ctx, const filter_value& filter, const item_call& call, api::string* key,
               std::int64_t time_ms) {
  if (!filter.get_spec().window || call.time_ms) {
    api::replicate_verbatim(ctx);
    return;
  }
  api::replicate(ctx, "EVERSEEN.ADD", "sclv", key, "TIME", static_cast<long long>(time_ms), call.items.data(),
                 call.items.size());
}

/// @throws bad_word
spec_request request_of(api::string** words, int count) {
  const std::vector<std::string_view> reserve = {text_of(words[0]), text_of(words[1]), text_of(words[2]),
                                                 text_of(words[3])};
  spec_request request = redisbloom::parse_reserve(reserve).spec;
  request.partitions = 1;
  std::optional<std::uint32_t> slices;
  for (int i = first_option; i < count; i += 2) {
    const std::string_view option = text_of(words[i]);
    if (i + 1 == count) throw bad_word{"ERR an option without its value"};
    if (is_word(option, "WINDOW"))
      request.window = window_spec{std::chrono::milliseconds(
          number_of<std::int64_t>(words[i + 1], "ERR the window is not a number of milliseconds"))};
    else if (is_word(option, "SLICES"))
      slices = number_of<std::uint32_t>(words[i + 1], "ERR the slices are not a number");
    else
      throw bad_word{"ERR the options are WINDOW and SLICES"};
  }
  if (request.window && request.window->width.count() < 1)
    throw bad_word{"ERR the window is not a number of milliseconds"};
  if (slices == 0U) throw bad_word{"ERR the slices are not a number"};
  if (slices && !request.window) throw bad_word{"ERR slices are of a window: give WINDOW, too"};
  if (slices) request.window->slices = *slices;
  return request;
}

}  // namespace

int reserve_value(api::context* ctx, api::string** words, int count) {
  if (count < first_option) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    try {
      const spec s = make_spec(request_of(words, count));
      filter_key key(ctx, words[1], api::read_key | api::write_key);
      if (key.get() != nullptr) throw bad_word{"ERR item exists"};
      const std::uint64_t first = growth::plan_layer(s, 0).shape.bytes;  // which is made with the first key
      must_fit(ctx, first, 0);
      key.make(ctx, std::make_unique<filter_value>(s));
      key.end(ctx, nullptr);
      return api::reply_with_simple_string(ctx, "OK");
    } catch (const redisbloom::bloom_refusal& why) {
      return api::reply_with_error(ctx, why.text.c_str());
    }
  });
}

int add_values(api::context* ctx, api::string** words, int count) {
  if (count < 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const item_call call = read_items(words, count);
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    filter_value& filter = key.filter_or_gone();
    must_accept(filter);
    sorted_items all(filter, call.items);
    const std::int64_t time_ms = call.time_ms.value_or(api::milliseconds());
    const slice_batch keys{all.digests, all.verdicts, slice_of(filter, time_ms)};
    must_fit_window(ctx, filter.get_spec(), keys);
    prepare(ctx, filter, keys);
    const bool has_changed = filter.add(keys);
    counters::all().note_added(all.verdicts);
    if (has_changed) replicate(ctx, filter, call, words[1], time_ms);
    reply_with_verdicts(ctx, all, filter.get_spec().growth, verdict::fresh);
    key.end(ctx, has_changed ? "everseen.add" : nullptr);
    return api::ok;
  });
}

int check_values(api::context* ctx, api::string** words, int count) {
  if (count < 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const item_call call = read_items(words, count);
    const filter_key key(ctx, words[1], api::read_key);
    const filter_value& filter = key.filter_or_gone();
    sorted_items all(filter, call.items);
    const std::int64_t time_ms = call.time_ms.value_or(api::milliseconds());
    const slice_batch keys{all.digests, all.verdicts, slice_of(filter, time_ms)};
    must_fit_window(ctx, filter.get_spec(), keys);
    filter.check(keys);
    counters::all().note_checked(all.verdicts);
    return reply_with_verdicts(ctx, all, filter.get_spec().growth, verdict::seen);
  });
}

}  // namespace everseen::redis_module
