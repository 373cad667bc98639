#include "everseen/redis/bitfield_gear.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "everseen/redis/command.hpp"
#include "everseen/redis/fence.hpp"
#include "everseen/redis/lease.hpp"

namespace everseen::redis {

namespace {

using kind = meaning::kind;

/// Segments that somebody may write to beside us: the newest layers of the other slices.
bool may_change(const judging& q, std::size_t target) {
  const segment_id& id = q.targets[target].id;
  return std::ranges::none_of(q.targets,
                              [&](const auto& t) { return t.id.slice == id.slice && t.id.layer > id.layer; });
}

/// Commands of a look in front of the lengths: epoch, count, lease, time.
constexpr std::size_t before_lengths = 4;

/// The first command of a transaction that gave an error.
meaning first_error(const reply& result) {
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result[i].is_error()) return {kind::refused, std::string(result[i].text())};
  return {};
}

bool is_number(std::string_view text, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end;
}

void end_with(transaction& t, const std::string& key, const std::string& ends_at) {
  ends_at.empty() ? t.command({"PERSIST", key}) : t.command({"PEXPIREAT", key, ends_at});
}

}  // namespace

std::string bitfield_gear::state_key(std::uint32_t partition) const {
  return filter_.keys.state(filter_.generation, partition);
}

std::string bitfield_gear::segment_key(const segment_id& id) const {
  return filter_.keys.segment(filter_.generation, id);
}

transaction bitfield_gear::guarded(std::uint32_t partition, std::uint64_t epoch) const {
  return {filter_.keys.fence(filter_.generation, partition), epoch};
}

meaning bitfield_gear::wrong_segment(const segment_id& id) const {
  return {.what = kind::damaged, .text = "is missing, or has another type or length", .key = segment_key(id)};
}

std::uint64_t bitfield_gear::room(const judging& q) const noexcept {
  if (filter_.spec.growth == growth_kind::overfill) return ~std::uint64_t{0};
  const std::uint64_t capacity = q.targets.back().layer.capacity;
  return capacity - std::min(capacity, count_);
}

/// Under `refuse` always: keys that are there already, counted until they are given back, would turn keys of
/// other clients away.
bool bitfield_gear::looks_at_newest() const noexcept {
  return newest_too_ || filter_.spec.growth == growth_kind::refuse;
}

request bitfield_gear::judge(const judging& q) {
  if (step_ == step::write) return ask_to_write(q);
  if (step_ == step::give_back) return ask_to_give_back(q);
  return ask_to_look(q);
}

meaning bitfield_gear::judged(const judging& q, const answer& a) {
  if (step_ == step::give_back) return settle();  // whatever was answered: the verdicts are certain
  reply result;
  meaning o = step_ == step::write ? transaction::read(a, q.epoch, result) : transaction::read(a, result);
  // Before Redis 6 there is nothing that only reads.
  if (o.what == kind::refused && reading_ != "BITFIELD" && o.text.starts_with("ERR unknown command")) {
    reading_ = "BITFIELD";
    return {kind::again};
  }
  if (o.what == kind::done) o = step_ == step::write ? take_written(q, result) : take_look(q, result);
  if (o.what != kind::again) {
    step_ = step::look;
    newest_too_ = false;
  }
  return o;
}

/// Reading needs no fence: a transaction sees everything at one moment, the epoch too.
request bitfield_gear::ask_to_look(const judging& q) {
  const std::string state = state_key(q.partition);
  transaction t;
  t.command({"HGET", state, "epoch"});
  t.command({"HGET", state, count_field(q.targets.back().id)});
  t.command({"HGET", state, "lease"});
  t.command({"TIME"});
  for (const judging::target& target : q.targets) t.command({"STRLEN", segment_key(target.id)});
  std::vector<std::size_t> keys(q.digests.size());
  std::iota(keys.begin(), keys.end(), std::size_t{0});
  const std::size_t looked_at = q.targets.size() - (q.adding && !looks_at_newest() ? 1 : 0);
  for (std::size_t i = 0; i < looked_at; ++i)
    t.get_bits(reading_, segment_key(q.targets[i].id), q.targets[i].layer.shape, q.digests, keys);
  return t.finish({state, q.partition}, true);
}

