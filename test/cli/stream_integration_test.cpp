// `everseen stream` and `everseen counts`, as somebody at a shell uses them. What happens when things die is
// in test/stream/crash_matrix_integration_test.cpp.

#include <csignal>
#include <fstream>
#include <regex>

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// It did what was asked and said how much that was.
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
  static constexpr const char* count =
      "everseen stream --from clicks --filter clicks --key-json /id --count 10m:/time,/site --count /site ";

  redis_server server_{{"--appendonly", "yes"}};
};

TEST_F(Stream, CountsEachEventOnceHoweverOftenItRuns) {
  EXPECT_THAT(on_redis(count), Says("everseen: 4 events: 3 fresh, 1 seen\n"));
  const std::string rows =
      "time,site,count\n2025-01-01T00:00:00Z,news,1\n2025-01-01T00:10:00Z,news,1\n2025-01-01T00:10:00Z,shop,"
      "1\n";
  EXPECT_THAT(on_redis("everseen counts clicks --format csv"), Prints(rows));
  EXPECT_THAT(on_redis(count), Says("everseen: 0 events: 0 fresh, 0 seen\n"));
  given(R"(echo '{"id":4,"time":"2025-01-01T00:12:00Z","site":"shop"}' >> clicks)");
  EXPECT_THAT(on_redis(count), Says("everseen: 1 events: 1 fresh, 0 seen\n"));
  EXPECT_THAT(on_redis("everseen counts clicks --by site"),
              Prints(AllOf(HasSubstr("news                2\n"), HasSubstr("shop                2\n"))));
}

