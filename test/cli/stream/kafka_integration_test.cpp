// `everseen stream` with a broker of Apache Kafka, as operators meet it.

#include <optional>

#include <librdkafka/rdkafka.h>

#include "test/cli/shell.hpp"
#include "test/support/kafka/kafka_broker.hpp"
#include "test/support/kafka/kafka_handle.hpp"

namespace everseen::test {
namespace {

using testing::Field;
using testing::HasSubstr;

using message = kafka_client::message;

message keyed(std::string value, std::optional<std::string> key, std::vector<message::header> headers = {}) {
  message made{std::move(value), std::move(key)};
  made.headers = std::move(headers);
  return made;
}

/// Each test has its own topics on the broker of all.
class StreamOnApacheKafka : public Shell {
 protected:
  void SetUp() override {
    kafka_broker::skip_test_without();
    topic_ = testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  static kafka_client& kafka() { return kafka_broker::of_all().client(); }
  void create(int partitions = 1, const std::map<std::string, std::string>& settings = {}) const {
    kafka().create_topic(topic_, partitions, settings);
  }
  void produce(const std::vector<std::string>& texts, std::int32_t partition = 0) const {
    std::vector<message> all;
    for (const std::string& each : texts) all.push_back({each});
    kafka().produce(topic_, partition, all);
  }
  /// What a run to the end of the topic prints.
  [[nodiscard]] program_result run(const std::string& options = "", const std::string& of_url = "") const {
    return sh("everseen stream --quiet --filter f --store \"$EVERSEEN_STORE?sync=always\" --to - --from '" +
              kafka_broker::of_all().url(topic_, "?group=g-" + topic_ + "&until=end" + of_url) + "' " +
              options);
  }

  std::string topic_;
};

// Promise: a message of Kafka may be judged by its key or by a header (streams, Kafka).
TEST_F(StreamOnApacheKafka, JudgesByTheKeyOfTheMessage) {
  create();
  kafka().produce(topic_, 0,
                  {keyed("a", "1"), keyed("b", "1"), keyed("a", "2"), keyed("c", ""), keyed("d", "")});
  EXPECT_THAT(run("--key-kafka key"), Prints("a\na\nc\n"));
  kafka().produce(topic_, 0, {keyed("e", std::nullopt)});
  EXPECT_THAT(run("--key-kafka key"), Complains(4, "the record at 5 of", "no key", "its own is null"));
}

TEST_F(StreamOnApacheKafka, JudgesByAHeader) {
  create();
  kafka().produce(topic_, 0,
                  {keyed("a", "1", {{"id", "x"}}), keyed("b", "2", {{"id", "x"}}),
                   keyed("c", "3", {{"id", "x"}, {"id", "y"}}), keyed("d", "4", {{"id", "y"}})});
  EXPECT_THAT(run("--key-kafka header:id"), Prints("a\nc\n"));
  kafka().produce(topic_, 0, {keyed("e", "5", {{"ID", "z"}})});
  EXPECT_THAT(run("--key-kafka header:id"), Complains(4, "no key", "there is no header id"));
  EXPECT_THAT(run("--key-kafka header:id --bad-events skip"), Prints(""));
  EXPECT_THAT(run("--key-kafka key"), Complains(2, "was begun with --key-kafka header:id"));
}

TEST_F(StreamOnApacheKafka, TakesOneKeyOfMessagesOfKafkaAlone) {
  EXPECT_THAT(run("--key-kafka key --key 1"), Complains(2, "--key and --key-kafka exclude each other"));
  EXPECT_THAT(run("--key-kafka offset"), Complains(2, "give key, or header:"));
  EXPECT_THAT(run("--key-kafka header:"), Complains(2, "give key, or header:"));
  EXPECT_THAT(sh("everseen stream --filter f --from - --to - --key-kafka key"),
              Complains(2, "--from kafka://"));
}

TEST_F(StreamOnApacheKafka, ReadsEveryCompression) {
  create();
  std::vector<std::string> wanted;
  for (const std::string codec : {"none", "gzip", "snappy", "lz4", "zstd"}) {
    std::vector<message> all;
    for (int i = 0; i < 500; ++i) all.push_back({codec + std::to_string(i)});
    kafka().compressing_by(codec).produce(topic_, 0, all);
    for (const message& each : all) wanted.push_back(each.value);
  }
  std::string text;
  for (const std::string& each : wanted) (text += each) += '\n';
  EXPECT_EQ(run().out, text);
}

TEST_F(StreamOnApacheKafka, CopiesRecordsAtTheLimitOfTheirSize) {
  create(1, {{"max.message.bytes", "1200000"}});
  const std::string large(999'000, 'x');
  kafka().produce(topic_, 0, {{large + 'a'}, {large + 'b'}, {large + 'a'}});
  EXPECT_EQ(run().out, large + "a\n" + large + "b\n");
  kafka().create_topic(topic_ + "-small", 1, {{"max.message.bytes", "500000"}});
  EXPECT_THAT(sh("everseen stream --quiet --filter copy --from '" +
                 kafka_broker::of_all().url(topic_, "?group=c&until=end") + "' --to '" +
                 kafka_broker::of_all().url(topic_ + "-small") + "'"),
              Field("err", &program_result::err, HasSubstr("max.message.bytes of the topic")));
}

TEST_F(StreamOnApacheKafka, ReadsPartitionsThatWereAdded) {
  create();
  produce({"a", "b"});
  EXPECT_THAT(run(), Prints("a\nb\n"));
  kafka().add_partitions(topic_, 3);
  produce({"b", "c"}, 2);
  EXPECT_THAT(run(), Prints("c\n"));
}

TEST_F(StreamOnApacheKafka, NoticesATopicThatWasMadeAnew) {
  create();
  produce({"a", "b", "c"});
  EXPECT_THAT(run(), Prints("a\nb\nc\n"));
  kafka().delete_topic(topic_);
  create();
  produce({"d"});
  const program_result again = run();
  EXPECT_NE(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("the topic was created again"));
}

TEST_F(StreamOnApacheKafka, NoticesEventsThatRetentionRemoved) {
  create();
  produce({"a", "b"});
  EXPECT_THAT(run(), Prints("a\nb\n"));
  produce({"c", "d", "e"});
  kafka().delete_records(topic_, 0, 4);
  EXPECT_THAT(run(), Field("err", &program_result::err, HasSubstr("gap=skip")));
  EXPECT_EQ(run("", "&gap=skip").out, "e\n");
}

TEST_F(StreamOnApacheKafka, BeginsWithWhatIsThere) {
  create();
  produce({"a"});
  kafka().delete_records(topic_, 0, 1);
  produce({"b"});
  EXPECT_THAT(run(), Prints("b\n"));
}

// Promise: the ledger, not the group's offset, decides what was counted (streams, Kafka).
TEST_F(StreamOnApacheKafka, RepeatsNothingThoughTheGroupIsMovedBack) {
  create();
  produce({"a", "b", "c"});
  EXPECT_THAT(run(), Prints("a\nb\nc\n"));
  kafka().set_offset("g-" + topic_, topic_, 0, 0);
  produce({"d"});
  EXPECT_THAT(run(), Prints("d\n"));
}

TEST_F(StreamOnApacheKafka, SkipsNothingThoughTheGroupIsMovedAhead) {
  create();
  produce({"a", "b", "c"});
  EXPECT_THAT(run(), Prints("a\nb\nc\n"));
  produce({"d", "e"});
  kafka().set_offset("g-" + topic_, topic_, 0, 5);
  EXPECT_THAT(run(), Prints("d\ne\n"));
}

/// Another program that is the one member of a group, and shares partitions eagerly.
class eager_member {
 public:
  eager_member(const std::string& group, const std::string& topic)
      : client_(kafka_handle::make(RD_KAFKA_CONSUMER, {{"bootstrap.servers", kafka().brokers()},
                                                       {"group.id", group},
                                                       {"partition.assignment.strategy", "range"}})) {
    rd_kafka_topic_partition_list_t* const topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, topic.c_str(), RD_KAFKA_PARTITION_UA);
    kafka_handle::check(rd_kafka_subscribe(client_.get(), topics), "subscribe");
    rd_kafka_topic_partition_list_destroy(topics);
    while (kafka().members(group) != 1) take();
  }
  /// The next value, once there is one; nothing within 100 ms.
  std::optional<std::string> take() {
    rd_kafka_message_t* const told = rd_kafka_consumer_poll(client_.get(), 100);
    if (told == nullptr) return {};
    std::optional<std::string> value;
    if (told->err == RD_KAFKA_RESP_ERR_NO_ERROR) value.emplace(static_cast<char*>(told->payload), told->len);
    rd_kafka_message_destroy(told);
    return value;
  }

 private:
  static kafka_client& kafka() { return kafka_broker::of_all().client(); }
  kafka_handle::client client_;
};

TEST_F(StreamOnApacheKafka, IsToldThatAGroupSharesItsPartitionsEagerly) {
  create();
  eager_member other("g-" + topic_, topic_);
  EXPECT_THAT(run(), Complains(3, "the group has members that do not share partitions as everseen does"));
  produce({"a"});
  std::optional<std::string> taken;
  while (!taken) taken = other.take();
  EXPECT_EQ(taken, "a") << "the other member is not disturbed";
}

/// A broker that lets in only those who prove who they are.
class SecuredApacheKafka : public Shell {
 protected:
  static void SetUpTestSuite() {
    if (!kafka_broker::why_not().empty()) return;
    authority_ = std::make_unique<tls_files>();
    broker_ = std::make_unique<kafka_broker>(*authority_);
    broker_->client().create_topic("raw", 1);
    broker_->client().create_topic("fresh", 1);
    broker_->client().produce("raw", 0, {{"a"}, {"b"}, {"a"}});
  }
  static void TearDownTestSuite() { broker_.reset(), authority_.reset(); }
  void SetUp() override { kafka_broker::skip_test_without(); }

