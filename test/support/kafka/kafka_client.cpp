#include "test/support/kafka/kafka_client.hpp"

#include <array>
#include <chrono>
#include <string_view>
#include <thread>

#include "test/support/kafka/kafka_handle.hpp"

namespace everseen::test {

using namespace kafka_handle;

namespace {

std::string bytes(const void* data, std::size_t length) {
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), length);
}

/// Whether a broker is not ready to answer: its connection is new, and it has not named its versions yet; or
/// a group's coordinator is still loading it, or has moved with the death of a broker; or a busy machine made
/// the controller believe that the broker is dead, so that nobody leads a partition or can hold a new topic.
bool is_temporary(rd_kafka_resp_err_t failure) {
  switch (failure) {
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
      return true;
    default:
      return false;
  }
}

/// Asks again while the error is_temporary().
template <typename Ask>
void ask(Ask question, const std::string& action) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    const rd_kafka_resp_err_t failure = question();
    if (!is_temporary(failure) || std::chrono::steady_clock::now() > end) return check(failure, action);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

rd_kafka_headers_t* headers_of(const kafka_client::message& from) {
  rd_kafka_headers_t* const made = rd_kafka_headers_new(from.headers.size());
  for (const auto& [name, value] : from.headers)
    rd_kafka_header_add(made, name.data(), static_cast<ssize_t>(name.size()), value ? value->data() : nullptr,
                        value ? static_cast<ssize_t>(value->size()) : 0);
  return made;
}

std::vector<kafka_client::message::header> headers_of(const rd_kafka_message_t& told) {
  std::vector<kafka_client::message::header> found;
  rd_kafka_headers_t* all = nullptr;
  if (rd_kafka_message_headers(&told, &all) != RD_KAFKA_RESP_ERR_NO_ERROR) return found;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; rd_kafka_header_get_all(all, i, &name, &value, &size) == 0; ++i)
    found.emplace_back(name, value == nullptr ? std::nullopt : std::optional(bytes(value, size)));
  return found;
}

kafka_client::message copy_of(const rd_kafka_message_t& told) {
  kafka_client::message found{bytes(told.payload, told.len)};
  if (told.key != nullptr) found.key = bytes(told.key, told.key_len);
  found.offset = told.offset;
  found.partition = told.partition;
  found.has_value = told.payload != nullptr;
  found.headers = headers_of(told);
  found.time_ms = rd_kafka_message_timestamp(&told, nullptr);
  return found;
}

}  // namespace

class kafka_client::impl {
 public:
  impl(std::string brokers, const std::string& codec)
      : addresses(std::move(brokers)),
        producer(make(RD_KAFKA_PRODUCER, {{"bootstrap.servers", addresses},
                                          {"linger.ms", "1"},
                                          {"enable.idempotence", "true"},
                                          // With more, librdkafka may lose what a broker refused.
                                          {"max.in.flight.requests.per.connection", "1"},
                                          {"compression.codec", codec},
                                          {"queue.buffering.max.messages", "2000000"}})) {}

  /// The number of the broker that leads each partition, -1 where there is none; empty without the topic.
  [[nodiscard]] std::vector<int> leaders_of(const std::string& topic) const {
    rd_kafka_topic_t* const local = rd_kafka_topic_new(producer.get(), topic.c_str(), nullptr);
    const struct rd_kafka_metadata* told = nullptr;
    ask([&] { return rd_kafka_metadata(producer.get(), 0, local, &told, timeout_ms); }, "metadata");
    rd_kafka_topic_destroy(local);
    std::vector<int> leaders;
    if (told->topic_cnt == 1)
      for (int i = 0; i < told->topics[0].partition_cnt; ++i)
        leaders.push_back(told->topics[0].partitions[i].leader);
    rd_kafka_metadata_destroy(told);
    return leaders;
  }
  [[nodiscard]] int partitions_of(const std::string& topic) const {
    return static_cast<int>(leaders_of(topic).size());
  }

  std::string addresses;
  client producer;
};

kafka_client::kafka_client(std::string brokers, const std::string& codec)
    : impl_(std::make_unique<impl>(std::move(brokers), codec)) {}
kafka_client kafka_client::compressing_by(const std::string& codec) const {
  return kafka_client(impl_->addresses, codec);
}
kafka_client::~kafka_client() = default;

const std::string& kafka_client::brokers() const noexcept {
  return impl_->addresses;
}

