#include "test/support/kafka/kafka_requests.hpp"

#include <utility>
#include <vector>

namespace everseen::test {

using kafka_wire::api;
using kafka_wire::overwrite;
using kafka_wire::reader;
using kafka_wire::writer;
using error = kafka_wire::error;
using partition = kafka_transactions::partition;
using moment = kafka_transactions::clock::time_point;

namespace {

bool is_flexible(api what, std::int16_t version) {
  return (what == api::init_producer && version >= 2) || (what == api::transaction_offsets && version >= 3);
}

std::int16_t code(error e) {
  return static_cast<std::int16_t>(e);
}

/// Topics with partitions: in a request, and in its answer with a result for each.
struct topic_answer {
  std::string name;
  std::vector<std::pair<std::int32_t, error>> partitions{};
};

/// @param each  reads one partition's entry, and returns its result
template <typename Each>
std::vector<topic_answer> for_each_partition(reader& in, Each each) {
  std::vector<topic_answer> all;
  in.array([&] {
    topic_answer& topic = all.emplace_back(std::string(in.string()));
    in.array([&] {
      const auto index = in.int32();
      topic.partitions.emplace_back(index, each(partition{topic.name, index}));
      in.tags();
    });
    in.tags();
  });
  return all;
}

void write(writer& out, const std::vector<topic_answer>& all) {
  out.length(all.size());
  for (const topic_answer& topic : all) {
    out.string(topic.name).length(topic.partitions.size());
    for (const auto& [index, how] : topic.partitions) out.int32(index).int16(code(how)).tags();
    out.tags();
  }
}

writer begin_answer(const kafka_request& asked) {
  writer out(is_flexible(asked.what, asked.version));
  out.int32(asked.correlation).tags();
  return out;
}

constexpr std::int32_t not_throttled = 0;

struct offset_sender {
  std::string id;
  kafka_transactions::producer producer;
};
offset_sender read_producer(reader& in) {
  std::string id(in.string());
  const auto number = in.int64();
  return {std::move(id), {number, in.int16()}};
}

// ---- one function for each kind of request

std::optional<std::string> init_producer(kafka_transactions& all, const kafka_request& asked) {
  reader in(asked.body, is_flexible(asked.what, asked.version));
  const std::string id(in.string());
  if (id.empty()) return {};  // idempotent only
  const std::chrono::milliseconds timeout(in.int32());
  std::optional<kafka_transactions::producer> known;
  if (asked.version >= 3) {
    const auto number = in.int64();
    const auto epoch = in.int16();
    if (number >= 0) known = {number, epoch};
  }
  const auto [how, given] = all.init(id, timeout, known);
  writer out = begin_answer(asked);
  out.int32(not_throttled).int16(code(how)).int64(given.id).int16(given.epoch).tags();
  return out.text();
}

std::string add_partitions(kafka_transactions& all, const kafka_request& asked, moment now) {
  reader in(asked.body);
  const offset_sender who = read_producer(in);
  const auto went = [&] {
    std::vector<topic_answer> told;
    in.array([&] {  // partitions are bare numbers here
      topic_answer& topic = told.emplace_back(std::string(in.string()));
      in.array([&] {
        const auto index = in.int32();
        topic.partitions.emplace_back(index,
                                      all.add_partition(who.id, who.producer, {topic.name, index}, now));
      });
    });
    return told;
  }();
  writer out = begin_answer(asked);
  out.int32(not_throttled);
  write(out, went);
  return out.text();
}

std::string add_offsets(kafka_transactions& all, const kafka_request& asked, moment now) {
  reader in(asked.body);
  const offset_sender who = read_producer(in);
  const error how = all.add_group(who.id, who.producer, std::string(in.string()), now);
  return begin_answer(asked).int32(not_throttled).int16(code(how)).text();
}

std::string end_transaction(kafka_transactions& all, const kafka_request& asked) {
  reader in(asked.body);
  const offset_sender who = read_producer(in);
  const error how = all.end(who.id, who.producer, in.number<std::uint8_t>() != 0);
  return begin_answer(asked).int32(not_throttled).int16(code(how)).text();
}

std::string transaction_offsets(kafka_transactions& all, const kafka_request& asked) {
  reader in(asked.body, is_flexible(asked.what, asked.version));
  const std::string id(in.string());
  kafka_transactions::member member{std::string(in.string()), {}, -1};
  const auto number = in.int64();
  const kafka_transactions::producer producer{number, in.int16()};
  if (asked.version >= 3) {
    member.generation = in.int32();
    member.id = in.string();
    in.string();  // the group instance id
  }
  const auto went = for_each_partition(in, [&](const partition& of) {
    const auto offset = in.int64();
    if (asked.version >= 2) in.int32();  // leader epoch
    in.string();                         // metadata
    return all.send_offset(id, producer, member, of, offset);
  });
  writer out = begin_answer(asked);
  out.int32(not_throttled);
  write(out, went);
  out.tags();
  return out.text();
}

// ---- records

kafka_transactions::record read_record(reader& in, std::int32_t partition_index) {
  in.varint();                // length
  in.number<std::uint8_t>();  // attributes
  in.varint();                // time
  in.varint();                // offset
  const auto sized = [&in] {
    const auto length = in.varint();
    return length < 0 ? std::string() : std::string(in.bytes(static_cast<std::size_t>(length)));
  };
  std::string key = sized(), value = sized();
  for (auto headers = in.varint(); headers > 0; --headers) {
    sized();
    sized();
  }
  return {std::move(key), std::move(value), partition_index};
}

/// A record batch of version 2.
struct read_batch {
  kafka_transactions::batch records{};
  bool is_compressed = false;
};
read_batch take_batch(std::string_view bytes, std::int32_t partition_index) {
  constexpr std::size_t before_attributes = 8 + 4 + 4 + 1 + 4;  // offset, length, leader epoch, magic, crc
  constexpr std::size_t before_producer = 4 + 8 + 8;            // last offset, first and last time
  reader in(bytes);
  in.bytes(before_attributes);
  read_batch taken;
  taken.is_compressed = (in.int16() & 7) != 0;
  in.bytes(before_producer);
  taken.records.from.id = in.int64();
  taken.records.from.epoch = in.int16();
  taken.records.first_sequence = in.int32();
  const auto count = in.int32();
  if (taken.is_compressed) return taken;
  for (std::int32_t i = 0; i < count; ++i) taken.records.records.push_back(read_record(in, partition_index));
  return taken;
}

error put_records(kafka_transactions& all, const std::string& id, const partition& to,
                  std::string_view bytes) {
  const read_batch taken = take_batch(bytes, to.second);
  if (taken.is_compressed) return error::unsupported_compression;
  return all.produce(id, to, taken.records);
}

std::optional<std::string> produce(kafka_transactions& all, const kafka_request& asked) {
  if (asked.version < 3) return {};  // older than transactions
  reader in(asked.body);
  const std::string id(in.string());
  if (id.empty()) return {};
  in.int16();  // acks
  in.int32();  // timeout
  const auto went =
      for_each_partition(in, [&](const partition& to) { return put_records(all, id, to, in.sized_bytes()); });
  writer out = begin_answer(asked);
  out.length(went.size());
  for (const topic_answer& topic : went) {
    out.string(topic.name).length(topic.partitions.size());
    for (const auto& [index, how] : topic.partitions) {
      out.int32(index).int16(code(how)).int64(how == error::none ? 0 : -1).int64(-1);  // offset, time
      if (asked.version >= 5) out.int64(0);                                            // the oldest offset
    }
  }
  out.int32(not_throttled);
  return out.text();
}

}  // namespace

const std::map<api, std::int16_t>& versions_spoken() {
  static const std::map<api, std::int16_t> newest = {{api::produce, 7},
                                                     {api::metadata, 2},
                                                     {api::offset_commit, 7},
                                                     {api::offset_fetch, 5},
                                                     {api::find_coordinator, 2},
                                                     {api::join_group, 5},
                                                     {api::leave_group, 1},
                                                     {api::sync_group, 3},
                                                     {api::init_producer, 4},
                                                     {api::add_partitions, 0},
                                                     {api::add_offsets, 0},
                                                     {api::end_transaction, 1},
                                                     {api::transaction_offsets, 3}};
  return newest;
}

kafka_request parse_kafka_request(const std::string& message) {
  reader in(message);
  kafka_request asked;
  asked.what = static_cast<api>(in.int16());
  asked.version = in.int16();
  asked.correlation = in.int32();
  in.string();  // client id
  in.be_flexible(is_flexible(asked.what, asked.version));
  in.tags();
  asked.body = message.substr(in.at());
  return asked;
}

std::optional<std::pair<std::string, std::string>> member_that_waits(const kafka_request& asked) {
  if (asked.what != api::join_group && asked.what != api::sync_group) return {};
  reader in(asked.body);
  std::string group(in.string());
  in.int32();  // the session's timeout, or the generation
  if (asked.what == api::join_group && asked.version >= 1) in.int32();  // the timeout of a rebalance
  std::string member(in.string());
  if (member.empty()) return {};  // it joins for the first time
  return std::pair(std::move(group), std::move(member));
}

std::string join_again_later(const kafka_request& asked) {
  writer out = begin_answer(asked);
  const std::int16_t throttled_since = asked.what == api::join_group ? 2 : 1;
  if (asked.version >= throttled_since) out.int32(not_throttled);
  out.int16(code(error::rebalance_in_progress));
  if (asked.what == api::sync_group) return out.int32(0).text();  // no assignment
  return out.int32(-1).string("").string("").string(member_that_waits(asked)->second).int32(0).text();
}

std::optional<std::string> answer_transaction(kafka_transactions& all, const kafka_request& asked,
                                              moment now) {
  all.expire(now);
  switch (asked.what) {
    case api::init_producer:
      return init_producer(all, asked);
    case api::add_partitions:
      return add_partitions(all, asked, now);
    case api::add_offsets:
      return add_offsets(all, asked, now);
    case api::end_transaction:
      return end_transaction(all, asked);
    case api::transaction_offsets:
      return transaction_offsets(all, asked);
    case api::produce:
      return produce(all, asked);
    default:
      return {};
  }
}

}  // namespace everseen::test
