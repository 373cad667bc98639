#include "everseen/jobs/kafka/rdkafka_handle.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <span>
#include <thread>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/kafka/rdkafka_error.hpp"

namespace everseen::rdkafka {

namespace {

/// Never shows the value, which may be a secret, nor librdkafka's message, which contains it.
void set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  std::array<char, 256> message{};
  switch (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), message.data(), message.size())) {
    case RD_KAFKA_CONF_OK:
      return;
    case RD_KAFKA_CONF_UNKNOWN:
      throw parameter_error("librdkafka has no property '" + name +
                            "'; its CONFIGURATION.md lists all properties");
    default:
      throw parameter_error("librdkafka does not accept the value of " + name +
                            "; its CONFIGURATION.md lists the accepted ones");
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  const std::size_t end = text.find_last_not_of(blanks);
  return end == std::string_view::npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

void read_file(rd_kafka_conf_t* conf, const std::string& path) {
  std::ifstream in(path);
  if (!in) throw storage_error("cannot read " + path + ": " + std::strerror(errno), errno, path);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::string_view text = trimmed(line);
    if (text.empty() || text.starts_with('#')) continue;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos)
      throw parameter_error(path + ", line " + std::to_string(number) + ": a line is property=value");
    const std::string name(trimmed(text.substr(0, equals)));
    check_kafka_property(name);
    set(conf, name, std::string(trimmed(text.substr(equals + 1))));
  }
}

}  // namespace

rd_kafka_resp_err_t ask_metadata(rd_kafka_t* client, rd_kafka_topic_t* topic, int timeout_ms,
                                 const struct rd_kafka_metadata** answer) {
  const auto error = rd_kafka_metadata(client, 0, topic, answer, timeout_ms);
  return error == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE ? RD_KAFKA_RESP_ERR__TRANSPORT : error;
}

configuration configure(const kafka_url& where, const settings& defaults, const settings& fixed) {
  configuration conf(rd_kafka_conf_new());
  for (const auto& [name, value] : defaults) set(conf.get(), name, value);
  if (where.config_file) read_file(conf.get(), *where.config_file);
  bool debugs = false;
  for (const auto& [name, value] : where.properties) {
    set(conf.get(), name, value);
    debugs = debugs || name == "debug";
  }
  for (const auto& [name, value] : fixed) set(conf.get(), name, value);
  set(conf.get(), "bootstrap.servers", where.brokers);
  // Messages that it would print on the terminal are returned as errors, in our words.
  if (!debugs) rd_kafka_conf_set_log_cb(conf.get(), nullptr);
  return conf;
}

client_handle create_client(rd_kafka_type_t type, configuration options, const kafka_url& where) {
  std::array<char, 512> message{};
  client_handle made(rd_kafka_new(type, options.get(), message.data(), message.size()));
  if (!made) throw parameter_error(to_string(where) + ": " + message.data());
  (void)options.release();  // the client owns it now
  return made;
}

namespace {

/// How long a question to the brokers is asked again.
class persistence {
 public:
  explicit persistence(const kafka_url& where) : end_(clock::now() + where.retry_for) {}