  [[nodiscard]] program_result run(const std::string& url) const {
    return sh("everseen stream --quiet --filter f --store \"$EVERSEEN_STORE?sync=always\" --to - --from '" +
              url + "'");
  }
  [[nodiscard]] static std::string login(const std::string& mechanism, const std::string& user,
                                         const std::string& password) {
    return "retry_for=30s&security.protocol=sasl_plaintext&sasl.mechanism=" + mechanism +
           "&sasl.username=" + user + "&sasl.password=" + password;
  }
  [[nodiscard]] static std::string sasl(const std::string& mechanism, const std::string& password) {
    return broker_->sasl_url("raw",
                             "?until=end&group=" + mechanism + '&' + login(mechanism, "alice", password));
  }
  /// As a user who has only the rights that it was given.
  [[nodiscard]] static std::string source_of_worker(const std::string& group) {
    return broker_->sasl_url("raw", "?until=end&group=" + group + '&' + login("PLAIN", "worker", "right"));
  }
  [[nodiscard]] program_result copy_as_worker(const std::string& from) const {
    return sh("everseen stream --quiet --filter f-copy --store \"$EVERSEEN_STORE?sync=always\" --from '" +
              from + "' --to '" +
              broker_->sasl_url("fresh", "?transactional.id=t&" + login("PLAIN", "worker", "right")) + "'");
  }
  [[nodiscard]] static std::string tls(const std::string& ca, const std::string& certificate,
                                       const std::string& key, const std::string& retry_for = "30s") {
    return broker_->tls_url(
        "raw", "?until=end&retry_for=" + retry_for + "&group=tls&security.protocol=ssl&ssl.ca.location=" +
                   ca + "&ssl.certificate.location=" + certificate + "&ssl.key.location=" + key);
  }
  static auto Refuses(const std::string& words) {
    return testing::AllOf(Field("exit_code", &program_result::exit_code, 3),
                          Field("err", &program_result::err, HasSubstr(words)));
  }

