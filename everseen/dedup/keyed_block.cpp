#include "everseen/dedup/keyed_block.hpp"

#include <algorithm>
#include <cstring>

#include "everseen/dedup/record/record_ends.hpp"

namespace everseen {

keyed_block::keyed_block(const filter& known_keys, const dedup_options& options)
    : known_keys_(known_keys),
      options_(options),
      rule_({.key = options.key,
             .time = options.time,
             .null_is_key = true,
             .times = options.times,
             .header = options.header,
             .form = options.form,
             .csv = options.format.csv()}),
      every_record_is_key_(rule_.whole_record_is_key() && known_keys.hash().takes_every_key()),
      wants_keys_(known_keys.stored().wants_keys()) {
  wanted_[static_cast<std::size_t>(options.wanted)] = true;
  if (options.late == dedup_options::fate::pass && options.wanted == verdict::fresh)
    wanted_[static_cast<std::size_t>(verdict::late)] = true;
}

std::span<const partition_batch> keyed_block::sort(event_time read_at) {
  read_at_ = read_at;
  latest_believed_ = latest_believed();
  ends_.clear();
  digests_.clear();
  times_.clear();
  keyed_.clear();
  passed_.clear();
  keys_.clear();
  keyless_ = {};
  if (options_.format.quoted) rule_.expect_quotes(bytes_.text().find('"') != std::string_view::npos);
  find_record_ends(bytes_.text(), options_.format, ends_);
  const std::uint32_t partitions = known_keys_.stored().batch_partitions();
  if (every_record_is_key_) return hash_records(partitions);
  hash_fields();
  verdicts_.assign(digests_.size(), verdict::unknown);
  return sorted_.sort(digests_, times(), partitions, verdicts_, keys_.views());
}

/// The common case: each record is a key. A few hundred at a time are hashed, and put to their partitions
/// while they are in L1.
std::span<const partition_batch> keyed_block::hash_records(std::uint32_t partitions) {
  const hasher& hash = known_keys_.hash();
  const char* const text = bytes_.text().data();
  constexpr std::size_t at_once = 256;
  std::array<std::string_view, at_once> keys;
  std::array<digest, at_once> digests;
  sorted_.begin(partitions);
  std::size_t begin = 0;
  for (std::size_t done = 0; done < ends_.size();) {
    const std::size_t n = std::min(at_once, ends_.size() - done);
    for (std::size_t i = 0; i < n; ++i) {
      keys[i] = {text + begin, ends_[done + i] - begin};
      begin = ends_[done + i] + std::size_t{1};
    }
    hash(std::span(keys).first(n), std::span(digests).first(n));
    sorted_.put(std::span(digests).first(n));
    if (wants_keys_)
      for (const std::string_view key : std::span(keys).first(n)) keys_.keep(key);
    done += n;
  }
  verdicts_.assign(ends_.size(), verdict::unknown);
  return sorted_.finish(times(), verdicts_, keys_.views());
}

void keyed_block::hash_fields() {
  const char* text = bytes_.text().data();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const std::size_t end = ends_[i];
    read_record(i, {text + begin, end - begin});
    begin = end + 1;
  }
}

/// @return the latest time that is accepted
event_time keyed_block::latest_believed() const noexcept {
  const auto& ahead = options_.max_ahead;
  if (!rule_.has_time() || !ahead || read_at_ > event_time::max() - *ahead) return event_time::max();
  return read_at_ + *ahead;
}

void keyed_block::read_record(std::size_t i, std::string_view record) {
  auto parts = rule_.read(record);
  if (parts && parts->time > latest_believed_) parts = tl::unexpected(record_fault::time_ahead);
  std::optional<std::string_view> key;
  if (parts) key = parts->key;
  if (key && !hash_key(*key)) parts = tl::unexpected(record_fault::unfit_key);
  if (parts) {
    if (wants_keys_) keys_.keep(parts->key);
    if (rule_.has_time()) times_.push_back(parts->time);
    keyed_.push_back(static_cast<std::uint32_t>(i));
  } else if (options_.fate_of(parts.error()) == dedup_options::fate::fail) {
    unreadable_ = describe_fault(i, record, parts.error(), key);
    ends_.resize(i);  // the records before it in the block are kept
  } else {
    if (options_.fate_of(parts.error()) == dedup_options::fate::pass)
      passed_.push_back(static_cast<std::uint32_t>(i));
    ++(is_malformed(parts.error()) ? keyless_.malformed : keyless_.without_key);
    if (!keyless_.first) keyless_.first = describe_fault(i, record, parts.error(), key);
  }
}

/// @param key  what the record has, if the filter cannot take it
bad_record keyed_block::describe_fault(std::size_t i, std::string_view record, record_fault why,
                                       std::optional<std::string_view> key) const {
  bad_record bad = describe(rule_, record, i, why);
  if (const auto refusal = key ? known_keys_.refusal_of(*key) : std::nullopt) bad.detail = *refusal;
  return bad;
}

/// @return whether the filter accepts this key
bool keyed_block::hash_key(std::string_view key) {
  const auto hashed = known_keys_.hash().try_hash(key);
  if (hashed) digests_.push_back(*hashed);
  return hashed.has_value();
}

std::span<const event_time> keyed_block::times() const noexcept {
  if (rule_.has_time()) return times_;
  if (options_.clock) return {&read_at_, 1};
  return {};
}

std::optional<std::size_t> keyed_block::first(verdict v) const noexcept {
  const auto found = std::ranges::find(verdicts_, v);
  if (found == verdicts_.end()) return std::nullopt;
  const auto key = static_cast<std::size_t>(found - verdicts_.begin());
  return every_record_is_key_ ? key : keyed_[key];
}

std::string_view keyed_block::keep_wanted() noexcept {
  char* const text = bytes_.data();
  char* target = text;
  std::size_t begin = 0;
  std::size_t run_begin = 0;  // wanted records from here on are not moved yet
  std::size_t next_keyed = 0, next_passed = 0;
  kept_ = 0;
  const bool all_keyed = every_record_is_key_;
  const auto move_run = [&](std::size_t end) {
    if (target != text + run_begin) std::memmove(target, text + run_begin, end - run_begin);
    target += end - run_begin;
  };
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    bool wanted;
    if (all_keyed) {
      wanted = is_wanted(verdicts_[i]);
    } else if (next_keyed < keyed_.size() && keyed_[next_keyed] == i) {
      wanted = is_wanted(verdicts_[next_keyed++]);
    } else {
      wanted = next_passed < passed_.size() && passed_[next_passed] == i;
      next_passed += wanted ? 1 : 0;
    }
    const std::size_t end = ends_[i] + std::size_t{1};
    kept_ += wanted ? 1 : 0;
    if (!wanted) {
      move_run(begin);
      run_begin = end;
    }
    begin = end;
  }
  move_run(begin);
  return {text, static_cast<std::size_t>(target - text)};
}

}  // namespace everseen
