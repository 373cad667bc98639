#include "everseen/jobs/kafka/rdkafka_offsets.hpp"

#include <chrono>
#include <thread>

#include "everseen/core/base/error.hpp"

namespace everseen::rdkafka {

namespace {

/// Retries for the URL's retry_for, unless a retry cannot help.
template <typename Ask>
void insist(const kafka_url& where, Ask ask) {
  using std::chrono::steady_clock;
  const auto end = steady_clock::now() + where.retry_for;
  for (;;) {
    const rd_kafka_resp_err_t error = ask();
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return;
    if (judge(error) == trouble::lasting || steady_clock::now() >= end) raise(error, {}, where);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

void read_committed(rd_kafka_t* client, const kafka_url& where, rd_kafka_topic_partition_list_t& offsets) {
  // A transaction that is about to end delays the answer.
  insist(where, [&] { return rd_kafka_committed(client, &offsets, 5 * query_timeout_ms); });
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
  insist(where, [&] { return ask_metadata(client, local.get(), query_timeout_ms, &told); });
  const std::int32_t found = told->topic_cnt == 1 ? told->topics[0].partition_cnt : 0;
  rd_kafka_metadata_destroy(told);
  return found;
}

limits limits_of(rd_kafka_t* client, const kafka_url& where, const std::string& lane) {
  const auto [name, partition] = lane_parts(lane);
  std::int64_t low = 0, high = 0;
  insist(where, [&, number = partition, topic = name] {
    return rd_kafka_query_watermark_offsets(client, topic.c_str(), number, &low, &high, query_timeout_ms);
  });
  return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)};
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
