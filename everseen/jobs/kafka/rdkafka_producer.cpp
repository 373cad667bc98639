#include "everseen/jobs/kafka/rdkafka_producer.hpp"

#include <array>
#include <charconv>
#include <optional>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/fault_point.hpp"
#include "everseen/jobs/kafka/rdkafka_error.hpp"

namespace everseen::rdkafka {

namespace {

constexpr int transaction_timeout_ms = 5'000;

/// One request at a time to each broker. With more under way, a broker may refuse the first one (it does not
/// lead the partition yet) and accept the second. librdkafka then takes the messages of the first one, which
/// it should send again, for delivered. Kafka does not notice: a partition accepts any first number of a
/// producer that it does not know.
constexpr const char* requests_under_way = "1";

configuration producer_configuration(const kafka_url& where, const std::string& transactional_id) {
  // For messages with a key, the same partition that Kafka's own clients choose. A commit sends what waits,
  // so waiting makes batches larger and delays nothing. Nobody asks about messages that arrived: no reports
  // of them.
  configuration conf = configure(
      where,
      {{"client.id", "everseen"},
       {"linger.ms", "50"},
       {"partitioner", "murmur2_random"},
       {"delivery.report.only.error", "true"}},
      {{"enable.idempotence", "true"}, {"max.in.flight.requests.per.connection", requests_under_way}});
  // A file of properties may set one, which has no meaning without transactions.
  const char* const id = transactional_id.empty() ? nullptr : transactional_id.c_str();
  if (rd_kafka_conf_set(conf.get(), "transactional.id", id, nullptr, 0) != RD_KAFKA_CONF_OK)
    throw parameter_error("librdkafka does not take the value of transactional.id");
  return conf;
}

/// The time of a record as librdkafka expects it: 0, which it cannot send, means the current time to it.
std::int64_t time_of(const record_envelope& envelope) {
  if (!envelope.time) return 0;
  return envelope.time->count() == 0 ? 1 : envelope.time->count();
}

}  // namespace

producer::producer(const kafka_url& where, const std::string& transactional_id)
    : where_(where), transactional_(!transactional_id.empty()) {
  configuration conf = producer_configuration(where_, transactional_id);
  rd_kafka_conf_set_opaque(conf.get(), this);
  rd_kafka_conf_set_dr_msg_cb(conf.get(), on_delivery);
  rd_kafka_conf_set_error_cb(conf.get(), on_error);
  client_ = create_client(RD_KAFKA_PRODUCER, std::move(conf), where_);
  topic_.reset(rd_kafka_topic_new(client_.get(), where_.topics.front().c_str(), nullptr));
}

void producer::on_delivery(rd_kafka_t* client, const rd_kafka_message_t* message, void* opaque) {
  auto& self = *static_cast<producer*>(opaque);
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR || self.failure_) return;
  // In a transaction, librdkafka reports it at the end, without its reason; another attempt may succeed.
  if (self.transactional_ && judge(message->err) != trouble::lasting) return;
  // Not rd_kafka_message_errstr(): of a message that was produced, it returns the payload.
  const cause why = cause_of(client, message->err);
  self.failure_ = std::make_exception_ptr(backend_error(explain(why.error, why.message, self.where_)));
}

void producer::on_error(rd_kafka_t* /*client*/, int error, const char* message, void* opaque) {
  auto& self = *static_cast<producer*>(opaque);
  const auto code = static_cast<rd_kafka_resp_err_t>(error);
  // In a transaction the failing call reports it, with what to do.
  if (code == RD_KAFKA_RESP_ERR__FATAL || judge(code) != trouble::lasting || self.failure_) return;
  self.failure_ = std::make_exception_ptr(backend_error(explain(code, message, self.where_)));
}

void producer::check() const {
  if (failure_) std::rethrow_exception(failure_);
}

void producer::begin() {
  find_topics(client_.get(), where_, [this] {
    rd_kafka_poll(client_.get(), 0);
    check();
  });
  if (!transactional_) return;
  if (try_step([this] { return rd_kafka_init_transactions(client_.get(), transaction_timeout_ms); }) !=
      outcome::done)
    throw backend_error(to_string(where_) + ": no transaction can begin: " + why_);
}

