// What a record keeps when `everseen stream` copies it from a Kafka topic or a Redis stream.

#include <chrono>

#include "test/cli/shell.hpp"
#include "test/support/kafka/kafka_broker.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::EndsWith;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

using message = kafka_client::message;

/// All that a copy must keep, in a form that a failure prints.
std::string whole(const message& each) {
  std::string text =
      "key " + each.key.value_or("(null)") + ", value " + (each.has_value ? each.value : "(null)");
  for (const auto& [name, value] : each.headers) text += ", header " + name + '=' + value.value_or("(null)");
  return text + ", at " + std::to_string(each.time_ms);
}

std::vector<std::string> whole(const std::vector<message>& all) {
  std::vector<std::string> texts;
  for (const message& each : all) texts.push_back(whole(each));
  return texts;
}

/// When the tests began: Kafka's retention removes older records.
std::int64_t now() {
  static const auto begin = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  return begin.time_since_epoch().count();
}

message made(std::string value, std::optional<std::string> key, std::int64_t time_ms = now() - 100'000) {
  message each{std::move(value), std::move(key)};
  each.time_ms = time_ms;
  return each;
}

message tombstone(std::optional<std::string> key) {
  message each = made("", std::move(key));
  each.has_value = false;
  return each;
}

auto Succeeds() {
  return Field("exit_code", &program_result::exit_code, 0);
}

std::vector<message> one_of_each_kind() {
  message first = made("a", "k");
  first.headers = {{"trace", "1"}, {"none", std::nullopt}, {"empty", ""}, {"trace", "2"}, {"trace", "1"}};
  return {first,         made("b", "", now() - 1), made("c", std::nullopt, now() - 1'000),
          made("", "k"), tombstone("k"),           tombstone("l"),
          tombstone(""), tombstone(std::nullopt)};
}

class Copy : public Shell {
 protected:
  [[nodiscard]] std::string stream(const std::string& name, const std::string& rest = "") const {
    return " 'redis-stream:" + name + rest + '@' + server_.url() + "' ";
  }
  [[nodiscard]] std::string entries_of(const std::string& name) const {
    return server_.run({"XRANGE", name, "-", "+"});
  }

  redis_server server_{};
};

/// Each test has two topics of its own on a broker of Apache Kafka.
class CopyByKafka : public Copy {
 protected:
  void SetUp() override {
    kafka_broker::skip_test_without();
    if (IsSkipped()) return;
    // The largest time that Kafka takes, in ms.
    for (const std::string& each : {raw_, copy_})
      kafka().create_topic(each, 1, {{"message.timestamp.after.max.ms", "9223372036854775807"}});
  }
  static kafka_client& kafka() { return kafka_broker::of_all().client(); }
  static std::string own(const std::string& name) {
    return name + '-' + testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  [[nodiscard]] std::string topic(const std::string& name, const std::string& rest = "") const {
    return " '" + kafka_broker::of_all().url(name, rest) + "' ";
  }
  /// Each run is the first member of a group, or it would wait until the last run's membership has ended.
  [[nodiscard]] std::string raw() {
    return topic(raw_, "?until=end&group=" + raw_ + std::to_string(++groups_));
  }

  std::string raw_ = own("raw"), copy_ = own("copy");
  int groups_ = 0;
};

TEST_F(CopyByKafka, WithoutAKeyATombstoneIsTheEventOfItsOwnKey) {
  kafka().produce(raw_, 0, {tombstone("a"), tombstone("b"), tombstone("a"), made("", "a"), made("", "b")});
  EXPECT_THAT(sh("everseen stream --filter f --from" + raw() + "--to" + topic(copy_)), Succeeds());
  EXPECT_THAT(whole(kafka().read(copy_)),
              ElementsAreArray(whole(std::vector{tombstone("a"), tombstone("b"), made("", "a")})));
}

TEST_F(CopyByKafka, TombstoneHasNoFieldToBeAKey) {
  kafka().produce(raw_, 0, {made(R"({"id":1})", "a"), tombstone("a")});
  const std::string copy = "everseen stream --filter f --key-json /id --to" + topic(copy_) + "--from";
  const program_result refused = sh(copy + raw());
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("the record at 1 of " + raw_ + "/0 has no value"), HasSubstr("--bad-events")));
  EXPECT_THAT(sh(copy + raw() + "--bad-events skip"), Succeeds());
  EXPECT_EQ(kafka().read(copy_).size(), 1U);
}

