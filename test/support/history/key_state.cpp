#include "test/support/history/key_state.hpp"

#include <algorithm>

namespace everseen::test::history {

namespace {

// Bits of a life: whether the key was added since the last rebuild began, and before.
constexpr int present = 1;
constexpr int present_before = 2;

// Of an event.
constexpr int not_claimed = 0;
constexpr int was_fresh = 1;
constexpr int was_seen = 2;

moment later(moment m, std::chrono::nanoseconds added) {
  return m > never - added.count() ? never : m + added.count();
}

}  // namespace

key_state::key_state(int lives, int handles, int events)
    : handles_(most_names + bytes_of_life * static_cast<std::size_t>(lives)),
      events_(handles_ + static_cast<std::size_t>(handles)),
      bytes_(events_ + static_cast<std::size_t>(events), '\0') {}

const operation* key_state::noted(std::size_t place, std::span<const key_operation> all) const {
  const std::size_t number = at(place) + 256U * at(place + 1);
  return number == 0 ? nullptr : all[number - 1].from;
}

void key_state::note(std::size_t place, const key_operation& o, std::span<const key_operation> all) {
  const auto number = static_cast<int>(&o - all.data()) + 1;
  set(place, number % 256);
  set(place + 1, number / 256);
}

bool key_state::may_be_named(int name, const key_operation& o, std::span<const key_operation> all) const {
  if (named(name) == 0) return false;
  const operation* const end = end_of(named(name), all);
  return end == nullptr || o.from->call <= later(end->end, clock_error);
}

bool key_state::may_be_free(int name, const key_operation& o, std::span<const key_operation> all) const {
  if (named(name) == 0) return true;
  const operation* const end = end_of(named(name), all);
  return end != nullptr && later(o.back, clock_error) >= end->end;
}

/// A handle's filter: it has a name, is being dropped, or has ended too short ago to be known.
bool key_state::may_use(int life, const key_operation& o, std::span<const key_operation> all,
                        const exceptions& allowed) const {
  if (life == 0) return false;
  const operation* const end = end_of(life, all);
  const operation* const drop = drop_of(life, all);
  if (end != nullptr && end->end != never) {
    const moment known = std::max(end->end, end->back);
    if (o.from->call > later(known, allowed.late_end + clock_error)) return false;
    if (drop == nullptr && later(o.back, clock_error) >= end->end) return true;
  }
  if (allowed.orphans_answer || life == named(0) || life == named(1)) return true;
  return allowed.whole_in_steps && drop != nullptr && o.call <= drop->back;
}

/// A key without a verdict in a batch that has some was not reached, or is another occurrence.
bool key_state::judge(const key_operation& o, int life) {
  const std::size_t bits = bits_of(life);
  for (const asked_key& k : o.keys) {
    verdict expected = at(bits) == 0 ? verdict::fresh : verdict::seen;
    if (k.event >= 0) {
      const std::size_t event = events_ + static_cast<std::size_t>(k.event);
      if (at(event) != not_claimed)
        expected = at(event) == was_fresh ? verdict::fresh : verdict::seen;
      else if (k.claimed_before)
        return false;
      else
        set(event, expected == verdict::fresh ? was_fresh : was_seen);
    }
    if (o.may_look_ahead && k.answer == verdict::seen) continue;
    if (!o.is_lost && k.answer != verdict::unknown && k.answer != expected) return false;
    if (!o.only_looks) set(bits, at(bits) | present);
  }
  return true;
}

bool key_state::apply(const key_operation& o, std::span<const key_operation> all, const exceptions& allowed) {
  const operation& from = *o.from;
  const bool is_found = o.part == key_operation::part::doing;
  const bool uses_handle = o.handle >= 0 && (from.handle != 0 || is_found);
  const int life = uses_handle ? at(place_of_handle(o.handle)) : named(from.name);
  const bool must_be_absent = from.ended == outcome::absent && !o.is_lost;
  const bool must_be_taken = from.ended == outcome::taken && !o.is_lost;
  if (o.part == key_operation::part::finding) {
    if (!may_be_named(from.name, o, all)) return false;
    set(place_of_handle(o.handle), life);
    return true;
  }
  switch (from.kind) {
    case action::open:
      if (must_be_absent) return may_be_free(from.name, o, all);
      if (!may_be_named(from.name, o, all)) return false;
      set(place_of_handle(o.handle), life);
      return true;
    case action::create:
      if (must_be_taken) return may_be_named(from.name, o, all);
      if (!may_be_free(from.name, o, all)) return false;
      set(static_cast<std::size_t>(from.name), o.life);
      set(place_of_handle(o.handle), o.life);
      for (std::size_t i = 0; i < bytes_of_life; ++i) set(bits_of(o.life) + i, 0);
      return true;
    case action::drop:
      if (must_be_absent) return may_be_free(from.name, o, all);
      if (life == 0) return false;
      set(static_cast<std::size_t>(from.name), 0);
      note(bits_of(life) + 3, o, all);
      return true;
    case action::rename:
      if (must_be_absent) return may_be_free(from.name, o, all);
      if (must_be_taken) return may_be_named(from.other_name, o, all);
      if (!may_be_named(from.name, o, all) || !may_be_free(from.other_name, o, all)) return false;
      set(static_cast<std::size_t>(from.other_name), life);
      set(static_cast<std::size_t>(from.name), 0);
      return true;
    case action::reset:
      if (must_be_absent) return may_be_free(from.name, o, all);
      if (life == 0) return false;
      set(bits_of(life), 0);
      return true;
    case action::expire:
      if (must_be_absent) return may_be_free(from.name, o, all);
      if (is_found ? life == 0 : !may_be_named(from.name, o, all)) return false;
      note(bits_of(life) + 1, o, all);
      return true;
    case action::add:
    case action::check:
    case action::claim:
      return may_use(life, o, all, allowed) && judge(o, life);
    case action::begin:
      if (must_be_absent) return may_be_free(from.name, o, all);
      if (is_found ? life == 0 : !may_be_named(from.name, o, all)) return false;
      set(place_of_handle(o.handle), life);
      if (at(bits_of(life)) != 0) set(bits_of(life), present_before);
      return true;
    case action::give:
      if (life != 0 && !o.keys.empty()) set(bits_of(life), at(bits_of(life)) | present);
      return true;
    case action::commit:
      if (life != 0) set(bits_of(life), at(bits_of(life)) & present);
      return true;
    case action::replace:
      if (must_be_absent) return may_be_free(from.name, o, all);
      if (life == 0) return false;
      set(bits_of(life), o.keys.empty() ? 0 : present);
      return true;
  }
  return false;
}

}  // namespace everseen::test::history
