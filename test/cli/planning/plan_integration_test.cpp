// `everseen plan`, from the shell. Its calculations are tested in test/report.

#include <cmath>

#include <nlohmann/json.hpp>

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Plan : public Shell {
 protected:
  [[nodiscard]] nlohmann::json planned(const std::string& options) const {
    const program_result done = sh("everseen plan --store redis --json " + options);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return nlohmann::json::parse(done.out);
  }
};

TEST_F(Plan, OfServersNamesTheDesignAndTheCommand) {
  EXPECT_THAT(
      sh("everseen plan --store redis --keys 1e9 --per-second 1e6"),
      Prints(AllOf(HasSubstr("8 clients"), HasSubstr("\nclient "), HasSubstr("<- picked"),
                   HasSubstr("\neverseen create NAME --capacity 1000000000 --error-rate 1e-6 --judge client "
                             "--partitions 21\n"),
                   HasSubstr("must have the option mirror="))));
}

TEST_F(Plan, OfAServerThatDoesNotAnswerIsAnOutage) {
  EXPECT_THAT(sh("everseen plan --keys 1M --store 'redis://127.0.0.1:1/?retry_for=100ms'"),
              Complains(3, "127.0.0.1:1"));
  EXPECT_THAT(sh("everseen plan --keys 1M --store redis://127.0.0.1:1 --timeout 100ms"),
              Complains(3, "127.0.0.1:1"));
  EXPECT_THAT(sh("everseen plan --keys 1M --timeout 1s"), Complains(2, "--timeout", "--store"));
}

TEST_F(Plan, OfServersCreatesAFilterOfTheReportedSize) {
  const redis_server server;
  const std::string store = " --store " + server.url();
  const nlohmann::json plan = planned("--keys 10M --per-second 1e5 --judge client");
  given(plan["command"].get<std::string>() + " -q" + store + " && everseen add NAME a -q" + store);
  EXPECT_EQ(plan["designs"][1]["filter_bytes"],
            nlohmann::json::parse(sh("everseen info NAME --json" + store).out)["bytes"]);
  EXPECT_EQ(planned("--keys 10M --per-second 1e5 --clients 1")["picked"], "embedded");
}

TEST_F(Plan, OfServersExitsWithOneWhereNoDesignIsPossible) {
  const program_result done = sh("everseen plan --store redis --keys 1e12 --per-second 1e5 --judge client");
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.out, AllOf(HasSubstr("client is not possible: each client would keep the whole filter"),
                              Not(HasSubstr("<- picked")), Not(HasSubstr("everseen create"))));
}

TEST_F(Plan, OfServersShowsNoNumberOfServersWhereNoneWouldSuffice) {
  const std::string command = "everseen plan --store redis --keys 1e14 --per-second 1e5";
  const program_result done = sh(command + " --json");
  EXPECT_EQ(done.exit_code, 1);
  const nlohmann::json module = nlohmann::json::parse(done.out)["designs"][2];
  EXPECT_EQ(module["design"], "module");
  EXPECT_EQ(module["servers"], 0);
  EXPECT_THAT(sh(command).out, ContainsRegex("\nmodule( +-){7}\n"));
}

TEST_F(Plan, OfServersAcceptsItsOwnConstants) {
  given("everseen plan --store redis --keys 1e9 --per-second 1e6 --json > plan.json");
  EXPECT_THAT(sh("everseen plan --store redis --keys 1e9 --per-second 1e6 --json --constants plan.json | cmp "
                 "- plan.json"),
              Prints(""));
}

TEST_F(Plan, OfServersUsesMeasuredConstants) {
  given("echo '{\"constants\": {\"module_fresh_us\": 35}}' > slow.json");
  const std::string question = "--keys 1e9 --per-second 1e6 --judge server --module";
  const auto servers = [](const nlohmann::json& plan) { return plan["designs"][2]["servers"].get<int>(); };
  EXPECT_EQ(servers(planned(question)), 1);
  EXPECT_GE(servers(planned(question + " --constants slow.json")), 59);
  EXPECT_THAT(sh("everseen plan --store redis --keys 1 --per-second 1 --constants none"),
              Complains(3, "none"));
  EXPECT_THAT(sh("everseen plan --store redis --keys 1 --per-second 1 --constants /dev/null"),
              Complains(2, "no JSON object"));
}

