#include "test/support/history/key_history.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace everseen::test::history {

namespace {

/// A history of one key that needs more has too many concurrent operations.
constexpr std::size_t most_configurations = 50'000;

bool has_keys(action kind) {
  return kind == action::add || kind == action::check || kind == action::claim;
}

bool happens(const operation& o, action kind) {
  return o.kind == kind && (o.ended == outcome::done || o.ended == outcome::lost);
}

/// Whether another client may have stopped a creation, a reset or a rebuild after its first steps.
bool may_have_begun(const operation& o, const record& all) {
  if (o.kind != action::create && o.kind != action::reset && o.kind != action::begin) return false;
  return std::ranges::any_of(all, [&](const operation& other) {
    const bool stops = happens(other, action::drop) || happens(other, action::expire) ||
                       happens(other, o.kind == action::begin ? action::reset : action::begin);
    return stops && other.call <= o.back && other.back >= o.call;
  });
}

/// Operations that change nothing if nothing is known of their answers.
bool only_looks(action kind) {
  return kind == action::open || kind == action::check;
}

/// Operations that change no state. Where such a one is possible it can happen immediately: that makes no
/// difference to any other.
bool never_changes(const key_operation& o) {
  return o.only_looks || o.from->ended == outcome::absent || o.from->ended == outcome::taken;
}

/// The calls and returns of a history in the order of time, as a list from which operations are taken out and
/// put back.
class timeline {
 public:
  explicit timeline(const std::vector<key_operation>& all)
      : entries_(1), calls_(all.size()), returns_(all.size()) {
    struct point {
      moment time;
      bool is_return;
      std::size_t number;
    };
    std::vector<point> points;
    for (std::size_t i = 0; i < all.size(); ++i) {
      points.push_back({all[i].call, false, i});
      if (all[i].back != never) points.push_back({all[i].back, true, i});
    }
    std::ranges::sort(points, {}, [](const point& p) { return std::tuple(p.time, p.is_return, p.number); });
    for (const point& p : points) {
      const std::size_t place = entries_.size();
      entries_.push_back({p.number, p.is_return, place - 1, 0});
      entries_[place - 1].next = place;
      (p.is_return ? returns_ : calls_)[p.number] = place;
    }
  }

  struct entry {
    std::size_t number = 0;
    bool is_return = false;
    std::size_t previous = 0;
    std::size_t next = 0;  // 0: the end
  };
  [[nodiscard]] const entry& operator[](std::size_t place) const { return entries_[place]; }
  [[nodiscard]] std::size_t first() const { return entries_[0].next; }
  [[nodiscard]] std::size_t call_of(std::size_t number) const { return calls_[number]; }

  void take_out(std::size_t number) {
    unlink(calls_[number]);
    if (returns_[number] != 0) unlink(returns_[number]);
  }
  void put_back(std::size_t number) {
    if (returns_[number] != 0) relink(returns_[number]);
    relink(calls_[number]);
  }

 private:
  void unlink(std::size_t place) {
    entries_[entries_[place].previous].next = entries_[place].next;
    if (entries_[place].next != 0) entries_[entries_[place].next].previous = entries_[place].previous;
  }
  void relink(std::size_t place) {
    entries_[entries_[place].previous].next = place;
    if (entries_[place].next != 0) entries_[entries_[place].next].previous = place;
  }

  std::vector<entry> entries_;
  std::vector<std::size_t> calls_;
  std::vector<std::size_t> returns_;
};

}  // namespace

