// Answers of brokers, read and rewritten on their way to the client.

#include <vector>

#include "test/support/kafka/kafka_requests.hpp"

namespace everseen::test {

using kafka_wire::api;
using kafka_wire::overwrite;
using kafka_wire::reader;
using error = kafka_wire::error;
using partition = kafka_transactions::partition;

namespace {

/// Replaces the port that was just read by the relay's.
void move_port(std::string& answer, std::size_t end, std::int32_t port, const port_map& ports) {
  if (const auto found = ports.find(port); found != ports.end())
    overwrite(answer, end - sizeof port, found->second);
}

void metadata(std::string& answer, const port_map& ports, std::int16_t version) {
  std::string amended = answer;
  reader in(answer);
  in.int32();  // correlation
  in.array([&] {
    in.int32();   // the broker's number
    in.string();  // its host
    const auto port = in.int32();
    move_port(amended, in.at(), port, ports);
    if (version >= 1) in.string();  // its rack
  });
  answer = std::move(amended);
}

void find_coordinator(std::string& answer, const port_map& ports, std::int16_t version) {
  reader in(answer);
  in.int32();
  if (version >= 1) in.int32();  // throttle time
  in.int16();
  if (version >= 1) in.string();  // error message
  in.int32();
  in.string();
  const auto port = in.int32();
  const std::size_t end = in.at();
  move_port(answer, end, port, ports);
}

void join_group(const std::string& answer, const kafka_request& asked, kafka_transactions& all) {
  reader in(answer);
  in.int32();
  if (asked.version >= 2) in.int32();
  if (in.int16() != 0) return;
  const auto generation = in.int32();
  in.string();  // protocol
  in.string();  // leader
  const std::string id(in.string());
  all.joined({std::string(reader(asked.body).string()), id, generation});
}

void leave_group(const kafka_request& asked, kafka_transactions& all) {
  reader in(asked.body);
  const std::string group(in.string());
  all.left(group, std::string(in.string()));
}

/// The requested offsets, then which of them were accepted.
void offset_commit(const std::string& answer, const kafka_request& asked, kafka_transactions& all) {
  reader in(asked.body);
  const std::string group(in.string());
  in.int32();                                                // generation
  in.string();                                               // member
  if (asked.version >= 7) in.string();                       // instance
  if (asked.version >= 2 && asked.version <= 4) in.int64();  // retention time
  std::map<partition, std::int64_t> wanted;
  in.array([&] {
    const std::string topic(in.string());
    in.array([&] {
      const auto index = in.int32();
      wanted[{topic, index}] = in.int64();
      if (asked.version >= 6) in.int32();
      in.string();
    });
  });
  reader told(answer);
  told.int32();
  if (asked.version >= 3) told.int32();
  told.array([&] {
    const std::string topic(told.string());
    told.array([&] {
      const auto index = told.int32();
      if (told.int16() == 0) all.committed(group, {topic, index}, wanted[{topic, index}]);
    });
  });
}

void offset_fetch(std::string& answer, const kafka_request& asked, kafka_transactions& all) {
  const std::string group(reader(asked.body).string());
  std::string amended = answer;
  reader in(answer);
  in.int32();
  if (asked.version >= 3) in.int32();
  in.array([&] {
    const std::string topic(in.string());
    in.array([&] {
      const partition of{topic, in.int32()};
      const std::size_t offset_at = in.at();
      in.int64();
      if (asked.version >= 5) in.int32();
      in.string();
      const std::size_t error_at = in.at();
      in.int16();
      if (const auto known = all.offset(group, of)) overwrite(amended, offset_at, *known);
      if (all.is_unstable(group, of))
        overwrite(amended, error_at, static_cast<std::int16_t>(error::unstable_offsets));
    });
  });
  answer = std::move(amended);
}

}  // namespace

void amend_answer(std::string& answer, const kafka_request& asked, kafka_transactions& all,
                  const port_map& ports) {
  switch (asked.what) {
    case api::metadata:
      return metadata(answer, ports, asked.version);
    case api::find_coordinator:
      return find_coordinator(answer, ports, asked.version);
    case api::join_group:
      return join_group(answer, asked, all);
    case api::leave_group:
      return leave_group(asked, all);
    case api::offset_commit:
      return offset_commit(answer, asked, all);
    case api::offset_fetch:
      return offset_fetch(answer, asked, all);
    default:
      return;
  }
}

}  // namespace everseen::test