TEST_F(Plan, OfServersRefusesOptionsThatDoNotFit) {
  EXPECT_THAT(sh("everseen plan --store redis --per-second 1"), Complains(2, "--keys"));
  EXPECT_THAT(sh("everseen plan --store file --keys 1 --per-second 1"), Complains(2, "--store", "redis"));
  EXPECT_THAT(sh("everseen plan --keys 1e9 --error-rate 1e-6 --per-second 1"),
              Complains(2, "--per-second", "--store redis"));
  EXPECT_THAT(sh("everseen plan --store redis --keys 1 --per-second 1 --bytes 1Mi"), Complains(2, "--bytes"));
  EXPECT_THAT(sh("everseen plan --store redis --keys 1 --clients 3"),
              Complains(2, "--clients", "--per-second"));
  EXPECT_THAT(sh("everseen plan --store redis --error-rate 1e-6"), Complains(2, "--keys"));
  EXPECT_THAT(sh("everseen plan --store mem: --keys 1 --per-second 1"), Complains(2, "--store redis"));
}

TEST_F(Plan, OfAStoreMatchesCreateThere) {
  const redis_server plain, judging(with_module());
  const auto made = [&](const redis_server& server) {
    const std::string store = " --store " + server.url();
    given("everseen create f -q --capacity 10M" + store + " && everseen add f a -q" + store);
    const auto info = nlohmann::json::parse(sh("everseen info f --json" + store).out);
    given("everseen drop f" + store);
    return info;
  };
  const auto rows =
      nlohmann::json::parse(sh("everseen plan --keys 10M --json --store redis").out).at("filters");
  const auto by_servers = made(judging), by_clients = made(plain);
  EXPECT_EQ(rows.front().at("layout"), by_servers.at("spec").at("layout"));
  EXPECT_EQ(rows.front().at("probes"), by_servers.at("spec").at("probes"));
  EXPECT_EQ(rows.front().at("partitions"), by_servers.at("spec").at("partitions"));
  EXPECT_EQ(rows.back().at("layout"), by_clients.at("spec").at("layout"));
  EXPECT_EQ(rows.back().at("partitions"), by_clients.at("spec").at("partitions"));
}

TEST_F(Plan, AcceptsTheErrorRateOfCreateWithKeysOrMemoryAlone) {
  EXPECT_EQ(sh("everseen plan --keys 1,000,000").out, sh("everseen plan --keys 1M --error-rate 0.0001%").out);
  EXPECT_EQ(sh("everseen plan --bytes 64MiB").out, sh("everseen plan --bytes 64Mi --error-rate 1e-6").out);
  EXPECT_THAT(sh("everseen plan"), Complains(2, "--keys", "--bytes"));
  EXPECT_THAT(sh("everseen plan --error-rate 1e-6"), Complains(2, "--keys", "--bytes"));
}

TEST_F(Plan, RefusesMoreKeysThanThereAreValues) {
  EXPECT_THAT(sh("everseen plan --keys 1001 --values 1000"),
              Complains(2, "1,001 different keys among 1,000 possible values"));
  EXPECT_THAT(sh("everseen plan --keys 1000 --values 1..1000"), Prints(HasSubstr("bitmap")));
}

TEST_F(Plan, AnswersWithTheProbesForKeysMemoryAndErrorRate) {
  EXPECT_THAT(sh("everseen plan --keys 1M --bytes 1.25MB --error-rate 1%"),
              Prints(ContainsRegex("classic .* 5 +5 +0\\.0094 +<- picked")));
  EXPECT_THAT(sh("everseen plan --keys 1M --bytes 1MB --error-rate 1%"),
              Complains(2, "no number of probes", "the best, 6, reaches 0.0216"));
  EXPECT_THAT(sh("everseen plan --keys 1M --bytes 1.25MB --error-rate 1% --probes 3"),
              Complains(2, "leave out"));
}

TEST_F(Plan, AnswersWithTheErrorRateForProbesAndMemory) {
  const auto rate_of = [this](const std::string& probes) {
    const nlohmann::json plan =
        nlohmann::json::parse(sh("everseen plan --keys 1M --bytes 1.2MB --json --probes " + probes).out);
    for (const auto& row : plan.at("structures"))
      if (row.at("structure") == "classic")
        return std::pair(row.at("probes").get<int>(), row.at("error_rate").get<double>());
    return std::pair(0, 0.0);
  };
  // (1 - e^(-k n / m))^k with m / n = 9.6
  EXPECT_EQ(rate_of("3").first, 3);
  EXPECT_NEAR(rate_of("3").second, std::pow(1 - std::exp(-3 / 9.6), 3), 1e-4);
  EXPECT_NEAR(rate_of("7").second, std::pow(1 - std::exp(-7 / 9.6), 7), 1e-4);
}

}  // namespace
}  // namespace everseen::test
