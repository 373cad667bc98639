#include "everseen/redis/server_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace everseen::redis {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string healthy =
    "redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\nrole:master\r\naof_enabled:1\r\nsave:\r\n";

std::string changed(std::string text, const std::string& from, const std::string& target) {
  return text.replace(text.find(from), from.size(), target);
}

TEST(ServerCheck, FindsAFieldAmongOthersWithTheSamePrefix) {
  const char* info = "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n\r\nsave:\r\nrole:master\r\n";
  EXPECT_EQ(info_field(info, "maxmemory"), "0");
  EXPECT_EQ(info_field(info, "maxmemory_policy"), "noeviction");
  EXPECT_EQ(info_field(info, "role"), "master");
  EXPECT_EQ(info_field(info, "save"), "");
  EXPECT_EQ(info_field(info, "max"), std::nullopt);
  EXPECT_EQ(info_field("", "role"), std::nullopt);
  EXPECT_EQ(info_field("role", "role"), std::nullopt);
}

TEST(ServerCheck, AcceptsAMasterThatEvictsNothingAndPersistsAll) {
  EXPECT_THAT(warnings_about("h:1", healthy), IsEmpty());
}

TEST(ServerCheck, DoubtsServersThatForgetAcknowledgedWrites) {
  const auto doubts = [](const char* settings) { return warnings_about_jobs("h:1", healthy + settings); };
  EXPECT_THAT(doubts("appendonly:yes\r\nappendfsync:always\r\n"), IsEmpty());
  EXPECT_THAT(doubts("appendonly:yes\r\nappendfsync:everysec\r\n"),
              ElementsAre(AllOf(HasSubstr("h:1"), HasSubstr("everysec"), HasSubstr("appendfsync always"))));
  EXPECT_THAT(doubts("appendonly:no\r\nappendfsync:always\r\n"), ElementsAre(HasSubstr("appendonly no")));
  EXPECT_THAT(doubts(""), ElementsAre(HasSubstr("does not say")));
}

TEST(ServerCheck, DoubtsForJobsAServerThatStartsWithATornAof) {
  const std::string keeps = healthy + "appendonly:yes\r\nappendfsync:always\r\n";
  EXPECT_THAT(warnings_about_jobs("h:1", keeps + "aof-load-truncated:yes\r\n"),
              ElementsAre(AllOf(HasSubstr("h:1"), HasSubstr("aof-load-truncated yes"),
                                HasSubstr("redis-check-aof --fix"))));
  EXPECT_THAT(warnings_about_jobs("h:1", keeps + "aof-load-truncated:no\r\n"), IsEmpty());
  EXPECT_THAT(warnings_about("h:1", keeps + "aof-load-truncated:yes\r\n"), IsEmpty()) << "it concerns jobs";
}

TEST(ServerCheck, DoubtsEviction) {
  EXPECT_THAT(warnings_about("h:1", changed(healthy, "noeviction", "volatile-ttl")),
              ElementsAre(AllOf(HasSubstr("h:1"), HasSubstr("volatile-ttl"), HasSubstr("noeviction"))));
  EXPECT_THAT(warnings_about("h:1", changed(healthy, "maxmemory_policy", "other")),
              ElementsAre(HasSubstr("does not report")));
}

TEST(ServerCheck, DoubtsReplicas) {
  EXPECT_THAT(warnings_about("h:1", changed(healthy, "role:master", "role:slave") +
                                        "master_host:m\r\nmaster_port:2\r\n"),
              ElementsAre(AllOf(HasSubstr("h:1"), HasSubstr("replica of m:2"))));
}

TEST(ServerCheck, DoubtsAServerWithoutPersistence) {
  const std::string forgetful = changed(healthy, "aof_enabled:1", "aof_enabled:0");
  EXPECT_THAT(warnings_about("h:1", forgetful), ElementsAre(HasSubstr("keeps nothing on disk")));
  EXPECT_THAT(warnings_about("h:1", changed(forgetful, "save:", "save:3600 1")), IsEmpty());
  EXPECT_THAT(warnings_about("h:1", changed(forgetful, "save:", "x:")), IsEmpty()) << "it was not reported";
}

TEST(ServerCheck, DoubtsAServerThatIsTooOld) {
  EXPECT_THAT(warnings_about("h:1", changed(healthy, "7.0.15", "4.0.9")),
              ElementsAre(AllOf(HasSubstr("4.0.9"), HasSubstr("Redis 5"))));
  EXPECT_THAT(warnings_about("h:1", changed(healthy, "7.0.15", "10.1.0")), IsEmpty());
}

TEST(ServerCheck, ReportsWhatAServerUses) {
  const auto redis =
      report_of("h:1",
                "connected_clients:7\r\nused_memory:4096\r\nused_memory_human:4K\r\nmaxmemory:1048576\r\n"
                "total_commands_processed:12\r\ntotal_error_replies:3\r\n");
  ASSERT_TRUE(redis);
  EXPECT_EQ(redis->server, "h:1");
  EXPECT_EQ(redis->clients, 7U);
  EXPECT_EQ(redis->commands, 12U);
  EXPECT_EQ(redis->errors, 3U);
  EXPECT_EQ(redis->bytes, 4096U);
  EXPECT_EQ(redis->max_bytes, 1048576U);
  EXPECT_EQ(report_of("h:1", "total_commands_processed:12\r\nstore_outages:2\r\n")->errors, 2U);
  EXPECT_FALSE(report_of("h:1", ""));  // INFO was refused
}

}  // namespace
}  // namespace everseen::redis
