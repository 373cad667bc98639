// `everseen stream` and `everseen counts` from the shell. Crashes are tested in
// test/jobs/crash_matrix_integration_test.cpp.

#include <csignal>
#include <fstream>
#include <memory>
#include <regex>

#include "test/cli/shell.hpp"
#include "test/redis/stored.hpp"
#include "test/support/kafka/kafka_broker.hpp"
#include "test/support/places.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// It succeeded and reported this amount.
template <typename Matcher>
auto Says(Matcher summary) {
  return AllOf(Field("exit_code", &program_result::exit_code, 0),
               Field("err", &program_result::err, summary));
}

class Stream : public Shell {
 protected:
  void SetUp() override {
    given(R"(printf '%s\n' '{"id":1,"time":"2025-01-01T00:01:00Z","site":"news"}' \
      '{"id":2,"time":"2025-01-01T00:11:00Z","site":"shop"}' '{"id":1,"time":"2025-01-01T00:01:00Z","site":"news"}' \
      '{"id":3,"time":"2025-01-01T00:12:00Z","site":"news"}' > clicks)");
  }

  /// A command line of everseen with the server as the store.
  program_result on_redis(const std::string& line) const {
    return sh("export EVERSEEN_STORE='" + server_.url() + "'; " + line);
  }
  /// The same in the background: a program that stops at a fault point.
  std::unique_ptr<running_program> stopped_job_at(const std::string& point, const std::string& line) const {
    program_setup on = setup();
    on.environment["EVERSEEN_STORE"] = server_.url();
    on.environment["EVERSEEN_STOP_AT"] = point;
    on.environment["PATH"] =
        std::filesystem::path(test::dying_program()).parent_path().string() + ':' + on.environment["PATH"];
    auto program =
        std::make_unique<running_program>(std::vector<std::string>{"bash", "-c", "exec " + line}, on);
    EXPECT_TRUE(program->waits_to_stop());
    return program;
  }
  /// The job in the background, which ends with this object.
  [[nodiscard]] running_program following(const std::string& options) const {
    program_setup on = setup();
    on.environment["EVERSEEN_STORE"] = server_.url();
    return running_program({"bash", "-c", "exec " + std::string(count) + "--follow " + options}, on);
  }
  static constexpr const char* count =
      "everseen stream --from clicks --filter clicks --key-json /id --count 10m:/time,/site --count /site ";

  redis_server server_{{"--appendonly", "yes", "--appendfsync", "always", "--aof-load-truncated", "no"}};
};

TEST_F(Stream, CountsEachEventOnceHoweverOftenItRuns) {
  EXPECT_THAT(on_redis(count), Says("everseen: 4 events: 3 fresh, 1 seen\n"));
  const std::string rows =
      "time,site,count\n2025-01-01T00:00:00Z,news,1\n2025-01-01T00:10:00Z,news,1\n2025-01-01T00:10:00Z,shop,"
      "1\n";
  EXPECT_THAT(on_redis("everseen counts clicks --format csv"), Prints(rows));
  EXPECT_THAT(on_redis(count), Says("everseen: 0 events: 0 fresh, 0 seen\n"));
  given(R"(echo '{"id":4,"time":"2025-01-01T00:12:00Z","site":"shop"}' >> clicks)");
  EXPECT_THAT(on_redis(count), Says("everseen: 1 event: 1 fresh, 0 seen\n"));
  EXPECT_THAT(on_redis("everseen counts clicks --by site"),
              Prints(AllOf(HasSubstr("news                2\n"), HasSubstr("shop                2\n"))));
}

TEST_F(Stream, ShowsCountsByAnyDimensionsAndConditions) {
  on_redis(count);
  EXPECT_THAT(on_redis("everseen counts clicks --by time --where site=news --format json"),
              Prints("[\n  {\"time\":\"2025-01-01T00:00:00Z\",\"count\":1},\n"
                     "  {\"time\":\"2025-01-01T00:10:00Z\",\"count\":1}\n]\n"));
  EXPECT_THAT(on_redis("everseen counts clicks --by country"), Complains(2, "time, site; site"));
  EXPECT_THAT(on_redis("everseen counts clicks --by '' --format csv"), Prints(HasSubstr("count\n")));
  EXPECT_THAT(on_redis("everseen counts clicks --job other"), Complains(2, "has no job 'other'", "stream"));
  EXPECT_THAT(on_redis("everseen counts clicks --where news"), Complains(2, "DIMENSION=VALUE"));
}

TEST_F(Stream, WritesFreshEventsToAFileOrToStandardOutput) {
  const std::string fresh = "everseen stream --from clicks --filter fresh --key-json /id ";
  EXPECT_THAT(on_redis(fresh + "--to once --job file --seen-to again"), Says(HasSubstr("3 fresh, 1 seen")));
  EXPECT_THAT(on_redis("cat once"), Prints(HasSubstr("\"id\":3")));
  EXPECT_THAT(on_redis("wc -l < once; wc -l < again"), Prints("3\n1\n"));
  EXPECT_THAT(on_redis("everseen drop fresh"), Field("exit_code", &program_result::exit_code, 0));
  EXPECT_THAT(on_redis(fresh + "--to - | wc -l"), Field("out", &program_result::out, "3\n"));
}