TEST_F(CopyByKafka, FileTakesNoRecordThatIsNoLine) {
  kafka().produce(raw_, 0, {made("a", "k"), made("", "k"), tombstone("k"), made("b", "k")});
  const std::string copy = "everseen stream --filter f --to lines --from";
  EXPECT_THAT(sh(copy + raw()),
              AllOf(Field("exit_code", &program_result::exit_code, 4),
                    Field("err", &program_result::err, HasSubstr(raw_ + "/0 has no value"))));
  EXPECT_THAT(sh(copy + raw() + "--bad-events skip && cat lines"),
              Field("out", &program_result::out, "a\n\nb\n"));
}

TEST_F(CopyByKafka, RecordOfSeveralLinesNeedsAnotherSeparator) {
  kafka().produce(raw_, 0, {made("one\ntwo", "k"), made("three", "k")});
  const std::string copy = "everseen stream --filter f --from";
  EXPECT_THAT(
      sh(copy + raw() + "--to lines"),
      AllOf(Field("exit_code", &program_result::exit_code, 4),
            Field("err", &program_result::err, AllOf(HasSubstr("of " + raw_ + "/0"), HasSubstr("--zero")))));
  EXPECT_THAT(sh(copy + raw() + "--zero --to lines && tr '\\0' ';' < lines"),
              Field("out", &program_result::out, "one\ntwo;three;"));
  EXPECT_THAT(sh(copy + raw() + "--zero --to" + topic(copy_)), Complains(2, "--zero"));
}

TEST_F(Copy, OfARedisStreamHasTheFieldsOfEveryEntry) {
  server_.run({"XADD", "raw", "5-1", "id", "1", "site", "a", "id", "2"});
  server_.run({"XADD", "raw", "5-2", "other", std::string("\xff\"", 2)});
  const std::string from = stream("raw", "?until=end&group=g");
  EXPECT_THAT(sh("everseen stream --filter f --from" + from + "--to" + stream("copy")), Succeeds());
  EXPECT_THAT(entries_of("copy"), AllOf(HasSubstr("id\n1\nsite\na\nid\n2\n"), EndsWith("other\n\xff\"")));
}

TEST_F(Copy, FieldOfTheSourceChoosesWhatIsJudgedAndNotWhatIsCopied) {
  server_.run({"XADD", "raw", "1-0", "id", "1", "site", "a"});
  server_.run({"XADD", "raw", "2-0", "id", "1", "site", "b"});
  server_.run({"XADD", "raw", "3-0", "id", "", "site", "c"});
  server_.run({"XADD", "raw", "4-0", "site", "d"});
  const std::string from = stream("raw", "?until=end&group=g&field=id");
  EXPECT_THAT(sh("everseen stream --filter f --from" + from + "--to" + stream("copy")), Succeeds());
  EXPECT_THAT(entries_of("copy"), AllOf(HasSubstr("id\n1\nsite\na\n"), HasSubstr("id\n\nsite\nc\n"),
                                        EndsWith("site\nd"), Not(HasSubstr("b"))));
}

TEST_F(Copy, IntoAFieldIsTheRecordAlone) {
  server_.run({"XADD", "raw", "1-0", "id", "1", "site", "a"});
  const std::string from = stream("raw", "?until=end&group=g");
  EXPECT_THAT(sh("everseen stream --filter f --from" + from + "--to" + stream("copy", "?field=event")),
              Succeeds());
  EXPECT_THAT(entries_of("copy"), EndsWith("event\n{\"id\":\"1\",\"site\":\"a\"}"));
}

TEST_F(CopyByKafka, IntoAFieldNeedsAValue) {
  kafka().produce(raw_, 0, {tombstone("k")});
  EXPECT_THAT(sh("everseen stream --filter f --from" + raw() + "--to" + stream("copy")),
              Field("err", &program_result::err, HasSubstr(raw_ + "/0 has no value")));
}