TEST_F(Stream, ShowsCountsByAnyDimensionsAndConditions) {
  on_redis(count);
  EXPECT_THAT(on_redis("everseen counts clicks --by time --where site=news --format json"),
              Prints("[\n  {\"time\":\"2025-01-01T00:00:00Z\",\"count\":1},\n"
                     "  {\"time\":\"2025-01-01T00:10:00Z\",\"count\":1}\n]\n"));
  EXPECT_THAT(on_redis("everseen counts clicks --by country"), Complains(2, "time, site; site"));
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

TEST_F(Stream, PrintsWhatWouldBeCountedAndTouchesNothing) {
  const program_result dry =
      sh("everseen stream --from clicks --key-json /id --count 10m:/time,/site --dry-run --filter clicks");
  EXPECT_THAT(dry.out,
              AllOf(HasSubstr("2025-01-01T00:10:00Z  shop"), HasSubstr("2025-01-01T00:00:00Z  news")));
  EXPECT_THAT(sh("everseen list"), Prints(IsEmpty()));
}

TEST_F(Stream, EndsAtARecordThatIsNoEventUnlessToldOtherwise) {
  given("sed -i '3s/.*/{no event/' clicks");
  EXPECT_THAT(on_redis(count).err,
              AllOf(HasSubstr("2 events"), HasSubstr("is not JSON"), HasSubstr("clicks")));
  EXPECT_THAT(on_redis(std::string(count) + "--bad-events skip"), Says(HasSubstr("1 events: 1 fresh")));
  EXPECT_THAT(on_redis("everseen drop clicks; " + std::string(count) + "--bad-events bad; cat bad"),
              AllOf(Field("out", &program_result::out, "{no event\n"),
                    Says(HasSubstr("3 events: 3 fresh, 0 seen; 1 records were no events"))));
}

TEST_F(Stream, RefusesAJobThatWasBegunOtherwise) {
  on_redis(count);
  EXPECT_THAT(on_redis("everseen stream --from clicks --filter clicks --key-json /id --count /site"),
              Complains(2, "was begun with", "another --job"));
  EXPECT_THAT(on_redis(std::string(count) + "--error-rate 1e-3"), Complains(2, "--error-rate does not fit"));
  given("echo other > clicks");
  EXPECT_THAT(on_redis(count).err, HasSubstr("is shorter"));
}

TEST_F(Stream, SaysWhatIsMissing) {
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

TEST_F(Stream, WritesIntoNoFileThatItReads) {
  given("ln clicks other-name");
  const std::string stream = "everseen stream --from clicks --filter f --key-json /id ";
  EXPECT_THAT(on_redis(stream + "--to other-name"), Complains(2, "--to", "the file that is read"));
  EXPECT_THAT(on_redis(stream + "--to once --seen-to ./clicks"), Complains(2, "--seen-to"));
  EXPECT_THAT(on_redis(stream + "--to once --bad-events clicks"), Complains(2, "--bad-events"));
  EXPECT_THAT(sh("wc -l < clicks"), Prints("4\n"));
}

TEST_F(Stream, AsksWhoseFileItIsWhenTheMachineHasAnotherName) {
  const std::string fresh = "everseen stream --from clicks --filter fresh --key-json /id --to out ";
  EXPECT_THAT(on_redis(fresh + "--worker web-1"), Says(HasSubstr("3 fresh, 1 seen")));
  EXPECT_THAT(on_redis(fresh), Complains(2, "of the worker 'web-1'", "--worker"));
  EXPECT_THAT(on_redis(fresh + "--worker web-1"), Says(HasSubstr("0 events")));
  EXPECT_THAT(on_redis(fresh + "--worker web-2"), Says(HasSubstr("0 fresh, 4 seen")));
  EXPECT_THAT(on_redis("wc -l < out"), Prints("3\n"));
}

TEST_F(Stream, AppendsAllToAStreamForAFilterThatWasMadeAnew) {
  const std::string fresh =
      "everseen stream --from clicks --filter fresh --key-json /id --to redis-stream:out";
  EXPECT_THAT(on_redis(fresh), Says(HasSubstr("3 fresh, 1 seen")));
  EXPECT_EQ(server_.run({"XLEN", "out"}), "3");
  EXPECT_THAT(on_redis("everseen drop fresh"), Field("exit_code", &program_result::exit_code, 0));
  EXPECT_THAT(on_redis(fresh), Says(HasSubstr("3 fresh, 1 seen")));
  EXPECT_EQ(server_.run({"XLEN", "out"}), "6");
}

TEST_F(Stream, WaitsForWhatIsAppendedAndEndsInOrder) {
  running_program job({"bash", "-c", "exec " + std::string(count) + "--follow --settle-every 10ms"}, [&] {
    program_setup on = setup();
    on.environment["EVERSEEN_STORE"] = server_.url();
    return on;
  }());
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

TEST_F(Stream, TellsPrometheusHowItIsDoing) {
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  running_program job({"bash", "-c", "exec " + std::string(count) + "--follow --metrics " + address}, [&] {
    program_setup on = setup();
    on.environment["EVERSEEN_STORE"] = server_.url();
    return on;
  }());
  std::string metrics;
  wait_until(
      [&] {
        metrics = sh("python3 -c \"import urllib.request as u; print(u.urlopen('http://" + address +
                     "/metrics').read().decode())\"")
                      .out;
        return metrics.find("verdict=\"fresh\"} 3") != std::string::npos;
      },
      "the metrics show three events");
  EXPECT_THAT(metrics,
              AllOf(HasSubstr("verdict=\"seen\"} 1"), HasSubstr("everseen_stream_settle_seconds_count"),
                    HasSubstr("everseen_stream_lag_records")));
}

TEST_F(Stream, WritesItsCountsAsJson) {
  EXPECT_THAT(on_redis(std::string(count) + "--time-json /time --stats=stats; cat stats"),
              Field("out", &program_result::out,
                    AllOf(HasSubstr("\"events\": 4"), HasSubstr("\"fresh\": 3"),
                          HasSubstr("\"watermark\": \"2025-01-01T00:12:00.000Z\""))));
}

/// The example of README, with a job and a server that are killed in the middle of it.
TEST_F(Stream, ExampleOfClicksEndsWithDifferenceZeroThoughItsPartsAreKilled) {
  running_program example({"bash", EVERSEEN_SOURCE_DIR "/examples/clicks/run.sh", "300k"}, setup());
  for (const char* what : {"everseen stream is process ", "redis-server is process "}) {
    wait_until([&] { return example.err().find("everseen stream is process ") != std::string::npos; },
               "the job of the example has begun");
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    const std::string said = example.err();
    const std::size_t at = said.rfind(what) + std::string(what).size();
    ::kill(std::stoi(said.substr(at)), SIGKILL);
  }
  const program_result ended = example.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("difference 0")) << ended.err;
}

}  // namespace
}  // namespace everseen::test