TEST_F(Stream, EndsRecordsAsTheInputDoes) {
  given("printf 'a\\nb\\0c\\0a\\nb\\0' > records");
  const std::string fresh = "everseen stream -0 --from records --filter f -q ";
  EXPECT_THAT(sh(fresh + "--to once --seen-to again; tr '\\0\\n' '|,' < once; tr '\\0\\n' '|,' < again").out,
              "a,b|c|a,b|");
  EXPECT_THAT(
      sh("everseen jobs f --end stream -y; everseen reset f -y; " + fresh + "--to - | tr '\\0\\n' '|,'").out,
      testing::EndsWith("\na,b|c|"));
}

TEST_F(Stream, ReportsNothingWhereItIsQuiet) {
  const program_result quiet = on_redis(std::string(count) + "-q");
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_THAT(quiet.err, Not(HasSubstr("events")));
  EXPECT_EQ(on_redis("everseen counts clicks --json").out,
            on_redis("everseen counts clicks --format json").out);
  EXPECT_THAT(on_redis("everseen counts clicks --json --format csv"),
              Complains(2, "--json is --format json"));
}

TEST_F(Stream, PreviewPrintsTheCountsAndChangesNothing) {
  const program_result dry =
      sh("everseen stream --from clicks --key-json /id --count 10m:/time,/site --dry-run --filter clicks");
  EXPECT_THAT(dry.out,
              AllOf(HasSubstr("2025-01-01T00:10:00Z  shop"), HasSubstr("2025-01-01T00:00:00Z  news")));
  EXPECT_THAT(sh("everseen list"), Complains(3)) << "not even the directory of the store was created";
  EXPECT_THAT(sh("everseen stream --from clicks --key-json /id --count /site --dry-run --seen-to again; ls"),
              AllOf(Field("out", &program_result::out, Not(HasSubstr("again"))),
                    Field("err", &program_result::err, HasSubstr("touches nothing"))));
  on_redis(count);
  EXPECT_THAT(
      on_redis("everseen stream --from clicks --filter clicks --key-json /id --count /site --dry-run"),
      AllOf(Field("out", &program_result::out, HasSubstr("news                2\n")),
            Field("err", &program_result::err, HasSubstr("an empty filter like 'clicks'"))));
}

TEST_F(Stream, ReadsTheFieldsOfItsKeyFromTheEnvironment) {
  EXPECT_THAT(sh("EVERSEEN_KEY='1 2' everseen stream -q --from - --store mem: --filter f --to -",
                 "a\tb\t1\na\tc\t2\na\tb\t3\n"),
              Prints("a\tb\t1\na\tc\t2\n"));
}

TEST_F(Stream, EndsAtARecordThatIsNotAnEventByDefault) {
  given("sed -i '3s/.*/{no event/' clicks");
  EXPECT_THAT(on_redis(count).err,
              AllOf(HasSubstr("2 events"), HasSubstr("line 3 of "),
                    HasSubstr("clicks is not JSON; it is '{no event'"), HasSubstr("--bad-events skip")));
  EXPECT_THAT(on_redis(std::string(count) + "--bad-events skip"), Says(HasSubstr("1 event: 1 fresh")));
  EXPECT_THAT(on_redis("everseen drop clicks; " + std::string(count) + "--bad-events bad; cat bad"),
              AllOf(Field("out", &program_result::out, "{no event\n"),
                    Says(HasSubstr("3 events: 3 fresh, 0 seen; 1 record was no event"))));
}

TEST_F(Stream, ReadsTimesOfAGivenFormAndZoneWhichBelongToTheJob) {
  // In Berlin, 1 o'clock in the night of 26 October 2025 is 23:00 in UTC.
  given("printf 'a,26.10.2025 01:30\\na,26.10.2025 01:35\\nb,26.10.2025 03:30\\n' > table");
  const std::string berlin = "--time-format '%d.%m.%Y %H:%M' --time-zone Europe/Berlin ";
  const std::string job = "everseen stream --from table --filter f --delimiter , --key 1 --count at=1h:2 ";
  EXPECT_THAT(on_redis(job + "--time-format '%d.%m.%Y %H:%M'"), Complains(2, "no zone", "--time-zone UTC"));
  EXPECT_THAT(on_redis(job + "--time-zone UTC"), Complains(4, "'26.10.2025 01:30'", "--time-format"));
  given("everseen jobs f --end stream -y --store redis 2> /dev/null; true");
  EXPECT_THAT(on_redis("everseen drop f -y; " + job + berlin).err, HasSubstr("3 events: 2 fresh, 1 seen"));
  EXPECT_THAT(on_redis("everseen counts f --format csv"),
              Prints("at,count\n2025-10-25T23:00:00Z,1\n2025-10-26T02:00:00Z,1\n"));
  EXPECT_THAT(on_redis("everseen jobs f"), Prints(HasSubstr(berlin)));
  EXPECT_THAT(on_redis(job + "--time-format '%d.%m.%Y %H:%M' --time-zone UTC"),
              Complains(2, "was begun with --time-format '%d.%m.%Y %H:%M' --time-zone Europe/Berlin",
                        "(now: --time-format '%d.%m.%Y %H:%M' --time-zone UTC)"));
  EXPECT_THAT(
      on_redis("everseen stream --from table --filter f --key 1 --delimiter , --to - --time-zone UTC"),
      Complains(2, "--time-zone", "--time"));
}