meaning bitfield_gear::take_look(const judging& q, const reply& r) {
  if (r[0].is_nil()) return {.what = kind::gone, .text = "is missing", .key = state_key(q.partition)};
  if (!r[0].is_error() && r[0].text() != std::to_string(q.epoch)) return {kind::stale};
  for (std::size_t i = 0; i < q.targets.size(); ++i) {
    const reply length = r[before_lengths + i];
    if (length.is_error() ? length.is_error("WRONGTYPE")
                          : length.integer() != static_cast<std::int64_t>(q.targets[i].layer.shape.bytes))
      return wrong_segment(q.targets[i].id);
  }
  if (const meaning o = first_error(r); o.what != kind::done) return o;
  if (q.adding && !is_number(r[1].text(), count_))
    return {.what = kind::damaged, .text = "lacks a valid count", .key = state_key(q.partition)};
  if (const auto left = lease_left(r[2], r[3]); q.adding && left) {
    meaning held{kind::held};
    held.left = *left;
    return held;
  }
  verdicts_.assign(q.digests.size(), '?');
  const std::size_t commands = old_bits::commands(q.digests.size());
  auto target = q.targets.begin();
  for (std::size_t at = before_lengths + q.targets.size(); at < r.size(); at += commands, ++target) {
    old_bits bits(r, at, target->layer.shape.probes);
    for (char& v : verdicts_)
      if (bits.next_is_set()) v = '1';
  }
  written_.clear();
  end_ = verdicts_.size();
  if (q.adding) return decide(q);
  std::ranges::replace(verdicts_, '?', '0');
  return settle();
}

/// Which of the keys that nobody has are to be written now.
meaning bitfield_gear::decide(const judging& q) {
  for (std::size_t i = 0; i < verdicts_.size(); ++i)
    if (verdicts_[i] == '?') written_.push_back(i);
  const std::uint64_t room_left = room(q);
  if (written_.size() > room_left) {
    if (!looks_at_newest()) {  // which of them the newest layer has makes a difference now
      newest_too_ = true;
      return {kind::again};
    }
    if (room_left == 0 && filter_.spec.growth == growth_kind::refuse) {
      std::ranges::replace(verdicts_, '?', '3');
      written_.clear();
    } else {
      end_ = written_[room_left];
      written_.resize(room_left);
    }
  }
  if (written_.empty()) return settle();
  step_ = step::write;
  return {kind::again};
}

request bitfield_gear::ask_to_write(const judging& q) {
  const std::string state = state_key(q.partition);
  const judging::target& newest = q.targets.back();
  const std::string segment = segment_key(newest.id);
  transaction t = guarded(q.partition, q.epoch);
  t.command({"HGET", state, "epoch"});
  t.command({"STRLEN", segment});
  t.command({"HINCRBY", state, count_field(newest.id), std::to_string(written_.size())});
  for (std::size_t i = 0; i + 1 < q.targets.size(); ++i)
    if (may_change(q, i))
      t.get_bits(reading_, segment_key(q.targets[i].id), q.targets[i].layer.shape, q.digests, written_);
  t.set_bits(segment, newest.layer.shape, q.digests, written_);
  return t.finish({state, q.partition}, false);
}

meaning bitfield_gear::take_written(const judging& q, const reply& r) {
  if (const meaning o = first_error(r); o.what != kind::done) return o;
  // Only who deletes keys by hand can bring about what follows: the look found them right in this epoch, and
  // a drop takes the fence, too.
  constexpr std::size_t first = transaction::first_reply;
  if (r[first].text() != std::to_string(q.epoch))
    return {.what = kind::damaged, .text = "does not fit its fence", .key = state_key(q.partition)};
  const judging::target& newest = q.targets.back();
  if (r[first + 1].integer() != static_cast<std::int64_t>(newest.layer.shape.bytes))
    return wrong_segment(newest.id);
  for (const std::size_t key : written_) verdicts_[key] = '0';
  const std::size_t commands = old_bits::commands(written_.size());
  surplus_ = 0;
  std::size_t at = first + 3;
  for (std::size_t i = 0; i < q.targets.size(); ++i) {
    const bool is_newest = i + 1 == q.targets.size();
    if (!is_newest && !may_change(q, i)) continue;
    old_bits bits(r, at, q.targets[i].layer.shape.probes);
    at += commands;
    for (const std::size_t key : written_) {
      if (!bits.next_is_set()) continue;
      verdicts_[key] = '1';
      surplus_ += is_newest ? 1 : 0;
    }
  }
  if (surplus_ == 0) return settle();
  step_ = step::give_back;
  return {kind::again};
}