void kafka_client::wait_for_brokers(int count) const {
  constexpr int start_ms = 180'000;
  for (int found = 0; found < count;) {
    const struct rd_kafka_metadata* told = nullptr;
    check(rd_kafka_metadata(impl_->producer.get(), 0, nullptr, &told, start_ms), "no broker answers");
    found = told->broker_cnt;
    rd_kafka_metadata_destroy(told);
    if (found < count) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

int kafka_client::leader_of(const std::string& topic, std::int32_t partition) const {
  for (;;) {
    const std::vector<int> leaders = impl_->leaders_of(topic);
    const int leader = leaders.empty() ? -1 : leaders.at(static_cast<std::size_t>(partition));
    if (leader >= 0) return leader;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

namespace {

/// Waits for the result of a request to administer.
/// @param request  gets the queue of answers    @param results  the results in an answer, and how many
template <typename Request, typename Results>
void administer(rd_kafka_t* client, const std::string& action, Request request, Results results) {
  ask(
      [&] {
        rd_kafka_queue_t* const answers = rd_kafka_queue_new(client);
        request(answers);
        rd_kafka_event_t* const told = rd_kafka_queue_poll(answers, timeout_ms);
        auto failed = told == nullptr ? RD_KAFKA_RESP_ERR__TIMED_OUT : rd_kafka_event_error(told);
        if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) failed = results(told);
        if (told != nullptr) rd_kafka_event_destroy(told);
        rd_kafka_queue_destroy(answers);
        return failed;
      },
      action);
}

}  // namespace

void kafka_client::create_topic(const std::string& name, int partitions,
                                const std::map<std::string, std::string>& settings_of_topic) {
  std::array<char, 256> why{};
  rd_kafka_NewTopic_t* made = rd_kafka_NewTopic_new(name.c_str(), partitions, -1, why.data(), why.size());
  check(made != nullptr, why.data());
  for (const auto& [property, value] : settings_of_topic)
    check(rd_kafka_NewTopic_set_config(made, property.c_str(), value.c_str()), property);
  rd_kafka_t* const client = impl_->producer.get();
  administer(
      client, "create " + name,
      [&](rd_kafka_queue_t* answers) { rd_kafka_CreateTopics(client, &made, 1, nullptr, answers); },
      [](rd_kafka_event_t* told) {
        std::size_t count = 0;
        const auto* const all =
            rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(told), &count);
        return rd_kafka_topic_result_error(all[0]);
      });
  rd_kafka_NewTopic_destroy(made);
  wait_for_partitions(name, partitions);
}

/// The controller knows them before the broker does.
void kafka_client::wait_for_partitions(const std::string& topic, int count) const {
  while (impl_->partitions_of(topic) != count) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void kafka_client::delete_topic(const std::string& name) {
  rd_kafka_t* const client = impl_->producer.get();
  rd_kafka_DeleteTopic_t* gone = rd_kafka_DeleteTopic_new(name.c_str());
  administer(
      client, "delete " + name,
      [&](rd_kafka_queue_t* answers) { rd_kafka_DeleteTopics(client, &gone, 1, nullptr, answers); },
      [](rd_kafka_event_t* told) {
        std::size_t count = 0;
        return rd_kafka_topic_result_error(
            rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(told), &count)[0]);
      });
  rd_kafka_DeleteTopic_destroy(gone);
  wait_for_partitions(name, 0);
}

void kafka_client::add_partitions(const std::string& topic, int total) {
  std::array<char, 256> why{};
  rd_kafka_t* const client = impl_->producer.get();
  rd_kafka_NewPartitions_t* more =
      rd_kafka_NewPartitions_new(topic.c_str(), static_cast<std::size_t>(total), why.data(), why.size());
  check(more != nullptr, why.data());
  administer(
      client, "add partitions to " + topic,
      [&](rd_kafka_queue_t* answers) { rd_kafka_CreatePartitions(client, &more, 1, nullptr, answers); },
      [](rd_kafka_event_t* told) {
        std::size_t count = 0;
        return rd_kafka_topic_result_error(
            rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(told), &count)[0]);
      });
  rd_kafka_NewPartitions_destroy(more);
  wait_for_partitions(topic, total);
}

void kafka_client::delete_records(const std::string& topic, std::int32_t partition, std::int64_t before) {
  rd_kafka_t* const client = impl_->producer.get();
  rd_kafka_topic_partition_list_t* const places = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(places, topic.c_str(), partition)->offset = before;
  rd_kafka_DeleteRecords_t* gone = rd_kafka_DeleteRecords_new(places);
  administer(
      client, "delete records of " + topic,
      [&](rd_kafka_queue_t* answers) { rd_kafka_DeleteRecords(client, &gone, 1, nullptr, answers); },
      [](rd_kafka_event_t* told) {
        return rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(told))->elems[0].err;
      });
  rd_kafka_DeleteRecords_destroy(gone);
  rd_kafka_topic_partition_list_destroy(places);
}