void producer::produce(const source_record& record) {
  static constexpr record_envelope none{};
  const record_envelope& envelope = record.envelope == nullptr ? none : *record.envelope;
  // A null pointer is a null value or key, and different from an empty one. librdkafka does not write there.
  const auto place_of = [](std::string_view text) {
    return const_cast<char*>(text.data() == nullptr ? "" : text.data());
  };
  void* const value = envelope.has_value ? place_of(record.bytes) : nullptr;
  const void* const key = envelope.key ? place_of(*envelope.key) : nullptr;
  header_list headers(envelope.headers == nullptr ? nullptr : rd_kafka_headers_copy(envelope.headers));
  std::optional<clock::time_point> end;
  for (;;) {
    const auto error = rd_kafka_producev(
        client_.get(), RD_KAFKA_V_RKT(topic_.get()), RD_KAFKA_V_VALUE(value, record.bytes.size()),
        RD_KAFKA_V_KEY(key, envelope.key.value_or("").size()), RD_KAFKA_V_TIMESTAMP(time_of(envelope)),
        RD_KAFKA_V_HEADERS(headers.get()), RD_KAFKA_V_MSGFLAGS(0), RD_KAFKA_V_END);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      (void)headers.release();  // the message owns them now
      return;
    }
    // A failed transaction accepts nothing more: commit() reports it, and everything is put again.
    if (error == RD_KAFKA_RESP_ERR__STATE && transactional_) return;
    if (!end) end = clock::now() + where_.retry_for;
    if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL || clock::now() >= *end) {
      const cause why = cause_of(client_.get(), error);
      raise(why.error, why.message, where_);
    }
    rd_kafka_poll(client_.get(), 10);  // nothing wakes it when there is room
    check();
  }
}

void producer::flush() {
  const auto end = clock::now() + where_.retry_for;
  while (rd_kafka_flush(client_.get(), 500) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    check();
    if (clock::now() >= end) raise(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, {}, where_);
  }
  check();
}

// ---- transactions

/// Evaluates the result of a transaction step.
producer::outcome producer::judge_step(rd_kafka_error_t* answered) {
  const failure error(answered);
  if (!error) return outcome::done;
  const auto code = rd_kafka_error_code(error.get());
  why_ = rd_kafka_error_string(error.get());
  if (is_left_behind(code)) return outcome::left_behind;
  if (rd_kafka_error_is_fatal(error.get()) || judge(code) == trouble::lasting) raise(code, why_, where_);
  if (rd_kafka_error_txn_requires_abort(error.get())) {
    rd_kafka_poll(client_.get(), 0);  // the message that failed it
    check();
    return outcome::aborted;
  }
  if (rd_kafka_error_is_retriable(error.get())) return outcome::again;
  raise(code, why_, where_);
}

template <typename Step>
producer::outcome producer::try_step(Step step) {
  const auto end = clock::now() + where_.retry_for;
  for (;;) {
    check();
    const outcome came = judge_step(step());
    if (came != outcome::again) return came;
    if (clock::now() >= end) raise(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, why_, where_);
    rd_kafka_poll(client_.get(), 50);
  }
}

void producer::begin_transaction() {
  if (try_step([this] { return rd_kafka_begin_transaction(client_.get()); }) != outcome::done)
    throw backend_error(to_string(where_) + ": no transaction can begin: " + why_);
}

std::string producer::cluster() const {
  return cluster_of(client_.get());
}

std::chrono::milliseconds producer::transaction_limit() const {
  std::array<char, 32> text{};
  std::size_t size = text.size();
  int ms = 60'000;
  if (rd_kafka_conf_get(rd_kafka_conf(client_.get()), "transaction.timeout.ms", text.data(), &size) ==
      RD_KAFKA_CONF_OK)
    std::from_chars(text.data(), text.data() + size, ms);
  return std::chrono::milliseconds(ms);
}

producer::result producer::commit(const rd_kafka_topic_partition_list_t& offsets,
                                  const group_metadata& group) {
  const auto send = [&] {
    return rd_kafka_send_offsets_to_transaction(client_.get(), &offsets, group.get(), transaction_timeout_ms);
  };
  outcome came = offsets.cnt > 0 ? try_step(send) : outcome::done;
  if (came == outcome::done) {
    fault_point("half_committed");
    came = try_step([this] { return rd_kafka_commit_transaction(client_.get(), transaction_timeout_ms); });
  }
  if (came == outcome::done) return result::committed;
  return came == outcome::left_behind ? result::left_behind : result::aborted;
}

void producer::abort() {
  failure_ = nullptr;  // of a message of this transaction
  if (try_step([this] { return rd_kafka_abort_transaction(client_.get(), transaction_timeout_ms); }) !=
      outcome::done)
    throw backend_error(to_string(where_) + ": the transaction can be neither ended nor aborted: " + why_);
}

}  // namespace everseen::rdkafka