  /// Whether to ask again after this answer: until the URL's retry_for has passed, unless that cannot help.
  /// That a topic or partition is unknown may pass: brokers learn of new ones one after the other.
  bool goes_on_after(rd_kafka_resp_err_t error) {
    const auto current = clock::now();
    if (current >= end_) return false;
    if (!is_unknown(error)) return judge(error) != trouble::lasting;
    unknown_until_ = std::min(unknown_until_, current + longest_unknown);
    return current < unknown_until_;
  }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point end_;
  clock::time_point unknown_until_ = clock::time_point::max();  // since the first such answer
};

template <typename Ask>
void insist(const kafka_url& where, Ask ask) {
  persistence still(where);
  for (;;) {
    const rd_kafka_resp_err_t error = ask();
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return;
    if (!still.goes_on_after(error)) raise(error, {}, where);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

/// The URL of one of its topics, for what is said of it.
kafka_url only(const kafka_url& where, const std::string& topic) {
  kafka_url one = where;
  one.topics = {topic};
  return one;
}

/// One attempt to get a topic's metadata.
rd_kafka_resp_err_t look_for(rd_kafka_t* client, const std::string& name) {
  constexpr int timeout_ms = 500;
  const topic_handle local(rd_kafka_topic_new(client, name.c_str(), nullptr));
  const struct rd_kafka_metadata* told = nullptr;
  const auto error = ask_metadata(client, local.get(), timeout_ms, &told);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
  const auto found = told->topic_cnt == 1 ? told->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
  rd_kafka_metadata_destroy(told);
  return found;
}

}  // namespace

// Brokers learn of topics one after the other, so one that answers at last may not know a topic yet.
void find_topics(rd_kafka_t* client, const kafka_url& where, const std::function<void()>& heard) {
  for (const std::string& name : where.topics) {
    persistence still(where);
    for (;;) {
      const auto error = look_for(client, name);
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) break;
      heard();
      if (!still.goes_on_after(error))
        raise(error, {}, judge(error) == trouble::lasting ? only(where, name) : where);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

std::string lane_name(std::string_view topic, std::int32_t partition) {
  return std::string(topic) + '/' + std::to_string(partition);
}

std::pair<std::string, std::int32_t> lane_parts(std::string_view lane) {
  const std::size_t slash = lane.rfind('/');
  std::int32_t partition = -1;
  if (slash == std::string_view::npos) return {std::string(lane), -1};
  const char* const end = lane.data() + lane.size();
  const auto [position, error] = std::from_chars(lane.data() + slash + 1, end, partition);
  return {std::string(lane.substr(0, slash)), error == std::errc() && position == end ? partition : -1};
}

void read_committed(rd_kafka_t* client, const kafka_url& where, rd_kafka_topic_partition_list_t& offsets) {
  insist(where, [&] {
    // A transaction that is about to end delays the answer.
    const auto error = rd_kafka_committed(client, &offsets, 5 * query_timeout_ms);
    const std::span each(offsets.elems, static_cast<std::size_t>(offsets.cnt));
    const auto failed =
        std::ranges::find_if(each, [](const auto& e) { return e.err != RD_KAFKA_RESP_ERR_NO_ERROR; });
    return error != RD_KAFKA_RESP_ERR_NO_ERROR || failed == each.end() ? error : failed->err;
  });
}

void write_committed(rd_kafka_t* client, const kafka_url& where,
                     const rd_kafka_topic_partition_list_t& offsets) {
  insist(where, [&] {
    const auto error = rd_kafka_commit(client, &offsets, 0);
    if (is_left_behind(error))  // until the group has made its next generation
      raise(error, "the group has given this worker up meanwhile; nothing is lost: start it again", where);
    return error;
  });
}

std::string cluster_of(rd_kafka_t* client) {
  char* const id = rd_kafka_clusterid(client, query_timeout_ms);
  const std::string found = id == nullptr ? std::string() : std::string(id);
  rd_kafka_mem_free(client, id);
  return found;
}

std::int32_t partitions_of(rd_kafka_t* client, const kafka_url& where, const std::string& topic) {
  const topic_handle local(rd_kafka_topic_new(client, topic.c_str(), nullptr));
  const struct rd_kafka_metadata* told = nullptr;
  std::int32_t found = 0;
  insist(only(where, topic), [&] {
    const auto error = ask_metadata(client, local.get(), query_timeout_ms, &told);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
    const auto unknown = told->topic_cnt == 1 ? told->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    found = unknown == RD_KAFKA_RESP_ERR_NO_ERROR ? told->topics[0].partition_cnt : 0;
    rd_kafka_metadata_destroy(told);
    return unknown;
  });
  return found;
}

namespace {

/// One attempt to get a lane's limits.
rd_kafka_resp_err_t ask_limits(rd_kafka_t* client, const std::string& lane, std::int64_t& low,
                               std::int64_t& high) {
  const auto [topic, partition] = lane_parts(lane);
  const auto error =
      rd_kafka_query_watermark_offsets(client, topic.c_str(), partition, &low, &high, query_timeout_ms);
  // By what this client was last told of the topic, which may be minutes ago: it asks anew.
  if (error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION) (void)look_for(client, topic);
  return error;
}

}  // namespace

limits limits_of(rd_kafka_t* client, const kafka_url& where, const std::string& lane) {
  std::int64_t low = 0, high = 0;
  insist(only(where, lane_parts(lane).first), [&] { return ask_limits(client, lane, low, high); });
  return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)};
}

void find_partition(rd_kafka_t* client, const kafka_url& where, const std::string& lane) {
  std::int64_t low = 0, high = 0;
  insist(only(where, lane_parts(lane).first), [&] {
    const auto error = ask_limits(client, lane, low, high);
    return is_unknown(error) ? error : RD_KAFKA_RESP_ERR_NO_ERROR;
  });
}

std::uint64_t start_after_gap(rd_kafka_t* client, const kafka_url& where, const std::string& lane,
                              std::uint64_t wanted) {
  const limits there = limits_of(client, where, lane);
  if (wanted > there.high)
    throw parameter_error(
        "the job has read " + lane + " up to offset " + std::to_string(wanted) + ", but it ends at " +
        std::to_string(there.high) +
        ": the topic was created again or truncated; count it under another --job, with a group "
        "of its own");
  if (wanted >= there.low) return wanted;
  if (where.gap == kafka_url::gap_rule::skip) return there.low;
  throw backend_error(
      "the events of " + lane + " from offset " + std::to_string(wanted) + " to " +
      std::to_string(there.low - 1) +
      " are gone: the topic's retention removed them before they were read; gap=skip in the URL "
      "continues with the remaining events");
}

}  // namespace everseen::rdkafka