TEST_F(Stream, RefusesAJobWithOtherOptions) {
  on_redis(count);
  EXPECT_THAT(on_redis("everseen stream --from clicks --filter clicks --key-json /id --count /site"),
              Complains(2, "was begun with --count 10m:/time,/site --count /site (now: --count /site)",
                        "another --job", "everseen jobs clicks --end stream"));
  EXPECT_THAT(on_redis(std::string(count) + "--error-rate 1e-3"), Complains(2, "--error-rate does not fit"));
  given("echo other > clicks");
  EXPECT_THAT(on_redis(count).err, HasSubstr("is shorter"));
}

TEST_F(Stream, ReportsMissingOptions) {
  EXPECT_THAT(on_redis("everseen stream"), Complains(2, "--from"));
  EXPECT_THAT(on_redis("everseen stream --from clicks"), Complains(2, "--filter"));
  EXPECT_THAT(on_redis("everseen stream --from clicks --filter c"), Complains(2, "--count", "--to"));
  EXPECT_THAT(on_redis("everseen stream --from nothing --filter c --to -"), Complains(3, "nothing"));
  EXPECT_THAT(on_redis("everseen stream --from clicks --filter c --count 'x=site'"),
              Complains(2, "is no field"));
  EXPECT_THAT(on_redis("everseen stream --from clicks --filter c --count /a,/b/a"),
              Complains(2, "two dimensions"));
  EXPECT_THAT(on_redis(std::string(count) + "--on-outage pass"), Complains(2, "hold"));
  EXPECT_THAT(on_redis(std::string(count) + "--to fresh --on-outage pass"), Complains(2, "hold", "--count"));
  EXPECT_THAT(on_redis("everseen list"), Prints(IsEmpty()));
  EXPECT_THAT(on_redis("everseen stream --from kafka://h/a --to kafka://h/b --filter c --settle-every 31s"),
              Complains(2, "--settle-every", "transaction.timeout.ms, which is 60000 ms"));
}

// Promise: a run that took nothing begins no job (streams, The life of a job).
TEST_F(Stream, IsNotBoundByARunThatReadNothing) {
  const std::string stream = "everseen stream --from clicks --filter clicks --to fresh --key-json ";
  EXPECT_THAT(on_redis(stream + "/uid"),
              Complains(4, "line 1 of ", "has no key: there is no /uid; it is '{\"id\":1"));
  EXPECT_THAT(on_redis("everseen jobs clicks"), Prints(IsEmpty()));
  EXPECT_THAT(on_redis(stream + "/id"), Says(HasSubstr("3 fresh, 1 seen")));
  EXPECT_THAT(on_redis("wc -l < fresh"), Prints("3\n"));
}

TEST_F(Stream, LeavesNoFilterInFilesAfterARunThatReadNothing) {
  const std::string stream = "everseen stream --from clicks --filter clicks --to fresh --key-json ";
  EXPECT_THAT(sh(stream + "/uid --error-rate 1e-3").err, HasSubstr("has no key"));
  EXPECT_THAT(sh("everseen list"), Prints(IsEmpty()));
  EXPECT_THAT(sh(stream + "/id --error-rate 1e-9"), Says(HasSubstr("3 fresh, 1 seen")));
}

TEST_F(Stream, RefusesCountsInFilesBeforeAnythingIsCreated) {
  EXPECT_THAT(sh(count), Complains(2, "kept by Redis alone", "--to"));
  EXPECT_THAT(sh("everseen list"), Complains(3)) << "not even the directory of the store was created";
}

TEST_F(Stream, WarnsOfAFieldThatNoEventHas) {
  const program_result ran =
      on_redis("everseen stream --from clicks --filter clicks --key-json /id --count /contry");
  EXPECT_THAT(ran, Says(AllOf(HasSubstr("none of the first 4 events has /contry"),
                              HasSubstr("everseen jobs clicks --end stream"))));
  EXPECT_THAT(on_redis("everseen jobs clicks --end stream --yes && everseen reset clicks"),
              Prints(HasSubstr("ended")));
  EXPECT_THAT(on_redis(count), Says("everseen: 4 events: 3 fresh, 1 seen\n"));
}

TEST_F(Stream, ListsItsJobs) {
  on_redis(count);
  on_redis("everseen stream --from clicks --filter clicks --key-json /id --to fresh --job second --worker w");
  EXPECT_THAT(
      on_redis("everseen jobs clicks"),
      Prints(AllOf(HasSubstr("second\n  begun with    --key /id\n  puts out to   w:/"),
                   HasSubstr("stream\n  begun with    --key /id --count 10m:/time,/site --count /site"),
                   HasSubstr("/clicks up to "), HasSubstr("counters, "), HasSubstr("last settled"))));
  EXPECT_THAT(
      on_redis("everseen jobs clicks --json | python3 -c 'import json,sys; j=json.load(sys.stdin)[1]; "
               "print(j[\"name\"], j[\"counters\"], len(j[\"lanes\"]), j[\"sinks\"])'"),
      // Five names; the site that two events share is stored once or twice: by one partition or two.
      Prints(AnyOf("stream 5 1 ['counts']\n", "stream 6 1 ['counts']\n")));
  EXPECT_THAT(on_redis("everseen counts clicks"), Complains(2, "--job", "it has second, stream"));
  EXPECT_THAT(on_redis("everseen create plain -q; everseen counts plain"),
              Complains(2, "'plain' has no counts", "everseen stream --filter plain --to counts"));
  EXPECT_THAT(on_redis("everseen jobs clicks --end other"), Complains(2, "no job 'other'", "second, stream"));
}