TEST_F(CopyByKafka, OfARedisStreamInATopicHasTheTimesOfItsEntries) {
  server_.run({"XADD", "raw", "1700000000123-4", "id", "1"});
  const std::string from = stream("raw", "?until=end&group=g");
  EXPECT_THAT(sh("everseen stream --filter f --from" + from + "--to" + topic(copy_)), Succeeds());
  EXPECT_THAT(whole(kafka().read(copy_)),
              ElementsAre(whole(made(R"({"id":"1"})", std::nullopt, 1'700'000'000'123))));
}

/// Copies that topics refuse, and those of a broker that is killed.
class CopyOnApacheKafka : public Shell {
 protected:
  void SetUp() override { kafka_broker::skip_test_without(); }
  /// The names of two topics of this test.
  void create(const std::string& raw, const std::string& copy,
              const std::map<std::string, std::string>& settings = {}) const {
    // The largest time that Kafka takes, in ms.
    kafka_broker::of_all().client().create_topic(raw, 1,
                                                 {{"message.timestamp.after.max.ms", "9223372036854775807"}});
    kafka_broker::of_all().client().create_topic(copy, 1, settings);
  }
  /// What a run of the copying job says.
  [[nodiscard]] program_result copy(const std::string& raw, const std::string& target) const {
    return sh("everseen stream --quiet --filter of-" + raw +
              " --store \"$EVERSEEN_STORE?sync=always\" --from '" +
              kafka_broker::of_all().url(raw, "?until=end") + "' --to '" +
              kafka_broker::of_all().url(target) + "'");
  }
};

// Promise: a copy from topic to topic has each record as it came in (streams, What a record keeps).
TEST_F(CopyOnApacheKafka, HasEveryRecordAsItCameIn) {
  create("raw", "copy");
  const std::vector<message> all = one_of_each_kind();
  kafka_broker::of_all().client().produce("raw", 0, all);
  kafka_broker::of_all().client().produce("raw", 0, all);
  EXPECT_THAT(copy("raw", "copy"), Prints(""));
  EXPECT_THAT(whole(kafka_broker::of_all().client().read("copy")), ElementsAreArray(whole(all)));
}

TEST_F(CopyOnApacheKafka, TakesTheTimesOfATopicThatSetsThem) {
  create("raw2", "appended", {{"message.timestamp.type", "LogAppendTime"}});
  kafka_broker::of_all().client().produce("raw2", 0, {made("a", "k")});
  EXPECT_THAT(copy("raw2", "appended"), Prints(""));
  const auto copied = kafka_broker::of_all().client().read("appended");
  ASSERT_EQ(copied.size(), 1U);
  EXPECT_GT(copied.front().time_ms, now());
}

TEST_F(CopyOnApacheKafka, SaysWhatATopicRefuses) {
  create("raw3", "strict", {{"message.timestamp.after.max.ms", "1000"}});
  kafka_broker::of_all().client().produce("raw3", 0, {made("a", "k", now() + 1'000'000'000)});
  EXPECT_THAT(copy("raw3", "strict"), Complains(3, "message.timestamp.after.max.ms"));
  create("raw4", "compacted", {{"cleanup.policy", "compact"}});
  kafka_broker::of_all().client().produce("raw4", 0, {made("b", std::nullopt)});
  EXPECT_THAT(copy("raw4", "compacted"), Complains(3, "needs a key"));
}

TEST_F(CopyOnApacheKafka, ContinuesOnceAfterTheBrokerWasKilled) {
  create("raw5", "once");
  kafka_broker::of_all().client().produce("raw5", 0, {made("a", "k"), made("b", "k")});
  EXPECT_THAT(copy("raw5", "once"), Prints(""));
  kafka_broker::of_all().kill();
  kafka_broker::of_all().start();
  kafka_broker::of_all().client().produce("raw5", 0, {made("a", "k"), made("c", "k")});
  EXPECT_THAT(copy("raw5", "once"), Prints(""));
  std::vector<std::string> values;
  for (const message& each : kafka_broker::of_all().client().read("once")) values.push_back(each.value);
  EXPECT_THAT(values, ElementsAre("a", "b", "c"));
}

}  // namespace
}  // namespace everseen::test