/// librdkafka 2.0 knows no rights to a transactional.id.
void kafka_client::allow(const std::string& user, operation call, resource kind, const std::string& name) {
  rd_kafka_t* const client = impl_->producer.get();
  std::array<char, 256> why{};
  const auto of_operation = call == operation::describe ? RD_KAFKA_ACL_OPERATION_DESCRIBE
                            : call == operation::read   ? RD_KAFKA_ACL_OPERATION_READ
                                                        : RD_KAFKA_ACL_OPERATION_WRITE;
  const auto of_resource = kind == resource::topic ? RD_KAFKA_RESOURCE_TOPIC : RD_KAFKA_RESOURCE_GROUP;
  const std::string principal = "User:" + user;
  rd_kafka_AclBinding_t* right =
      rd_kafka_AclBinding_new(of_resource, name.c_str(), RD_KAFKA_RESOURCE_PATTERN_LITERAL, principal.c_str(),
                              "*", of_operation, RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, why.data(), why.size());
  check(right != nullptr, why.data());
  administer(
      client, "allow " + user,
      [&](rd_kafka_queue_t* answers) { rd_kafka_CreateAcls(client, &right, 1, nullptr, answers); },
      [](rd_kafka_event_t* told) {
        std::size_t count = 0;
        const auto* const all =
            rd_kafka_CreateAcls_result_acls(rd_kafka_event_CreateAcls_result(told), &count);
        return rd_kafka_error_code(rd_kafka_acl_result_error(all[0]));
      });
  rd_kafka_AclBinding_destroy(right);
  // The controller knows it before the broker does.
  rd_kafka_AclBindingFilter_t* const wanted = rd_kafka_AclBindingFilter_new(
      of_resource, name.c_str(), RD_KAFKA_RESOURCE_PATTERN_LITERAL, principal.c_str(), "*", of_operation,
      RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, why.data(), why.size());
  check(wanted != nullptr, why.data());
  for (std::size_t found = 0; found == 0;)
    administer(
        client, "rights of " + user,
        [&](rd_kafka_queue_t* answers) { rd_kafka_DescribeAcls(client, wanted, nullptr, answers); },
        [&](rd_kafka_event_t* told) {
          rd_kafka_DescribeAcls_result_acls(rd_kafka_event_DescribeAcls_result(told), &found);
          return RD_KAFKA_RESP_ERR_NO_ERROR;
        });
  rd_kafka_AclBinding_destroy(wanted);
}

void kafka_client::set_offset(const std::string& group, const std::string& topic, std::int32_t partition,
                              std::int64_t offset) {
  const client member(
      make(RD_KAFKA_CONSUMER, {{"bootstrap.servers", impl_->addresses}, {"group.id", group}}));
  rd_kafka_topic_partition_list_t* const places = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(places, topic.c_str(), partition)->offset = offset;
  ask([&] { return rd_kafka_commit(member.get(), places, 0); }, "set the offset of " + group);
  rd_kafka_topic_partition_list_destroy(places);
}

void kafka_handle::produce_all(rd_kafka_t* producer, const std::string& topic, std::int32_t partition,
                               const std::vector<kafka_client::message>& messages) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (const kafka_client::message& each : messages) {
    for (;;) {
      void* const value = each.has_value ? const_cast<char*>(each.value.data()) : nullptr;
      const void* const key = each.key ? each.key->data() : nullptr;
      rd_kafka_headers_t* const headers = headers_of(each);
      const auto failure = rd_kafka_producev(
          producer, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(partition),
          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(value, each.value.size()),
          RD_KAFKA_V_KEY(key, each.key.value_or("").size()), RD_KAFKA_V_TIMESTAMP(each.time_ms),
          RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
      if (failure != RD_KAFKA_RESP_ERR_NO_ERROR) rd_kafka_headers_destroy(headers);
      if (failure == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        rd_kafka_poll(producer, 10);
        continue;
      }
      // Of several brokers, some know a new topic before others; the client believes the first for minutes.
      if (failure == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC && std::chrono::steady_clock::now() < end) {
        const struct rd_kafka_metadata* told = nullptr;
        ask([&] { return rd_kafka_metadata(producer, 0, nullptr, &told, timeout_ms); }, "metadata");
        rd_kafka_metadata_destroy(told);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        continue;
      }
      check(failure, "produce");
      break;
    }
  }
  check(rd_kafka_flush(producer, timeout_ms), "flush");
}

