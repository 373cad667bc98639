#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/verdict.hpp"

namespace everseen::redis {

/// Derives from the answers of clients which keys must be, may be and cannot be in a filter; and whether
/// these answers can be those of one set.
///
/// Keys are numbers. Time counts started calls. Calls may overlap.
class exact_set {
 public:
  using moment = std::uint64_t;

  /// A call about consecutive keys.
  struct call {
    std::size_t from;
    std::size_t count;
    bool adds;
    moment began;
    moment knew;  ///< its client knows of resets and restarts before that
    std::uint64_t epoch;
    std::vector<bool> was_in{}, was_out{};
  };

  explicit exact_set(std::size_t keys) : keys_(keys) {}

  [[nodiscard]] moment now() const noexcept { return current_; }

  /// @param knew  irrelevant for look-ups: they ask
  std::list<call>::iterator begin(std::size_t from, std::size_t count, bool adds, moment knew) {
    ++current_;
    call c{.from = from,
           .count = count,
           .adds = adds,
           .began = current_,
           .knew = adds ? knew : current_,
           .epoch = epoch_};
    for (std::size_t i = from; i < from + count; ++i) {
      c.was_in.push_back(keys_[i].is == state::in);
      c.was_out.push_back(keys_[i].is == state::out);
    }
    under_way_.push_back(std::move(c));
    mark(under_way_.back());
    return std::prev(under_way_.end());
  }

  /// Checks answers and derives the state from them.
  void end(std::list<call>::iterator it, std::span<const verdict> answers) {
    const call c = std::move(*it);
    under_way_.erase(it);
    ++current_;
    for (std::size_t i = 0; i < c.count; ++i) {
      key& k = keys_[c.from + i];
      if (answers[i] == verdict::fresh) take_fresh(c, k, c.was_in[i]);
      if (answers[i] == verdict::seen) take_seen(c, k, c.was_out[i] && is_alone(c, c.from + i));
      if (c.adds) k.touched = current_;
      EXPECT_NE(answers[i], verdict::late);
    }
  }

  /// A filter under construction has these keys, whatever its linked filters have.
  void note_added(std::size_t from, std::span<const verdict> answers) {
    ++current_;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      key& k = keys_[from + i];
      k.touched = current_;
      if (answers[i] == verdict::unknown) {
        if (k.is == state::out) k.is = state::unsure;
      } else {
        k.is = state::in;
        k.added = current_;
      }
    }
  }

  enum class outcome : std::uint8_t { done, unknown };

  void forget_all(outcome result) {
    forget(result, [](const key&) { return state::out; });
  }
  /// Forgets what is older than a filter that replaces all before.
  /// @param made    when it was started    @param in_use  when the earlier filters got no more keys
  void forget_before(moment made, moment in_use, outcome result) {
    forget(result, [=](const key& k) {
      if (k.is == state::in && k.added > in_use) return state::in;
      return k.touched < made ? state::out : state::unsure;
    });
  }

  [[nodiscard]] bool may_be_in(std::size_t i) const { return keys_[i].is != state::out; }

 private:
  enum class state : std::uint8_t { out, unsure, in };
  struct key {
    state is = state::out;
    bool was_fresh = false;  // a client was told so since the last reset
    moment touched = 0;
    moment added = 0;  // it is in the filter that was in place then
  };

  /// Calls in flight may take effect at any time.
  void mark(const call& c) {
    if (!c.adds) return;
    for (std::size_t i = 0; i < c.count; ++i)
      if (state& is = keys_[c.from + i].is; is == state::out) is = state::unsure;
  }

  /// No other client can have added the key since the call started.
  [[nodiscard]] bool is_alone(const call& c, std::size_t number) const {
    return keys_[number].touched < c.began && std::ranges::none_of(under_way_, [&](const call& other) {
             return other.adds && number - other.from < other.count;
           });
  }

  template <typename Left>
  void forget(outcome result, Left left) {
    ++current_;
    ++epoch_;
    forgotten_ = current_;
    for (key& k : keys_) {
      state after = left(k);
      if (result == outcome::unknown && after != k.is) after = state::unsure;
      if (after != state::in) k.was_fresh = false;
      k.is = after;
    }
    for (const call& c : under_way_) mark(c);
  }

  void take_fresh(const call& c, key& k, bool was_in) {
    if (c.epoch != epoch_) return;  // before everything was forgotten, or after that
    EXPECT_FALSE(was_in) << "a key that is in the set was reported as fresh";
    if (!c.adds) return;
    EXPECT_FALSE(k.was_fresh) << "a key was reported as fresh twice";
    k.is = state::in;
    k.was_fresh = true;
    k.added = std::max(k.added, c.began);
  }

  /// A client that does not know yet that keys were forgotten may report them so.
  void take_seen(const call& c, key& k, bool was_out) {
    if (c.epoch != epoch_ || c.knew < forgotten_) return;
    EXPECT_FALSE(was_out) << "a key that was not added was reported as seen";
    k.is = state::in;
    if (c.adds) k.added = std::max(k.added, c.knew);
  }

  std::vector<key> keys_;
  std::list<call> under_way_{};
  moment current_ = 0;
  moment forgotten_ = 0;
  std::uint64_t epoch_ = 0;
};

}  // namespace everseen::redis