key_history::key_history(const record& all, int key, const exceptions& allowed) : allowed_(allowed) {
  std::map<std::int64_t, int> handles;
  std::map<int, int> events;
  for (const operation& o : all) {
    const std::size_t before = operations_.size();
    take(o, key, all);
    for (std::size_t i = before; i < operations_.size(); ++i) {
      key_operation& mine = operations_[i];
      const bool makes = o.kind == action::open || o.kind == action::create || o.kind == action::begin;
      if (makes || o.handle != 0)
        mine.handle = handles.emplace(o.handle != 0 ? o.handle : o.number, static_cast<int>(handles.size()))
                          .first->second;
      if (o.kind == action::create) mine.life = ++lives_;
      for (asked_key& k : mine.keys)
        if (k.event >= 0) k.event = events.emplace(k.event, static_cast<int>(events.size())).first->second;
    }
  }
  handles_ = static_cast<int>(handles.size());
  events_ = static_cast<int>(events.size());
  settle_repeats();
  if (allowed_.whole_in_steps) settle_steps();
  if (allowed_.looks_ahead) look_ahead();
  if (lives_ > 255 || operations_.size() > 65'000) throw std::runtime_error("the history is too long");
}

void key_history::take(const operation& o, int key, const record& all) {
  if (o.ended == outcome::refused && !has_keys(o.kind) &&
      !(allowed_.whole_in_steps && may_have_begun(o, all)))
    return;
  if (o.ended == outcome::lost && only_looks(o.kind) && o.keys.empty()) return;
  key_operation mine{.from = &o,
                     .call = o.call,
                     .back = o.back,
                     .is_lost = o.ended == outcome::lost || o.ended == outcome::refused};
  for (const asked_key& k : o.keys)
    if (k.key == key) mine.keys.push_back(k);
  if (o.kind == action::give && mine.keys.empty()) return;
  if (!has_keys(o.kind)) return operations_.push_back(std::move(mine));
  if (mine.keys.empty()) return;

  const auto unknown = std::ranges::find(mine.keys, verdict::unknown, &asked_key::answer);
  key_operation rest = mine;
  rest.keys.assign(unknown, mine.keys.end());
  rest.is_lost = true;
  mine.keys.erase(unknown, mine.keys.end());
  mine.is_lost = false;
  const bool all_seen =
      std::ranges::all_of(mine.keys, [](const asked_key& k) { return k.answer == verdict::seen; });
  mine.only_looks = o.kind == action::check;
  if (!mine.keys.empty()) {
    if (o.kind == action::add && all_seen) mine.call -= allowed_.stale_seen.count();
    operations_.push_back(std::move(mine));
  }
  if (!rest.keys.empty() && o.ended == outcome::lost && !only_looks(o.kind))
    operations_.push_back(std::move(rest));
}

/// An add that answers seen adds the key only to a rebuild. Beside the beginning of one, a stale seen may be
/// from before it, and then adds nothing. Beside the commit it asks the previous filter first, and adds the
/// key to the new one later. Beside neither it does not matter when it happens.
void key_history::settle_repeats() {
  std::vector<key_operation> additions;
  for (key_operation& o : operations_) {
    const bool all_seen = std::ranges::all_of(
        o.keys, [](const asked_key& k) { return k.answer == verdict::seen && k.event < 0; });
    if (o.from->kind != action::add || o.is_lost || !all_seen) continue;
    const auto is_beside = [&](action kind) {
      return std::ranges::any_of(operations_, [&](const key_operation& other) {
        return other.from->kind == kind && other.call <= o.back && other.back >= o.call;
      });
    };
    const bool is_beside_a_beginning = is_beside(action::begin);
    o.can_happen_at_once = !is_beside_a_beginning;
    const bool may_add_nothing = is_beside_a_beginning && allowed_.stale_seen.count() > 0;
    const bool adds_later = allowed_.whole_in_steps && is_beside(action::commit);
    if (!may_add_nothing && !adds_later) continue;
    additions.push_back(o);
    additions.back().call = o.from->call;
    additions.back().after = static_cast<int>(&o - operations_.data());
    additions.back().can_happen_at_once = false;
    additions.back().is_lost = is_beside_a_beginning;
    for (asked_key& k : additions.back().keys) k.answer = verdict::unknown;
    o.only_looks = true;
  }
  for (key_operation& o : additions) operations_.push_back(std::move(o));
  for (key_operation& o : operations_) o.can_happen_at_once |= never_changes(o);
}

namespace {

bool happens(const key_operation& o, action kind) {
  return happens(*o.from, kind) || (o.from->kind == kind && o.from->ended == outcome::refused);
}

bool overlap(const key_operation& one, const key_operation& other) {
  return &one != &other && other.call <= one.back && other.back >= one.call;
}

/// Whether a name may begin or cease to lead to a filter when an operation uses it.
bool moves_name_of(const key_operation& mover, const key_operation& user) {
  const bool drops = happens(mover, action::drop), renames = happens(mover, action::rename);
  return ((drops || renames) && mover.from->name == user.from->name) ||
         (renames && mover.from->other_name == user.from->name);
}

}  // namespace

/// See exceptions::whole_in_steps.
void key_history::settle_steps() {
  const auto any_of_all = [&](const auto& holds) { return std::ranges::any_of(operations_, holds); };
  const auto finds_first = [&](const key_operation& o) {
    const bool uses_name =
        happens(o, action::reset) || happens(o, action::expire) || happens(o, action::begin);
    return uses_name && any_of_all([&](const key_operation& other) {
             return moves_name_of(other, o) && overlap(o, other);
           });
  };
  const auto is_in_a_rebuild = [&](const key_operation& o) {
    return happens(o, action::reset) && any_of_all([&](const key_operation& other) {
             return happens(other, action::begin) && other.call <= o.back;
           });
  };
  const auto is_beside_such_a_reset = [&](const key_operation& o) {
    return o.from->kind == action::add && !o.is_lost && any_of_all([&](const key_operation& other) {
             return overlap(o, other) && is_in_a_rebuild(other);
           });
  };
  std::vector<key_operation> more;
  for (key_operation& o : operations_) {
    if (finds_first(o)) {
      if (o.handle < 0) o.handle = handles_++;
      more.push_back(o);
      more.back().part = key_operation::part::finding;
      o.part = key_operation::part::doing;
    }
    if (!is_in_a_rebuild(o) && !is_beside_such_a_reset(o)) continue;
    more.push_back(o);
    more.back().is_lost = true;
    more.back().can_happen_at_once = false;
  }
  for (key_operation& o : more) operations_.push_back(std::move(o));
}

/// See exceptions::looks_ahead.
void key_history::look_ahead() {
  for (key_operation& o : operations_) {
    if (o.from->kind != action::check) continue;
    o.may_look_ahead = std::ranges::any_of(operations_, [&](const key_operation& other) {
      const bool adds = other.from->kind == action::add || other.from->kind == action::claim;
      return adds && overlap(o, other);
    });
  }
}

searched key_history::search() const {
  struct step {
    std::size_t number;
    key_state before;
    bool is_final;  // nothing else needs to be tried in its place
  };
  timeline left(operations_);
  key_state state(lives_, handles_, events_);
  std::string done(operations_.size() / 8 + 1, '\0');
  const auto is_done = [&done](int number) {
    return number < 0 || (done[static_cast<std::size_t>(number) / 8] >> (number % 8) & 1) != 0;
  };
  const auto flip = [&done](std::size_t number) {
    done[number / 8] = static_cast<char>(done[number / 8] ^ (1 << (number % 8)));
  };
  std::unordered_set<std::string> known;
  std::vector<step> steps;
  std::size_t missing = 0;
  for (const key_operation& o : operations_) missing += !o.is_lost;

  std::size_t place = left.first();
  /// Goes on from a configuration that is not known yet.
  const auto try_next = [&](std::size_t number, key_state next, bool is_final) {
    flip(number);
    if (!known.insert(done + next.bytes()).second) {
      flip(number);
      return false;
    }
    steps.push_back({number, std::exchange(state, std::move(next)), is_final});
    missing -= !operations_[number].is_lost;
    left.take_out(number);
    place = left.first();
    return true;
  };
  /// @return false  there is no other order to try
  const auto go_back = [&] {
    for (bool was_final = true; was_final;) {
      if (steps.empty()) return false;
      const std::size_t number = steps.back().number;
      was_final = steps.back().is_final;
      state = std::move(steps.back().before);
      steps.pop_back();
      missing += !operations_[number].is_lost;
      flip(number);
      left.put_back(number);
      place = left[left.call_of(number)].next;
    }
    return true;
  };

  while (missing > 0) {
    if (known.size() > most_configurations) return {judgement::undecided, known.size()};
    if (place != 0) {
      const std::size_t number = left[place].number;
      const key_operation& o = operations_[number];
      if (!left[place].is_return) {
        key_state next = state;
        const bool is_possible = is_done(o.after) && next.apply(o, operations_, allowed_);
        const bool changes = is_possible && next != state;
        if (changes && try_next(number, std::move(next), false)) continue;
        if (is_possible && !changes && !o.is_lost) {
          if (try_next(number, std::move(next), o.can_happen_at_once)) continue;
          if (o.can_happen_at_once) {
            if (go_back()) continue;
            return {judgement::contradictory, known.size()};
          }
        }
        // A lost operation that changes nothing may as well not happen.
        place = left[place].next;
        continue;
      }
      if (o.is_lost && try_next(number, state, true)) continue;
    }
    // What has returned can have no later moment, so an earlier operation was given a wrong one.
    if (!go_back()) return {judgement::contradictory, known.size()};
  }
  return {judgement::linearizable, known.size()};
}

}  // namespace everseen::test::history
