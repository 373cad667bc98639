// `everseen bench --store`, from the shell.

#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Bench : public Shell {
 protected:
  [[nodiscard]] nlohmann::json measured(const std::string& url,
                                        const std::string& options = "--keys 50k") const {
    const program_result done = sh("everseen bench --json --store '" + url + "' " + options);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return nlohmann::json::parse(done.out);
  }

  /// A row with the costs of a key.
  static nlohmann::json cost(const nlohmann::json& all, const std::string& judged, const std::string& keys) {
    for (const nlohmann::json& row : all["costs"])
      if (row["judged"] == judged && row["keys"] == keys && row["error_rate"] == 1e-6) return row;
    ADD_FAILURE() << "no row of " << judged << ", " << keys << " in " << all.dump(2);
    return {};
  }
};

TEST_F(Bench, OfAPlainServerMeasuresClientsThatJudge) {
  const redis_server server;
  const nlohmann::json all = measured(server.url());
  EXPECT_GT(all["round_trip_us"], 0);
  const auto client = cost(all, "redis, judged here", "fresh");
  EXPECT_GT(client["server_us"], 0);
  EXPECT_GE(client["in_bytes"], 8) << "a digest of 64 bits";
  EXPECT_LT(cost(all, "redis, judged here", "repeat")["in_bytes"], 1) << "no server is involved";
  const double read = cost(all, "redis, judged here", "read by another client")["out_bytes"];
  EXPECT_GE(read, 7.9) << "its digest, except for false positives";
  EXPECT_LT(read, 16);
  const double sent = all["constants"]["client_in_bytes"];
  EXPECT_GT(sent, 15) << "the digest, and once more after a refusal";
  EXPECT_LT(sent, 60) << "and checkpoints in between";
}

TEST_F(Bench, OfAServerWithTheModuleMeasuresIt) {
  const redis_server server(with_module());
  const nlohmann::json all = measured(server.url());
  EXPECT_GT(cost(all, "redis, module", "repeat")["server_us"], 0);
  EXPECT_TRUE(all["constants"].contains("module_fresh_us"));
}

TEST_F(Bench, LeavesNothingBehind) {
  redis_server server;
  given("everseen bench --keys 10k --store " + server.url());
  EXPECT_THAT(sh("everseen list --store " + server.url()), Prints(IsEmpty()));
  std::istringstream keys(server.run({"KEYS", "*"}));
  for (std::string key; keys >> key;) EXPECT_THAT(key, HasSubstr("}:t:")) << "only tokens, which expire";
}

TEST_F(Bench, DropsItsFiltersWhenItFails) {
  redis_server server;
  server.run({"CONFIG", "SET", "maxmemory", "2mb"});
  const program_result done = sh("everseen bench --keys 1M --store '" + server.url("?retry_for=1s") + "'");
  EXPECT_EQ(done.exit_code, 3) << done.err;
  server.run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_THAT(sh("everseen list --store " + server.url()), Prints(IsEmpty()));
}

TEST_F(Bench, OfMemoryAndFilesMeasuresThisProcess) {
  for (const std::string url : {"mem:", "file:filters"}) {
    const nlohmann::json all = measured(url);
    EXPECT_GT(cost(all, url, "fresh")["keys_a_second"], 0);
    EXPECT_FALSE(cost(all, url, "fresh").contains("server_us"));
    EXPECT_GT(all["constants"]["embedded_us"], 0);
  }
  EXPECT_THAT(sh("everseen list --store file:filters"), Prints(IsEmpty()));
}

TEST_F(Bench, PassesItsMeasurementsToPlan) {
  const redis_server server;
  given("everseen bench --json --keys 20k --store " + server.url() + " > costs.json");
  const auto costs = nlohmann::json::parse(sh("cat costs.json").out);
  const auto plan = nlohmann::json::parse(
      sh("everseen plan --store redis --keys 1e6 --per-second 1e3 --json --constants costs.json").out);
  for (const auto& [name, value] : costs["constants"].items())
    EXPECT_EQ(plan["constants"][name], value) << name;
  EXPECT_EQ(costs["constants"].size(), 10)
      << "9 of clients, and the round trip: " << costs["constants"].dump(2);
}

TEST_F(Bench, ShowsNoPassword) {
  const redis_server server(redis_server::options{.password = "secret"});
  const program_result done =
      sh("everseen bench --json --keys 10k --store '" + server.url("?password=secret") + "'");
  EXPECT_THAT(done, Prints(AllOf(HasSubstr("password=***"), Not(HasSubstr("secret")))));
}

TEST_F(Bench, RefusesOptionsThatDoNotFit) {
  EXPECT_THAT(sh("everseen bench --keys 10k"), Complains(2, "--store"));
  EXPECT_THAT(sh("everseen bench --store mem: --bytes 64Ki"), Complains(2, "--bytes"));
  EXPECT_THAT(sh("everseen bench --keys 101M --store 'redis://127.0.0.1:1?retry_for=1ms'"),
              Complains(2, "at most 100,000,000 on servers"));
  EXPECT_THAT(sh("everseen bench --store other:"), Complains(2, "'other' is not a store"));
  EXPECT_THAT(sh("everseen bench --store 'redis://127.0.0.1:1?retry_for=1ms'"), Complains(3, "127.0.0.1:1"));
}

}  // namespace
}  // namespace everseen::test