  static inline std::unique_ptr<tls_files> authority_;
  static inline std::unique_ptr<kafka_broker> broker_;
};

// Promise: brokers that want SASL or certificates are read with the right ones, and named errors follow wrong
// ones (streams, Kafka).
TEST_F(SecuredApacheKafka, IsReadByAUserWithAPassword) {
  EXPECT_THAT(run(sasl("PLAIN", "right")), Prints("a\nb\n"));
  EXPECT_THAT(run(sasl("PLAIN", "wrong")), Refuses("the credentials were refused"));
}

TEST_F(SecuredApacheKafka, IsReadByAUserWhoProvesToKnowAPassword) {
  if (rd_kafka_version() < 0x020601ff)
    EXPECT_THAT(run(sasl("SCRAM-SHA-256", "right")), Refuses("needs librdkafka 2.6.1"));
  else
    EXPECT_THAT(run(sasl("SCRAM-SHA-256", "right")), Prints("a\nb\n"));
  EXPECT_THAT(run(sasl("SCRAM-SHA-256", "wrong")), Refuses("the credentials were refused"));
}

TEST_F(SecuredApacheKafka, IsReadByAClientWithACertificate) {
  EXPECT_THAT(run(tls(authority_->ca(), authority_->client_cert(), authority_->client_key())),
              Prints("a\nb\n"));
  EXPECT_THAT(run(tls(authority_->stranger(), authority_->client_cert(), authority_->client_key())),
              Refuses("TLS failed"))
      << "the broker's certificate is of an authority that the client does not trust";
  EXPECT_THAT(run(tls(authority_->ca(), authority_->stranger(), authority_->path("stranger.key"), "5s")),
              Refuses("does it take this client's certificate"))
      << "and the other way round";
}

// Promise: a user of Kafka without a right is told which one is missing (streams, Kafka).
TEST_F(SecuredApacheKafka, NamesTheRightThatAUserLacks) {
  kafka_client& kafka = broker_->client();
  using enum kafka_client::operation;
  using enum kafka_client::resource;
  kafka.allow("worker", read, group, "g");
  EXPECT_THAT(run(source_of_worker("g")), Refuses("may not use the topic 'raw'"));
  kafka.allow("worker", describe, topic, "raw");
  EXPECT_THAT(run(source_of_worker("g")), Refuses("may not use the topic 'raw'")) << "it may not read it";
  kafka.allow("worker", read, topic, "raw");
  EXPECT_THAT(run(source_of_worker("another")), Refuses("may not use the consumer group"));
  EXPECT_THAT(run(source_of_worker("g")), Prints("a\nb\n"));

  EXPECT_THAT(sh("printf 'x\\ny\\nx\\n' > lines"), Prints(""));
  EXPECT_THAT(copy_as_worker("lines"), Refuses("may not use the topic 'fresh'"));
  kafka.allow("worker", describe, topic, "fresh");
  EXPECT_THAT(copy_as_worker("lines"), Refuses("may write to no topic"));
  kafka.allow("worker", write, topic, "fresh");
  EXPECT_THAT(copy_as_worker("lines"), Prints(""));
  EXPECT_EQ(kafka.read("fresh").size(), 2U);
  EXPECT_THAT(copy_as_worker(source_of_worker("g")), Refuses("may not use the transactional.id"));
}

TEST_F(SecuredApacheKafka, RefusesThoseWithoutASecret) {
  EXPECT_THAT(run(broker_->tls_url("raw", "?until=end&retry_for=3s")), Refuses("does it want TLS"));
  EXPECT_THAT(run(broker_->sasl_url("raw", "?until=end&retry_for=3s")), Refuses("no broker answers"));
}

}  // namespace
}  // namespace everseen::test