TEST_F(Stream, TreatsAnInterruptedEndOfAJobAsEnded) {
  on_redis("everseen create clicks");
  on_redis(count);
  const std::string id = redis::begin_end_of_job(server_, "clicks", "stream");
  EXPECT_THAT(on_redis("everseen jobs clicks"), Prints(IsEmpty()));
  EXPECT_THAT(on_redis(count), Says("everseen: 4 events: 0 fresh, 4 seen\n")) << "of another job";
  EXPECT_NE(server_.run({"KEYS", "*" + id + "*"}), "");
  EXPECT_THAT(on_redis("everseen jobs clicks --end stream --yes"), Prints(HasSubstr("ended;")));
  EXPECT_EQ(server_.run({"KEYS", "*" + id + "*"}), "") << "the rest is removed, too";
  EXPECT_THAT(on_redis("everseen reset clicks --yes; " + std::string(count)), Says(HasSubstr("3 fresh")));
}

TEST_F(Stream, ListsAndEndsJobsOfAFilterInFiles) {
  const std::string stream = "everseen stream --from clicks --filter clicks --key-json /id --to fresh";
  EXPECT_THAT(sh(stream), Says(AllOf(HasSubstr("3 fresh, 1 seen"), HasSubstr("sync=always"))));
  EXPECT_THAT(sh(stream).err, Not(HasSubstr("sync=always")));
  EXPECT_THAT(sh("everseen jobs clicks"), Prints(AllOf(HasSubstr("/fresh\n"), HasSubstr("clicks up to "))));
  EXPECT_THAT(sh("everseen jobs clicks --end stream"), Prints(HasSubstr("everseen reset clicks")));
  EXPECT_THAT(sh("everseen jobs clicks"), Prints(IsEmpty()));
  EXPECT_THAT(sh("everseen reset clicks; rm fresh; " + stream + "; wc -l < fresh"),
              Field("out", &program_result::out, "3\n"));
}

TEST_F(Stream, WarnsOfAServerThatForgetsAcknowledgedWrites) {
  const redis_server careless{{"--appendonly", "no"}};
  const std::string on_careless = "export EVERSEEN_STORE='" + careless.url() + "'; ";
  EXPECT_THAT(sh(on_careless + count),
              Says(AllOf(HasSubstr("appendonly no"), HasSubstr("appendfsync always"), HasSubstr("3 fresh"))));
  EXPECT_THAT(sh(on_careless + count), Says(AllOf(HasSubstr("0 events"), Not(HasSubstr("append")))))
      << "reported when the job began";
  EXPECT_THAT(sh(on_careless + "everseen info clicks").err, HasSubstr("appendfsync always"));
  EXPECT_THAT(on_redis(count), Says("everseen: 4 events: 3 fresh, 1 seen\n"));
}

// Promise: --existing creates nothing (streams, The life of a job).
TEST_F(Stream, CreatesNothingWhereFilterAndJobMustExist) {
  const std::string again = std::string(count) + "--existing";
  EXPECT_THAT(on_redis(again), Complains(4, "the filter 'clicks' does not exist", "--existing"));
  EXPECT_THAT(on_redis("everseen create clicks --capacity 1M --error-rate 1e-6; " + again),
              Complains(4, "the job 'stream' of the filter 'clicks' does not exist"));
  EXPECT_THAT(on_redis(count), Says(HasSubstr("3 fresh")));
  EXPECT_THAT(on_redis(again), Says("everseen: 0 events: 0 fresh, 0 seen\n"));
  on_redis("everseen jobs clicks --end stream --yes");
  EXPECT_THAT(on_redis(again), Complains(4, "the job 'stream'"));
  EXPECT_THAT(on_redis("everseen jobs clicks"), Prints(IsEmpty()));
  server_.run({"FLUSHALL"});
  EXPECT_THAT(on_redis(again), Complains(4, "the filter 'clicks' does not exist"));
  EXPECT_THAT(on_redis("everseen list"), Prints(IsEmpty()));
}

// Promise: hold also waits for a store that is unavailable at the start (streams, Outages).
TEST_F(Stream, HoldsFromItsStartWhereTheServerIsUnavailable) {
  program_setup on = setup();
  on.environment["EVERSEEN_STORE"] = server_.url("?retry_for=100ms");
  const std::vector<std::string> line = {"bash", "-c", "exec " + std::string(count) + "--on-outage hold"};
  const auto is_held = [](const running_program& program) {
    return program.err().find("held until it is back") != std::string::npos;
  };
  server_.stop();
  running_program ended(line, on);
  wait_until([&] { return is_held(ended); }, "it is held");
  ended.send(SIGTERM);
  EXPECT_EQ(ended.wait().exit_code, 128 + SIGTERM);
  running_program stream(line, on);
  wait_until([&] { return is_held(stream); }, "it is held");
  server_.start();
  EXPECT_THAT(stream.wait(), Says(HasSubstr("4 events: 3 fresh, 1 seen\n")));
}

