#include "module/commands/plain_commands.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/window.hpp"

#include "module/commands/command.hpp"
#include "module/commands/named_filter.hpp"
#include "module/partition/batch.hpp"
#include "module/server/counters.hpp"
#include "module/server/permission.hpp"

namespace everseen::redis_module {

namespace {

enum class purpose : bool { add, check };

window::slice_index slice_now(const spec& s) {
  if (!s.window) return window::timeless;
  return window::slice_at(*s.window, event_time(std::chrono::milliseconds(api::milliseconds())));
}

/// The filter of a command; replies with an error if there is none.
std::optional<named_filter> filter_of(api::context* ctx, api::string* name) {
  auto f = find_filter(ctx, name);
  if (f) return *std::move(f);
  ++counters::all().refusals;
  api::reply_with_error(ctx, message_of(f.error()).c_str());
  return {};
}

/// Keys sorted by partition, with their results.
///
/// Memory is kept between calls, of which only one runs at a time (command_lock): a batch of a hundred keys
/// costs less than six allocations would.
class sorted_keys {
 public:
  sorted_keys(const named_filter& f, std::span<api::string*> words) : m_(memory_of_all()) {
    hash(f.made->hash, words);
    if (f.spec().partitions > 1) sort(f.spec().partitions);
    m_.now_at.assign(words.size(), nowhere);
    for (std::size_t i = 0; i < m_.from.size(); ++i) m_.now_at[m_.from[i]] = i;
    m_.verdicts.assign(m_.digests.size(), verdict::unknown);
    m_.why_unknown.assign(m_.digests.size(), nullptr);
  }

  /// Calls judge(partition, digests, verdicts) for each partition that has keys; judge returns the message
  /// for keys without a verdict.
  template <typename Judge>
  void for_each_partition(std::uint32_t partitions, Judge judge) {
    const std::span<const digest> digests = m_.digests;
    for (std::size_t from = 0; from < digests.size();) {
      const std::uint32_t number = partition_of(digests[from], partitions);
      std::size_t to = from + 1;
      while (to < digests.size() && partition_of(digests[to], partitions) == number) ++to;
      messages_.push_back(
          judge(number, digests.subspan(from, to - from), std::span(m_.verdicts).subspan(from, to - from)));
      for (; from < to; ++from) m_.why_unknown[from] = &messages_.back();
    }
  }

  /// Calls say(verdict, message) for each key, in the order of the words.
  template <typename Say>
  void for_each_key(Say say) const {
    auto unfit = unfit_.begin();
    for (const std::size_t at : m_.now_at)
      if (at == nowhere)
        say(verdict::unknown, *unfit++);
      else
        say(m_.verdicts[at], *m_.why_unknown[at]);
  }

 private:
  static constexpr std::size_t nowhere = ~std::size_t{0};

  struct memory {
    std::vector<digest> digests, unsorted;
    std::vector<std::size_t> from, now_at;  // original index of each sorted key, and its inverse
    std::vector<verdict> verdicts;
    std::vector<const std::string*> why_unknown;
  };
  static memory& memory_of_all() {
    static memory m;
    return m;
  }

  void hash(const hasher& by, std::span<api::string*> words) {
    m_.digests.clear();
    m_.from.clear();
    for (std::size_t i = 0; i < words.size(); ++i) {
      try {
        m_.digests.push_back(by(text_of(words[i])));
        m_.from.push_back(i);
      } catch (const parameter_error& e) {  // for example not a number, in a Guava filter of numbers
        unfit_.push_back(std::string("UNFIT ") + e.what());
      }
    }
  }

