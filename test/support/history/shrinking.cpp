#include "test/support/history/shrinking.hpp"

#include <algorithm>
#include <set>

#include "test/support/history/key_history.hpp"

namespace everseen::test::history {

namespace {

bool makes_a_handle(const operation& o) {
  return o.ended == outcome::done &&
         (o.kind == action::open || o.kind == action::create || o.kind == action::begin);
}

class shrinking {
 public:
  shrinking(record all, int key, const exceptions& allowed)
      : left_(std::move(all)), key_(key), allowed_(allowed) {}

  void run() {
    end_early();
    for (std::size_t i = left_.size(); i-- > 0;) weaken(i);
    std::erase_if(left_, [&](const operation& o) { return !concerns_key(o); });
  }

  [[nodiscard]] std::string text() const {
    std::set<std::int64_t> used;
    for (const operation& o : left_)
      if (o.ended != outcome::lost) used.insert(o.handle);
    std::vector<const operation*> shown;
    for (const operation& o : left_)
      if (o.ended != outcome::lost && (o.kind != action::open || used.contains(o.number) || matters(o)))
        shown.push_back(&o);
    std::string lines;
    for (const operation* o : shown) lines += to_text(*o, shown.front()->call) + '\n';
    return lines + "(" + std::to_string(left_.size() - shown.size()) +
           " other operations do not explain it, whether they happened or not)";
  }

 private:
  [[nodiscard]] bool contradicts(const record& some) const {
    return key_history(some, key_, allowed_).search().is == judgement::contradictory;
  }

  /// An order of a history is one of each of its beginnings, where what has not returned is lost.
  [[nodiscard]] record until(moment last) const {
    record some;
    for (operation o : left_) {
      if (o.call > last) continue;
      if (o.back > last) {
        doubt(o);
        o.back = never;
      }
      some.push_back(std::move(o));
    }
    return some;
  }

  /// It happened between its call and its return, or never.
  static void doubt(operation& o) {
    o.ended = outcome::lost;
    for (asked_key& k : o.keys) k.answer = verdict::unknown;
  }

  void end_early() {
    std::vector<moment> returns;
    for (const operation& o : left_)
      if (o.back != never) returns.push_back(o.back);
    std::ranges::sort(returns);
    const auto first =
        std::ranges::partition_point(returns, [&](moment m) { return !contradicts(until(m)); });
    if (first != returns.end()) left_ = until(*first);
  }

  [[nodiscard]] bool concerns_key(const operation& o) const {
    if (o.kind == action::open && o.ended == outcome::lost) return false;
    const bool has_key = std::ranges::any_of(o.keys, [&](const asked_key& k) { return k.key == key_; });
    return has_key || (o.keys.empty() && o.ended != outcome::refused);
  }

  /// Only what makes a handle that others use must stay.
  [[nodiscard]] bool is_used(const operation& o) const {
    return makes_a_handle(o) &&
           std::ranges::any_of(left_, [&](const operation& other) { return other.handle == o.number; });
  }

  /// Whether there is no contradiction without a handle that no operation with an answer uses.
  [[nodiscard]] bool matters(const operation& opening) const {
    record rest = left_;
    std::erase_if(
        rest, [&](const operation& o) { return o.number == opening.number || o.handle == opening.number; });
    return !contradicts(rest);
  }

  void weaken(std::size_t i) {
    if (left_[i].ended == outcome::lost || is_used(left_[i])) return;
    record weaker = left_;
    doubt(weaker[i]);
    if (!contradicts(weaker)) return;
    left_ = std::move(weaker);
  }

  record left_;
  int key_;
  exceptions allowed_;
};

}  // namespace

std::string smallest_contradiction(const record& all, int key, const exceptions& allowed) {
  shrinking one(all, key, allowed);
  one.run();
  return one.text();
}

}  // namespace everseen::test::history