// Promise: a JSON null is not an event to stream (dedup, Keys and records).
TEST_F(Stream, DoesNotReadANullAsAKey) {
  given(R"(echo '{"id":null,"time":"2025-01-01T00:01:00Z","site":"news"}' >> clicks)");
  EXPECT_THAT(on_redis(count),
              AllOf(Field("exit_code", &program_result::exit_code, 4),
                    Field("err", &program_result::err,
                          AllOf(HasSubstr("line 5 of "), HasSubstr("has null for a key: /id")))));
  EXPECT_THAT(on_redis(std::string(count) + "--bad-events bad"), Says(HasSubstr("1 record was no event")));
}

// Promise: a run that needs another filter under a name reports that the existing one is empty (dedup, Runs
// that end early).
TEST_F(Stream, ReportsThatAFilterWhichDoesNotFitIsEmpty) {
  on_redis("everseen create clicks --capacity 1M --error-rate 1e-3");
  EXPECT_THAT(on_redis(std::string(count) + "--error-rate 1e-9"),
              Complains(2, "--error-rate does not fit", "it is empty, and everseen drop clicks removes it"));
}

// Promise: another output is refused, unless --move-output (streams, The life of a job).
TEST_F(Stream, WritesToOneOutputUnlessItIsMoved) {
  const std::string fresh = "everseen stream --from clicks --filter fresh --key-json /id ";
  EXPECT_THAT(on_redis(fresh + "--to one"), Says(HasSubstr("3 fresh")));
  EXPECT_THAT(on_redis(fresh + "--to two"), Complains(2, "has put out to /", "/one so far", "--move-output"));
  EXPECT_THAT(on_redis(fresh + "--to - "), Complains(2, "/one so far"));
  EXPECT_THAT(sh("ls"), Prints(Not(HasSubstr("two"))));
  given(R"(echo '{"id":4}' >> clicks)");
  EXPECT_THAT(on_redis(fresh + "--to two --move-output"), Says(HasSubstr("1 fresh")));
  EXPECT_THAT(on_redis(fresh + "--to one"), Complains(2, "/two so far"));
  given(R"(echo '{"id":5}' >> clicks)");
  EXPECT_THAT(on_redis(fresh + "--to two --move-output"), Says(HasSubstr("1 fresh")));
  EXPECT_THAT(sh("wc -l < one; wc -l < two"), Prints("3\n2\n"));
}

// Promise: what may be in two streams after --move-output is reported (streams, The life of a job).
TEST_F(Stream, ReportsPossibleDuplicatesWhereAnotherOutputReplacesAStream) {
  const std::string fresh = "everseen stream --from clicks --filter fresh --key-json /id --to ";
  EXPECT_EQ(on_redis(dying_at("put") + fresh + "redis-stream:a").exit_code, 128 + SIGKILL);
  EXPECT_THAT(on_redis(fresh + "redis-stream:b"), Complains(2, "has put out to redis-stream:a so far"));
  EXPECT_THAT(on_redis(fresh + "redis-stream:b --move-output"),
              Says(AllOf(HasSubstr("had put out to redis-stream:a and not settled are"),
                         HasSubstr("in order with --to redis-stream:a"))));
  EXPECT_THAT(on_redis(std::string(count) + "--move-output --to counts"), Says(Not(HasSubstr("again"))));
  EXPECT_THAT(on_redis(std::string(count) + "--to once --move-output"), Says(Not(HasSubstr("again"))));
}

// Promise: another output is refused, unless --move-output (streams, The life of a job).
TEST_F(Stream, RefusesAnOutputThatTheJobGotSinceItWasChecked) {
  const std::string stream = "everseen stream --from clicks --filter f --key-json /id --worker ";
  const auto first = stopped_job_at("read:1", stream + "one --to redis-stream:a");
  EXPECT_THAT(on_redis(stream + "two --to redis-stream:b"), Says(HasSubstr("3 fresh")));
  first->send(SIGCONT);
  EXPECT_THAT(first->wait(), Complains(2, "has put out to redis-stream:b so far", "--move-output"));
  EXPECT_EQ(server_.run({"EXISTS", "a"}), "0");
  EXPECT_THAT(on_redis("everseen jobs f"), Prints(Not(HasSubstr("redis-stream:a"))));
}

TEST_F(Stream, AsksForTheOwnerOfAFileThatTheJobGotSinceItWasChecked) {
  const std::string stream = "everseen stream --from clicks --filter f --key-json /id --count /site ";
  const auto first = stopped_job_at("read:1", stream);
  EXPECT_THAT(on_redis(stream + "--worker web-1"), Says(HasSubstr("3 fresh")));
  first->send(SIGCONT);
  EXPECT_THAT(first->wait(), Complains(2, "of the worker 'web-1'", "--worker"));
}

TEST_F(Stream, CreatesNoFileInPlaceOfAMissingOne) {
  const std::string fresh = "everseen stream --from clicks --filter fresh --key-json /id --to one ";
  on_redis(fresh);
  given(R"(mv one archived; echo '{"id":4}' >> clicks)");
  EXPECT_THAT(on_redis(fresh), Complains(2, "does not exist", "put it back", "--move-output"));
  EXPECT_THAT(sh("ls"), Prints(Not(HasSubstr("one"))));
  EXPECT_THAT(on_redis(fresh + "--move-output"), Says(HasSubstr("1 fresh")));
  EXPECT_THAT(sh("cat one"), Prints("{\"id\":4}\n"));
}