request bitfield_gear::ask_to_give_back(const judging& q) const {
  const std::string state = state_key(q.partition);
  transaction t = guarded(q.partition, q.epoch);
  t.command({"HINCRBY", state, count_field(q.targets.back().id),
             std::string("-").append(std::to_string(surplus_))});
  return t.finish({state, q.partition}, false);
}

meaning bitfield_gear::settle() {
  step_ = step::look;
  newest_too_ = false;
  meaning o{kind::done, verdicts_.substr(0, end_)};
  o.wants_growth = written_.empty() && end_ < verdicts_.size();  // the look found no room for the next key
  return o;
}

/// Adding 0 to the last bit makes the string long enough and changes nothing. The time limit is set only by
/// who makes the key. So this does no harm to a segment that was published meanwhile, and needs no guard.
/// Looks for a lease, too: a publication cannot, and would end it. Who takes one after this look begins a new
/// epoch, in which the publication is refused.
request bitfield_gear::lengthen(const lengthening& l) {
  const std::string key = segment_key(l.id);
  transaction t;
  t.command({"HGET", state_key(l.id.partition), "epoch"});
  t.command({"SET", key, "", "PX", unpublished_life_ms, "NX"});
  t.command({"BITFIELD", key, "INCRBY", "u1", std::to_string(8 * l.bytes - 1), "0"});
  t.command({"STRLEN", key});
  t.command({"HGET", state_key(l.id.partition), "lease"});
  t.command({"TIME"});
  return t.finish({key, l.id.partition}, true);
}

meaning bitfield_gear::lengthened(const lengthening& l, const answer& a) {
  reply result;
  meaning o = transaction::read(a, result);
  if (o.what == kind::done) o = first_error(result);
  if (o.what != kind::done) return o;
  if (result[0].is_nil()) return {.what = kind::gone, .text = "is missing", .key = state_key(l.id.partition)};
  if (result[0].text() != std::to_string(l.epoch)) return {kind::stale};
  if (const auto left = lease_left(result[4], result[5])) {
    o.what = kind::held;
    o.left = *left;
    return o;
  }
  o.length = static_cast<std::uint64_t>(result[3].integer());
  return o;
}

/// The segment is lengthened once more: should its time limit have passed, what it lost were zeros.
request bitfield_gear::publish(const publication& p) {
  const std::string state = state_key(p.partition);
  const std::string added = segment_key(p.added);
  transaction t = guarded(p.partition, p.epoch);
  t.command({"BITFIELD", added, "INCRBY", "u1", std::to_string(8 * p.bytes - 1), "0"});
  end_with(t, added, p.ends_at);
  t.command({"HSET", state, "epoch", std::to_string(p.next_epoch), "manifest", p.manifest,
             count_field(p.added), "0"});
  t.command({"SET", filter_.keys.fence(filter_.generation, p.partition), fence::bytes_of(p.next_epoch)});
  if (!p.ends_at.empty()) end_with(t, filter_.keys.fence(filter_.generation, p.partition), p.ends_at);
  for (const segment_id& id : p.expired) {
    t.command({"UNLINK", segment_key(id)});
    t.command({"HDEL", state, count_field(id)});
  }
  // Sent again after it was done, it finds the fence ahead and does nothing.
  return t.finish({state, p.partition}, true);
}

meaning bitfield_gear::published(const publication& p, const answer& a) {
  reply result;
  const meaning o = transaction::read(a, p.epoch, result);
  return o.what == kind::done ? first_error(result) : o;
}

}  // namespace everseen::redis
