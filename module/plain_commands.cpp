#include "module/plain_commands.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/partition_keys.hpp"
#include "everseen/core/window.hpp"

#include "module/batch.hpp"
#include "module/command.hpp"
#include "module/counters.hpp"
#include "module/named_filter.hpp"
#include "module/permission.hpp"

namespace everseen::redis_module {

namespace {

enum class purpose : bool { add, check };

window::slice_index slice_now(const spec& s) {
  if (!s.window) return window::timeless;
  return window::slice_at(*s.window, event_time(std::chrono::milliseconds(api::milliseconds())));
}

/// The filter of a command; answered with an error if there is none.
std::optional<named_filter> filter_of(api::context* ctx, api::string* name) {
  auto f = find_filter(ctx, name);
  if (f) return *std::move(f);
  ++counters::all().refusals;
  api::reply_with_error(ctx, message_of(f.error()).c_str());
  return {};
}

/// Keys sorted by partition, and what became of each.
///
/// Their memory is kept from call to call, of which only one runs at a time: a batch of a hundred keys costs
/// less than six allocations.
class sorted_keys {
 public:
  sorted_keys(const named_filter& f, std::span<api::string*> words) : m_(memory_of_all()) {
    const std::uint32_t partitions = f.spec().partitions;
    m_.digests.resize(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) m_.digests[i] = f.made->hash(text_of(words[i]));
    if (partitions > 1) sort(partitions);
    m_.verdicts.assign(words.size(), verdict::unknown);
    m_.why_unknown.assign(words.size(), nullptr);
    sorted_ = partitions > 1;
  }

  /// Calls judge(partition, digests, verdicts) for each partition that has keys; it gives the message for
  /// those without a verdict.
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
    for (std::size_t i = 0; i < m_.verdicts.size(); ++i) {
      const std::size_t at = sorted_ ? m_.now_at[i] : i;
      say(m_.verdicts[at], *m_.why_unknown[at]);
    }
  }

  [[nodiscard]] std::span<const verdict> verdicts() const noexcept { return m_.verdicts; }

 private:
  struct memory {
    std::vector<digest> digests, unsorted;
    std::vector<std::size_t> from, now_at;  // where a sorted key came from, and where a word's key is
    std::vector<verdict> verdicts;
    std::vector<const std::string*> why_unknown;
  };
  static memory& memory_of_all() {
    static memory m;
    return m;
  }

  void sort(std::uint32_t partitions) {
    const std::size_t keys = m_.digests.size();
    m_.unsorted = m_.digests;
    m_.from.resize(keys);
    m_.now_at.resize(keys);
    std::iota(m_.from.begin(), m_.from.end(), std::size_t{0});
    std::ranges::stable_sort(m_.from, {},
                             [&](std::size_t i) { return partition_of(m_.unsorted[i], partitions); });
    for (std::size_t i = 0; i < keys; ++i) {
      m_.digests[i] = m_.unsorted[m_.from[i]];
      m_.now_at[m_.from[i]] = i;
    }
  }

  memory& m_;
  bool sorted_ = false;
  std::deque<std::string> messages_{};
};

/// Why a partition may not be added to now; empty if it may.
std::string reason_against(const record& r) {
  if (r.held_for.count() > 0) return message_of({.why = refusal::kind::held, .left = r.held_for});
  if (r.has_next || r.closed)
    return "REBUILDING the filter is being rebuilt; add by a client that follows, or try again then";
  return {};
}

/// @return what to say of the keys that have no verdict
std::string judge_partition(api::context* ctx, const named_filter& f, std::uint32_t number, purpose what,
                            std::span<const digest> digests, std::span<verdict> out) {
  if (f.partition && *f.partition != number) return "CROSSPARTITION the key belongs to another partition";
  const value state(ctx, f.state(number));
  if (!user_permissions(ctx).on(state.get(), what == purpose::add))
    return message_of({.why = refusal::kind::forbidden, .text = std::string(state.text())});
  auto r = read_record(ctx, state.get());
  if (!r) return message_of(r.error());
  const batch b = {slice_now(f.spec()), digests, out};
  if (what == purpose::check) {
    const auto done = check(ctx, state.get(), *r, b);
    return done ? std::string() : message_of(done.error());
  }
  if (auto against = reason_against(*r); !against.empty()) return against;
  const auto done = add(ctx, state.get(), *std::move(r), b);
  if (!done) return message_of(done.error());
  return *done < digests.size() ? "GROWING the filter is being enlarged; add the key again"
                                : "FULL the filter has no room for this key, and was made without growth";
}

int judge_keys(api::context* ctx, api::string** words, int count, purpose what) {
  if (count < 3) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const std::span keys(words + 2, static_cast<std::size_t>(count) - 2);
    if (keys.size() > most_keys) throw bad_word{"ERR more than 65536 keys in a call"};
    const auto f = filter_of(ctx, words[1]);
    if (!f) return api::ok;
    sorted_keys sorted(*f, keys);
    sorted.for_each_partition(f->spec().partitions, [&](auto number, auto digests, auto out) {
      return judge_partition(ctx, *f, number, what, digests, out);
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
    if (what == purpose::add)
      counters::all().note_added(sorted.verdicts());
    else
      counters::all().note_checked(sorted.verdicts());
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