// Promise: no other job removes lines that were settled and are not in the file yet (streams, Files).
TEST_F(Stream, KeepsSettledLinesOfAKilledJobThatAreNotShownYetWhateverIsStartedNext) {
  const std::string fresh = "everseen stream --from clicks --filter fresh --key-json /id --to one ";
  EXPECT_EQ(on_redis(dying_at("settled") + fresh).exit_code, 128 + SIGKILL);
  EXPECT_THAT(sh("cat one; tail -n +2 .one.unsettled | wc -l"), Prints("3\n"));
  const auto refused = Complains(2, ".one.unsettled has lines", "may be settled");
  EXPECT_THAT(on_redis("everseen stream --from clicks --filter other --key-json /id --to one"), refused);
  given("mv one archived");
  EXPECT_THAT(on_redis(fresh + "--move-output"), refused);
  given("mv archived one");
  EXPECT_THAT(on_redis(fresh), Says(HasSubstr("0 events")));
  EXPECT_THAT(sh("wc -l < one; ls -A | grep unsettled"), Field("out", &program_result::out, "3\n"));
}

// Promise: no other job removes lines that were settled and are not in the file yet (streams, Files).
TEST_F(Stream, KeepsSettledLinesOfAJobThatWasKilledAndEnded) {
  const std::string fresh = "everseen stream --from clicks --filter fresh --key-json /id --to one ";
  EXPECT_EQ(on_redis(dying_at("settled") + fresh).exit_code, 128 + SIGKILL);
  EXPECT_THAT(on_redis("everseen jobs fresh --end stream"),
              Field("exit_code", &program_result::exit_code, 0));
  EXPECT_THAT(on_redis(fresh), Complains(2, ".one.unsettled has lines", "may be settled"));
  EXPECT_THAT(sh("tail -n +2 .one.unsettled | wc -l"), Prints("3\n"));
}

TEST_F(Stream, ReportsThatAPipeIsNotAFile) {
  const std::string fresh = "everseen stream --from clicks --filter fresh --key-json /id ";
  EXPECT_THAT(on_redis("set -o pipefail; " + fresh + "--to /dev/stdout | cat"),
              Complains(2, "is not a regular file", "give -"));
  EXPECT_THAT(on_redis(fresh + "--to >(cat)"), Complains(2, "is not a regular file", "give -"));
}

TEST_F(Stream, ReadsTheNamesOfFieldsFromTheFirstLine) {
  given(
      R"(printf '\xef\xbb\xbf"id",site,at\r\n1,news,1700000000\n2,shop,1700000700\n1,news,1700000000\n' > table)");
  const std::string by_name =
      "everseen stream --from table --filter f --header --delimiter , --key-field id ";
  EXPECT_THAT(on_redis(by_name + "--time-field at --count 10m:at,site"),
              Says("everseen: 3 events: 2 fresh, 1 seen\n"));
  EXPECT_THAT(on_redis("everseen counts f --format csv"),
              Prints("at,site,count\n2023-11-14T22:10:00Z,news,1\n2023-11-14T22:20:00Z,shop,1\n"));
  EXPECT_THAT(on_redis("cat table | everseen stream --from - --filter f --job piped --header --delimiter , "
                       "--key-field 1 --count site"),
              Says(HasSubstr("0 fresh, 3 seen")));
  EXPECT_THAT(on_redis(by_name + "--count sight"), Complains(2, "names no such field", "id, site, at"));
  EXPECT_THAT(on_redis("everseen stream --from table --filter f --header --key-field id --count site"),
              Complains(2, "--delimiter"));
  EXPECT_THAT(
      on_redis(
          "everseen stream --from table --filter g --delimiter , --key-field 1 --time-field 3 --to - 2>&1"),
      test::Prints(AllOf(HasSubstr("give --csv"), HasSubstr("field 3 is 'at"), HasSubstr("--header")), 4));
}

TEST_F(Stream, CountsAndWritesCsv) {
  given(R"(printf 'id,site\r\n3,"a, b"\r\n4,"a, b"\r\n3,"two\nlines"\r\n' > table)");
  const std::string csv = "everseen stream --from table --filter f --csv --header --key id ";
  EXPECT_THAT(on_redis(csv + "--count site"), Says("everseen: 3 events: 2 fresh, 1 seen\n"));
  EXPECT_THAT(on_redis("everseen counts f --format csv"), Prints("site,count\n\"a, b\",2\n"));
  EXPECT_THAT(
      on_redis("everseen stream --from table --filter f --key id --header --delimiter , --count site"),
      Complains(2, "--csv --delimiter ','"));
  const std::string once = "id,site\r\n3,\"a, b\"\r\n4,\"a, b\"\r\n";
  EXPECT_THAT(on_redis(csv + "--job out --to - 2>&1"),
              Prints("id,site\r\neverseen: 3 events: 0 fresh, 3 seen\n"));
  EXPECT_THAT(on_redis("everseen stream --from table --filter g --csv --header --key id --to - 2>/dev/null > "
                       "fresh; cat fresh"),
              Prints(once));
  EXPECT_THAT(
      on_redis(
          "everseen stream --from table --filter h --csv --header --key id --to out 2>/dev/null; cat out"),
      Prints(once));
}

