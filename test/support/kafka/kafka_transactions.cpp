#include "test/support/kafka/kafka_transactions.hpp"

#include <algorithm>
#include <iterator>

namespace everseen::test {

using error = kafka_wire::error;

// ---- a transactional id and its owner

std::pair<error, kafka_transactions::producer> kafka_transactions::init(const std::string& transactional_id,
                                                                        std::chrono::milliseconds timeout,
                                                                        std::optional<producer> known) {
  transaction& t = by_id_[transactional_id];
  if (known && *known != t.owner) return {refuse(error::producer_fenced), {}};
  if (t.open_since) close(t, false);
  t.timeout = timeout;
  t.last_committed.reset();
  if (t.owner.id < 0) t.owner.id = ++producers_;
  take_epoch(t);
  return {error::none, t.owner};
}

void kafka_transactions::take_epoch(transaction& t) {
  ++t.owner.epoch;
  t.next_sequence.clear();
}

error kafka_transactions::refuse(error why) {
  ++counts_.refused;
  return why;
}

error kafka_transactions::check(const std::string& transactional_id, producer p) {
  const auto found = by_id_.find(transactional_id);
  if (found == by_id_.end() || found->second.owner.id != p.id) return refuse(error::unknown_producer);
  if (found->second.owner.epoch != p.epoch) return refuse(error::invalid_producer_epoch);
  return error::none;
}

// ---- a transaction, from its first partition to its end

error kafka_transactions::add_partition(const std::string& transactional_id, producer p,
                                        const partition& what, clock::time_point now) {
  if (const error e = check(transactional_id, p); e != error::none) return e;
  transaction& t = by_id_[transactional_id];
  if (!t.open_since) t.open_since = now;
  t.partitions.insert(what);
  return error::none;
}

error kafka_transactions::add_group(const std::string& transactional_id, producer p,
                                    const std::string& of_group, clock::time_point now) {
  if (const error e = check(transactional_id, p); e != error::none) return e;
  transaction& t = by_id_[transactional_id];
  if (!t.open_since) t.open_since = now;
  t.groups.insert(of_group);
  return error::none;
}

error kafka_transactions::produce(const std::string& transactional_id, const partition& to,
                                  const batch& what) {
  if (const error e = check(transactional_id, what.from); e != error::none) return e;
  transaction& t = by_id_[transactional_id];
  if (!t.partitions.contains(to)) return error::invalid_transaction_state;
  std::int32_t& next = t.next_sequence[to];
  const auto end = what.first_sequence + static_cast<std::int32_t>(what.records.size());
  if (end <= next) return error::none;  // a retry
  if (what.first_sequence != next) return error::out_of_order_sequence;
  next = end;
  std::ranges::copy(what.records, std::back_inserter(t.records[to.first]));
  return error::none;
}

error kafka_transactions::send_offset(const std::string& transactional_id, producer p, const member& who,
                                      const partition& of, std::int64_t at) {
  if (const error e = check(transactional_id, p); e != error::none) return e;
  if (const error e = check_member(who); e != error::none) return e;
  transaction& t = by_id_[transactional_id];
  if (!t.groups.contains(who.group)) return error::invalid_transaction_state;
  t.offsets[{who.group, of}] = at;
  return error::none;
}

error kafka_transactions::end(const std::string& transactional_id, producer p, bool commits) {
  if (const error e = check(transactional_id, p); e != error::none) return e;
  transaction& t = by_id_[transactional_id];
  if (!t.open_since) return t.last_committed == commits ? error::none : error::invalid_transaction_state;
  close(t, commits);
  return error::none;
}

void kafka_transactions::close(transaction& t, bool commits) {
  if (commits) {
    for (const auto& [topic, records] : t.records)
      std::ranges::copy(records, std::back_inserter(topics_[topic]));
    for (const auto& [of, offset] : t.offsets) offsets_[of] = offset;
  }
  ++(commits ? counts_.commits : counts_.aborts);
  t.last_committed = commits;
  t.open_since.reset();
  t.partitions.clear();
  t.groups.clear();
  t.records.clear();
  t.offsets.clear();
}

void kafka_transactions::expire(clock::time_point now) {
  for (auto& [id, t] : by_id_) {
    if (!t.open_since || now - *t.open_since <= t.timeout) continue;
    close(t, false);
    take_epoch(t);
  }
}

// ---- groups

void kafka_transactions::joined(const member& who) {
  group& g = groups_[who.group];
  if (who.generation < g.generation) return;
  if (who.generation > g.generation) g = {who.generation, {}};
  g.members.insert(who.id);
}

void kafka_transactions::left(const std::string& of_group, const std::string& id) {
  groups_[of_group].members.erase(id);
}

error kafka_transactions::check_member(const member& who) {
  if (who.generation < 0 && who.id.empty()) return error::none;  // a client older than KIP-447
  const group& g = groups_[who.group];
  if (g.generation != who.generation) return refuse(error::illegal_generation);
  if (!g.members.contains(who.id)) return refuse(error::unknown_member);
  return error::none;
}

void kafka_transactions::committed(const std::string& of_group, const partition& of, std::int64_t at) {
  offsets_[{of_group, of}] = at;
}

std::optional<std::int64_t> kafka_transactions::offset(const std::string& of_group,
                                                       const partition& of) const {
  const auto found = offsets_.find({of_group, of});
  return found == offsets_.end() ? std::nullopt : std::optional(found->second);
}

bool kafka_transactions::is_unstable(const std::string& of_group, const partition& of) const {
  return std::ranges::any_of(by_id_, [&](const auto& each) {
    return each.second.offsets.contains({of_group, of});
  });
}

std::int32_t kafka_transactions::generation(const std::string& of_group) const {
  const auto found = groups_.find(of_group);
  return found == groups_.end() ? -1 : found->second.generation;
}

std::vector<kafka_transactions::record> kafka_transactions::read_committed(const std::string& topic) const {
  const auto found = topics_.find(topic);
  return found == topics_.end() ? std::vector<record>() : found->second;
}

}  // namespace everseen::test