void kafka_client::produce(const std::string& topic, std::int32_t partition,
                           const std::vector<message>& messages) {
  produce_all(impl_->producer.get(), topic, partition, messages);
}

std::int64_t kafka_handle::end_of(rd_kafka_t* asker, const std::string& topic, std::int32_t partition) {
  std::int64_t low = 0, high = 0;
  ask(
      [&] {
        return rd_kafka_query_watermark_offsets(asker, topic.c_str(), partition, &low, &high, timeout_ms);
      },
      "the end of " + topic);
  return high;
}

std::int64_t kafka_client::end_of(const std::string& topic, std::int32_t partition) const {
  return kafka_handle::end_of(impl_->producer.get(), topic, partition);
}

std::vector<kafka_client::message> kafka_client::read(const std::string& topic) const {
  const client reader(make(RD_KAFKA_CONSUMER, {{"bootstrap.servers", impl_->addresses},
                                               {"group.id", "reader"},
                                               {"enable.auto.commit", "false"},
                                               {"enable.partition.eof", "true"},
                                               {"auto.offset.reset", "earliest"},
                                               {"fetch.wait.max.ms", "10"}}));
  rd_kafka_poll_set_consumer(reader.get());
  const int count = impl_->partitions_of(topic);
  rd_kafka_topic_partition_list_t* const all = rd_kafka_topic_partition_list_new(count);
  for (int i = 0; i < count; ++i)
    rd_kafka_topic_partition_list_add(all, topic.c_str(), i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  check(rd_kafka_assign(reader.get(), all), "assign");
  rd_kafka_topic_partition_list_destroy(all);

  std::map<std::int32_t, std::vector<message>> found;
  for (int ended = 0; ended < count;) {
    rd_kafka_message_t* const told = rd_kafka_consumer_poll(reader.get(), timeout_ms);
    check(told != nullptr, "nothing to read");
    const auto failure = told->err;
    if (failure == RD_KAFKA_RESP_ERR__PARTITION_EOF)
      ++ended;
    else if (failure == RD_KAFKA_RESP_ERR_NO_ERROR)
      found[told->partition].push_back(copy_of(*told));
    rd_kafka_message_destroy(told);
  }
  rd_kafka_consumer_close(reader.get());
  std::vector<message> flat;
  for (const auto& [partition, messages] : found) flat.insert(flat.end(), messages.begin(), messages.end());
  return flat;
}

std::map<std::int32_t, std::int64_t> kafka_client::committed(const std::string& group,
                                                             const std::string& topic) const {
  const client asker(make(RD_KAFKA_CONSUMER, {{"bootstrap.servers", impl_->addresses}, {"group.id", group}}));
  const int count = impl_->partitions_of(topic);
  rd_kafka_topic_partition_list_t* const all = rd_kafka_topic_partition_list_new(count);
  for (int i = 0; i < count; ++i) rd_kafka_topic_partition_list_add(all, topic.c_str(), i);
  ask([&] { return rd_kafka_committed(asker.get(), all, timeout_ms); }, "committed");
  std::map<std::int32_t, std::int64_t> found;
  for (int i = 0; i < count; ++i)
    if (all->elems[i].offset >= 0) found[all->elems[i].partition] = all->elems[i].offset;
  rd_kafka_topic_partition_list_destroy(all);
  return found;
}

int kafka_client::members(const std::string& group) const {
  const rd_kafka_group_list* told = nullptr;
  const auto list = [&] {
    if (told != nullptr) rd_kafka_group_list_destroy(told);
    told = nullptr;
    const auto failure = rd_kafka_list_groups(impl_->producer.get(), group.c_str(), &told, timeout_ms);
    return failure == RD_KAFKA_RESP_ERR_NO_ERROR && told->group_cnt == 1 ? told->groups[0].err : failure;
  };
  ask(list, "members of " + group);
  const bool is_stable = told->group_cnt == 1 && std::string_view(told->groups[0].state) == "Stable";
  const int count = is_stable ? told->groups[0].member_cnt : 0;
  rd_kafka_group_list_destroy(told);
  return count;
}

}  // namespace everseen::test