/// Bit 14 in the mask of caught signals is SIGTERM.
TEST_F(Stream, EndsByASignalBeforeItsFirstLineHasArrived) {
  EXPECT_THAT(sh("mkfifo p; exec 3<>p; everseen stream --from - --filter f --header --delimiter , "
                 "--key-field id --to out < p & job=$!; "
                 "until (( 0x$(awk '/SigCgt/ {print $2}' /proc/$job/status) & 0x4000 )); do :; done; "
                 "kill $job; wait $job"),
              Field("exit_code", &program_result::exit_code, 128 + SIGTERM));
}

TEST_F(Stream, DoesNotTrustAPartialFirstLine) {
  given("printf 'id,si' > table");
  EXPECT_THAT(
      on_redis("everseen stream --from table --filter f --header --delimiter , --key-field id --to fresh"),
      Complains(4, "has no end", "--follow"));
}

TEST_F(Stream, ReadsItsOptionsFromAFile) {
  given(
      R"(printf '[stream]\nfrom = "clicks"\nfilter = "clicks"\nkey-json = "/id"\ncount = ["10m:/time,/site", ""]\n' > job.toml)");
  EXPECT_THAT(on_redis("everseen stream --config job.toml"), Says("everseen: 4 events: 3 fresh, 1 seen\n"));
  EXPECT_THAT(on_redis("EVERSEEN_CONFIG=job.toml EVERSEEN_JOB=other everseen stream --check-config"),
              Prints(AllOf(HasSubstr("[stream]\n"), HasSubstr("job = \"other\"  # $EVERSEEN_JOB"),
                           HasSubstr("count = [\"10m:/time,/site\", \"\"]  # job.toml:5"))));
  EXPECT_THAT(on_redis("everseen stream --config job.toml --key-json id --check-config"),
              Complains(2, "is not a JSON pointer"));
  given("echo 'fliter = \"x\"' >> job.toml");
  EXPECT_THAT(on_redis("everseen stream --config job.toml"),
              Complains(2, "job.toml:6", "did you mean 'filter'"));
  EXPECT_THAT(
      sh("everseen stream --check-config --filter f --key-json /id --to - --from "
         "'kafka://h:1/t?sasl.password=hush&group=g&sasl.oauthbearer.client.secret=hu?sh&ssl.key.pem=hush'"),
      Prints(AllOf(HasSubstr("sasl.password=***&group=g&sasl.oauthbearer.client.secret=***&ssl.key.pem=***"),
                   Not(HasSubstr("hush")))));
}

TEST_F(Stream, RefusesToWriteIntoItsInputFile) {
  given("ln clicks other-name");
  const std::string stream = "everseen stream --from clicks --filter f --key-json /id ";
  EXPECT_THAT(on_redis(stream + "--to other-name"), Complains(2, "--to", "the file that is read"));
  EXPECT_THAT(on_redis(stream + "--to once --seen-to ./clicks"), Complains(2, "--seen-to"));
  EXPECT_THAT(on_redis(stream + "--to once --bad-events clicks"), Complains(2, "--bad-events"));
  EXPECT_THAT(sh("wc -l < clicks"), Prints("4\n"));
}

// Promise: a run without --worker is refused where the job knows the file as another worker's (streams,
// Several workers).
TEST_F(Stream, AsksForTheOwnerOfAFileWhenTheMachineHasAnotherName) {
  const std::string fresh = "everseen stream --from clicks --filter fresh --key-json /id --to out ";
  EXPECT_THAT(on_redis(fresh + "--worker web-1"), Says(HasSubstr("3 fresh, 1 seen")));
  EXPECT_THAT(on_redis(fresh), Complains(2, "of the worker 'web-1'", "--worker"));
  EXPECT_THAT(on_redis(fresh + "--worker web-1"), Says(HasSubstr("0 events")));
  EXPECT_THAT(on_redis(fresh + "--worker web-2"), Says(HasSubstr("0 fresh, 4 seen")));
  EXPECT_THAT(on_redis("wc -l < out"), Prints("3\n"));
}

TEST_F(Stream, DoesNotMistakeStandardOutputForTheInputOfAnotherWorker) {
  const std::string piped = "everseen stream --from - --filter f --key-json /id --to - < clicks";
  EXPECT_EQ(on_redis(dying_at("put") + piped).exit_code, 128 + SIGKILL);
  EXPECT_THAT(on_redis(piped), Says(HasSubstr("3 fresh, 1 seen")));
}

TEST_F(Stream, AppendsAllToAStreamForANewFilter) {
  const std::string fresh =
      "everseen stream --from clicks --filter fresh --key-json /id --to redis-stream:out";
  EXPECT_THAT(on_redis(fresh), Says(HasSubstr("3 fresh, 1 seen")));
  EXPECT_EQ(server_.run({"XLEN", "out"}), "3");
  EXPECT_THAT(on_redis("everseen drop fresh"), Field("exit_code", &program_result::exit_code, 0));
  EXPECT_THAT(on_redis(fresh), Says(HasSubstr("3 fresh, 1 seen")));
  EXPECT_EQ(server_.run({"XLEN", "out"}), "6");
}