  /// Stable: keys of one partition keep their order.
  void sort(std::uint32_t partitions) {
    m_.unsorted = m_.digests;
    std::vector<std::size_t>& order = m_.now_at;
    order.resize(m_.digests.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {},
                             [&](std::size_t i) { return partition_of(m_.unsorted[i], partitions); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      m_.digests[i] = m_.unsorted[order[i]];
      order[i] = m_.from[order[i]];
    }
    m_.from.swap(order);
  }

  memory& m_;
  std::deque<std::string> messages_{};
  std::vector<std::string> unfit_{};  // per key without a digest, in order
};

constexpr const char* rebuilding =
    "REBUILDING the filter is being rebuilt; use everseen, or try again when that is done";

/// Why keys of a batch have no verdict.
std::string say_why(const refusal& r) {
  if (!r.asks_for_more()) ++counters::all().refusals;
  return message_of(r);
}

std::string refused(std::string message) {
  ++counters::all().refusals;
  return message;
}

/// Why a key has no room if nothing else stopped it.
std::string say_full(growth_kind growth) {
  return refused(growth == growth_kind::refuse
                     ? "FULL the filter has no room for this key, and was created without growth"
                     : "FULL the filter cannot grow further: a Redis string ends at 512 MiB");
}

std::string check_partition(api::context* ctx, api::string* state, const record& r, bool is_rebuilt,
                            const batch& b) {
  if (const auto stopped = check(ctx, state, r, b)) return say_why(*stopped);
  // Other keys may be in the filter's predecessor or successor, so only `seen` is certain.
  if (is_rebuilt) std::ranges::replace(b.out, verdict::fresh, verdict::unknown);
  counters::all().note_checked(b.out);
  return is_rebuilt ? rebuilding : "";
}

std::string add_to_partition(api::context* ctx, api::string* state, record r, const batch& b,
                             allowance& left) {
  const growth_kind growth = r.spec().growth;
  const progress done = add(ctx, state, std::move(r), b, left);
  counters::all().note_added(b.out);
  if (done.stopped_by) return say_why(*done.stopped_by);
  const bool some_without = std::ranges::find(b.out, verdict::unknown) != b.out.end();
  return some_without ? say_full(growth) : std::string();
}

/// @return the message for keys without a verdict
std::string judge_partition(api::context* ctx, const named_filter& f, std::uint32_t number, purpose what,
                            std::span<const digest> digests, std::span<verdict> out, allowance& left) {
  if (f.partition && *f.partition != number)
    return refused("CROSSPARTITION the key belongs to another partition");
  const value state(ctx, f.state(number));
  if (!user_permissions::of(ctx).on(state.get(), what == purpose::add))
    return say_why({.why = refusal::kind::forbidden, .text = std::string(state.text())});
  auto r = read_record(ctx, state.get());
  if (!r) return say_why(r.error());
  const bool is_rebuilt = f.is_rebuilt || r->sealed;
  const batch b = {slice_now(f.spec()), {}, digests, out};
  if (what == purpose::check) return check_partition(ctx, state.get(), *r, is_rebuilt, b);
  if (is_rebuilt) return refused(rebuilding);
  return add_to_partition(ctx, state.get(), *std::move(r), b, left);
}

int judge_keys(api::context* ctx, api::string** words, int count, purpose what) {
  if (count < 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const std::span keys(words + 2, static_cast<std::size_t>(count) - 2);
    if (keys.size() > most_keys) throw bad_word{"ERR more than 65536 keys in a call"};
    const auto f = filter_of(ctx, words[1]);
    if (!f) return api::ok;
    sorted_keys sorted(*f, keys);
    allowance left(ctx);
    sorted.for_each_partition(f->spec().partitions, [&](auto number, auto digests, auto out) {
      return judge_partition(ctx, *f, number, what, digests, out, left);
    });
    api::reply_with_array(ctx, static_cast<long>(keys.size()));
    const verdict yes = what == purpose::add ? verdict::fresh : verdict::seen;
    sorted.for_each_key([&](verdict v, const std::string& why_unknown) {
      if (v == verdict::unknown)
        api::reply_with_error(ctx, why_unknown.c_str());
      else if (v == verdict::late)
        api::reply_with_error(ctx, "LATE the window has moved beyond the server's clock");
      else
        api::reply_with_integer(ctx, v == yes ? 1 : 0);
    });
    return api::ok;
  });
}

}  // namespace

int add_keys(api::context* ctx, api::string** words, int count) {
  return judge_keys(ctx, words, count, purpose::add);
}

int check_keys(api::context* ctx, api::string** words, int count) {
  return judge_keys(ctx, words, count, purpose::check);
}

}  // namespace everseen::redis_module