TEST_F(Stream, FollowsAppendedRecordsAndEndsInOrder) {
  running_program job = following("--settle-every 10ms");
  given(R"(echo '{"id":5,"time":"2025-01-01T00:12:00Z","site":"last"}' >> clicks)");
  wait_until(
      [&] { return on_redis("everseen counts clicks --by site").out.find("last") != std::string::npos; },
      "the last event is counted");
  job.send(SIGTERM);
  const program_result ended = job.wait();
  EXPECT_EQ(ended.exit_code, 128 + SIGTERM);
  EXPECT_THAT(ended.err, HasSubstr("5 events: 4 fresh, 1 seen"));
  EXPECT_THAT(on_redis(count), Says(HasSubstr("0 events")));
}

TEST_F(Stream, ReportsItsProgressToPrometheusAndNothingElse) {
  const std::string page = "http://127.0.0.1:" + std::to_string(free_port());
  const running_program job = following("--metrics " + page.substr(7));
  std::string metrics;
  wait_until(
      [&] {
        metrics = sh("curl -si " + page + "/metrics").out;
        return metrics.find("verdict=\"fresh\"} 3") != std::string::npos;
      },
      "the metrics show three events");
  EXPECT_THAT(metrics,
              AllOf(HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8"),
                    HasSubstr("verdict=\"seen\"} 1"), HasSubstr("everseen_stream_settle_seconds_count"),
                    HasSubstr("everseen_stream_lag_records"), Not(HasSubstr("watermark")),
                    Not(HasSubstr("everseen_build_info"))));
  EXPECT_THAT(sh("for path in / /openapi.json /healthz /api/v1/filters; do curl -s " + page +
                 "$path | jq -r .reason; done"),
              Prints("not_found\nnot_found\nnot_found\nnot_found\n"));
  EXPECT_THAT(sh("curl -s -X POST " + page + "/metrics | jq -r .reason"), Prints("method_not_allowed\n"));
}

TEST_F(Stream, ReportsItsProgressBesideIdleConnections) {
  const std::string port = std::to_string(free_port());
  const running_program job = following("--metrics 127.0.0.1:" + port);
  wait_until([&] { return sh("exec 3<>/dev/tcp/127.0.0.1/" + port).exit_code == 0; }, "it listens");
  EXPECT_THAT(sh("for i in {1..20}; do exec {idle}<>/dev/tcp/127.0.0.1/" + port +
                 "; done; printf 'GET /metrics HTTP/1.1\\r\\n' >&$idle; curl -so out -w '%{http_code}\\n' "
                 "http://127.0.0.1:" +
                 port + "/metrics"),
              Prints("200\n"));
}

TEST_F(Stream, NeedsAFreeAddressForItsMetrics) {
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  const running_program job = following("--metrics " + address);
  wait_until([&] { return sh("curl -s " + address + "/metrics").exit_code == 0; }, "it listens");
  EXPECT_THAT(on_redis(std::string(count) + "--metrics " + address),
              Complains(3, "listen on " + address, "in use"));
  EXPECT_THAT(on_redis(std::string(count) + "--metrics 9464"), Complains(2, "9464", "ADDRESS:PORT"));
  EXPECT_THAT(on_redis(std::string(count) + "--metrics unix:page"),
              Complains(2, "unix:page", "ADDRESS:PORT"));
}

TEST_F(Stream, WritesItsCountsAsJson) {
  EXPECT_THAT(on_redis(std::string(count) + "--stats stats"), Complains(2, "write --stats=stats"));
  EXPECT_THAT(on_redis(std::string(count) + "--time-json /time --stats=stats; cat stats"),
              Field("out", &program_result::out,
                    AllOf(HasSubstr("\"events\": 4"), HasSubstr("\"fresh\": 3"),
                          HasSubstr("\"watermark\": \"2025-01-01T00:12:00.000Z\""))));
}

/// The example of README, with parts that are killed in the middle.
/// @param command  what runs it    @param parts  how it names their processes
void expect_that_clicks_are_exact(const std::vector<std::string>& command, const program_setup& setup,
                                  const std::vector<std::string>& parts) {
  running_program example(command, setup);
  const std::string job = "everseen stream is process ";
  for (const std::string& name : parts) {
    wait_until([&] { return example.err().find(job) != std::string::npos; },
               "the job of the example has begun");
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    const std::string message = example.err();
    ::kill(std::stoi(message.substr(message.rfind(name) + name.size())), SIGKILL);
  }
  const program_result ended = example.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("difference 0")) << ended.err;
}

TEST_F(Stream, ExampleOfClicksEndsWithDifferenceZeroThoughItsPartsAreKilled) {
  expect_that_clicks_are_exact({"bash", test::source_directory() + "/examples/clicks/run.sh", "120k"},
                               setup(), {"everseen stream is process ", "redis-server is process "});
}

TEST_F(Stream, ExampleOfClicksFromKafkaEndsWithDifferenceZeroThoughItsPartsAreKilled) {
  test::kafka_broker::skip_test_without();
  if (IsSkipped()) return;
  const std::string examples = test::source_directory() + "/examples/";
  test::program_setup on = setup();
  on.environment["JAVA_TOOL_OPTIONS"] = test::kafka_preparation::of_all().java_options();
  expect_that_clicks_are_exact(
      {"bash", examples + "with_kafka.sh", examples + "clicks/run.sh", "120k"}, on,
      {"everseen stream is process ", "redis-server is process ", "the broker of Kafka is process "});
}

}  // namespace
}  // namespace everseen::test
