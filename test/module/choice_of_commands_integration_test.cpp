// How clients detect the module when they open a filter, and the error when it is no longer loaded.

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/module/module_server.hpp"
#include "test/redis/stored.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/opened_job.hpp"

namespace everseen::redis_module {
namespace {

using test::add_keys;
using test::check_keys;
using test::opened_job;
using test::random_digests;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ChoiceOfCommands, ModuleIsFoundAutomatically) {
  const redis_server server(test::with_module());
  redis::redis_store store(redis::parse_redis_url(server.url()));
  const auto filter = store.create("f", store.plan({.capacity = 100, .partitions = 1}));
  server.run({"CONFIG", "RESETSTAT"});
  const auto keys = random_digests(3).take(1000);
  EXPECT_EQ(add_keys(*filter, keys).result->unknown, 0U);
  EXPECT_EQ(check_keys(*filter, keys).result->seen, 1000U);
  EXPECT_EQ(filter->path().text, "redis, module");
  EXPECT_EQ(calls_of(server, "evalsha"), "0");
}

TEST(ChoiceOfCommands, ModuleIsNotUsedByClientsThatRequestScripts) {
  const redis_server server(test::with_module());
  redis::redis_store store(redis::parse_redis_url(server.url("?commands=script")));
  const auto filter = store.create("f", store.plan({.capacity = 100}));
  ASSERT_TRUE(add_keys(*filter, random_digests(3).take(10)).result);
  EXPECT_EQ(calls_of(server, "everseen.add"), "0");
}

/// A message for people contains no bytes of digests.
testing::Matcher<std::string> printable_text() {
  return testing::ResultOf(
      [](const std::string& text) {
        return std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c < 127; });
      },
      testing::IsTrue());
}

TEST(ChoiceOfCommands, ForcedModuleThatIsMissingIsAnError) {
  const redis_server server;
  redis::redis_store store(redis::parse_redis_url(server.url("?commands=module")));
  const std::string said =
      redis::message_of<parameter_error>([&] { (void)store.create("f", store.plan({.capacity = 100})); });
  EXPECT_THAT(said, AllOf(HasSubstr("commands=module needs the everseen module"), HasSubstr("load it"),
                          printable_text()));
  EXPECT_EQ(server.run({"DBSIZE"}), "0");
}

TEST(ChoiceOfCommands, ModuleIsUsedWhereEveryServerHasIt) {
  const redis_server with(test::with_module()), too(test::with_module()), without;
  const auto access_path_at = [](const redis_server& a, const redis_server& b) {
    redis::redis_store store(redis::parse_redis_url("redis://" + a.address() + "," + b.address()));
    const auto filter =
        store.create("f", store.plan({.capacity = 1000, .error_rate = 1e-9, .partitions = 4}));
    a.run({"CONFIG", "RESETSTAT"});
    const auto keys = random_digests(3).take(3000);
    EXPECT_EQ(add_keys(*filter, keys).result->fresh, 3000U);
    EXPECT_EQ(add_keys(*filter, keys).result->seen, 3000U);
    EXPECT_EQ(calls_of(a, "evalsha") == "0", calls_of(a, "everseen.add") != "0");
    const std::string access_path = filter->path().text;
    store.drop("f");
    return access_path;
  };
  EXPECT_EQ(access_path_at(with, too), "redis, module");
  EXPECT_NE(calls_of(with, "everseen.add"), "0");
  EXPECT_NE(calls_of(too, "everseen.add"), "0");
  const redis_server another(test::with_module());
  EXPECT_EQ(access_path_at(another, without), "redis, script");
  EXPECT_EQ(calls_of(another, "everseen.add"), "0");
}

TEST(ChoiceOfCommands, UserWithoutRightsToTheCommandsGetsAnError) {
  const redis_server server(test::with_module());
  redis::redis_store(redis::parse_redis_url(server.url()))
      .create("f", make_spec({.capacity = 100, .partitions = 1}));
  server.run({"ACL", "SETUSER", "eve", "on", ">secret", "~*", "&*", "+@all", "-everseen.add"});
  redis::redis_store store(redis::parse_redis_url("redis://eve:secret@" + server.address()));
  const auto got = add_keys(*store.open("f", access::write), random_digests(3).take(10));
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, AllOf(HasSubstr("EVERSEEN.ADD"), HasSubstr("commands=script")));
}

TEST(ChoiceOfCommands, UserWithoutRightsToTheKeysGetsAnError) {
  const redis_server server(test::with_module());
  redis::redis_store store(redis::parse_redis_url(server.url()));
  const auto filter = store.create("f", make_spec({.capacity = 100, .partitions = 1}));
  ASSERT_TRUE(add_keys(*filter, random_digests(4).take(10)).result);  // so that it knows the partition
  server.run({"ACL", "SETUSER", "default", "resetkeys", "~other*"});
  const auto got = add_keys(*filter, random_digests(3).take(10));
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message,
              AllOf(HasSubstr("filter's keys"), HasSubstr("~everseen:*"), Not(HasSubstr("commands=script"))));
}

TEST(ChoiceOfCommands, ForcedModuleIsTrustedWhereNobodyMayAskForIt) {
  const redis_server server(test::with_module());
  server.run({"ACL", "SETUSER", "eve", "on", ">secret", "~*", "&*", "+@all", "-@scripting", "-command"});
  const std::string url = "redis://eve:secret@" + server.address();
  redis::redis_store(redis::parse_redis_url(server.url())).create("f", make_spec({.capacity = 100}));
  redis::redis_store asking(redis::parse_redis_url(url));
  EXPECT_THAT(redis::message_of<backend_error>([&] { (void)asking.open("f", access::write); }),
              AllOf(HasSubstr("forbids scripts"), HasSubstr("COMMAND INFO"), HasSubstr("commands=module")));
  redis::redis_store knowing(redis::parse_redis_url(url + "?commands=module"));
  const auto filter = knowing.open("f", access::write);
  EXPECT_EQ(add_keys(*filter, random_digests(3).take(10)).result->fresh, 10U);
}

TEST(ChoiceOfCommands, ModuleAllowsFiltersWithALayoutForMemory) {
  const redis_server server(test::with_module());
  redis::redis_store store(redis::parse_redis_url(server.url()));
  EXPECT_EQ(store.plan({.error_rate = 1e-2}).layout, layout_kind::line_8x64);
  EXPECT_EQ(store.plan({.error_rate = 1e-2, .layout = layout_kind::classic}).layout, layout_kind::classic);
  const redis_server plain;
  EXPECT_EQ(redis::redis_store(redis::parse_redis_url(plain.url())).plan({.error_rate = 1e-2}).layout,
            layout_kind::classic);
}

TEST(ChoiceOfCommands, ModuleJudgesAtTheBeginningOfTimeAsScriptsDo) {
  const redis_server server(test::with_module());
  const auto keys = random_digests(3).take(10);
  std::vector<std::vector<verdict>> said;
  for (const std::string commands : {"script", "module"}) {
    redis::redis_store store(redis::parse_redis_url(server.url("?commands=" + commands)));
    const auto filter = store.create(
        commands,
        store.plan(
            {.capacity = 100, .error_rate = 1e-12, .window = window_spec{std::chrono::minutes(10), 10}}));
    for (const event_time when :
         {event_time::min(), event_time::min(), event_time(), event_time::min(), event_time()}) {
      said.push_back(add_keys(*filter, keys, when).verdicts);
      said.push_back(check_keys(*filter, keys, when).verdicts);
    }
  }
  const auto half = said.begin() + static_cast<std::ptrdiff_t>(said.size() / 2);
  EXPECT_TRUE(std::equal(said.begin(), half, half, said.end()));
  EXPECT_EQ(said[0], std::vector(10, verdict::fresh));
  EXPECT_EQ(said[2], std::vector(10, verdict::seen));
  EXPECT_EQ(said[6], std::vector(10, verdict::late));
}

// Promise: a client whose server has lost the module gets an error that says so (redis, Who judges).
TEST(ChoiceOfCommands, ServerThatHasLostTheModuleIsReported) {
  redis_server server(test::with_module());
  redis::redis_store store(redis::parse_redis_url(server.url()));
  const auto filter = store.create("f", store.plan({.capacity = 100, .error_rate = 1e-9, .partitions = 1}));
  random_digests random(3);
  const auto first = random.take(500), second = random.take(500);
  EXPECT_EQ(add_keys(*filter, first).result->fresh, 500U);
  server.restart_with({});
  for (const auto& got : {add_keys(*filter, second), check_keys(*filter, first)}) {
    ASSERT_FALSE(got.result);
    EXPECT_EQ(got.verdicts, std::vector(500, verdict::unknown));
    EXPECT_THAT(got.result.error().message, AllOf(HasSubstr("no longer has the everseen module"),
                                                  HasSubstr("open the filter again"), printable_text()));
  }
  const auto again = store.open("f", access::write);
  EXPECT_EQ(again->path().text, "redis, script");
  EXPECT_EQ(check_keys(*again, first).result->seen, 500U) << "nothing was lost";
  EXPECT_EQ(add_keys(*again, second).result->fresh, 500U) << "and nothing was added";

  server.restart_with(test::with_module());
  EXPECT_EQ(check_keys(*filter, second).result->seen, 500U) << "usable again";
  EXPECT_EQ(store.open("f", access::write)->path().text, "redis, module");
}

TEST(ChoiceOfCommands, ServerThatHasLostTheModuleIsReportedByAJob) {
  redis_server server(test::with_module());
  redis::redis_store store(redis::parse_redis_url(server.url()));
  const auto filter = store.create("f", store.plan({.capacity = 100, .error_rate = 1e-9, .partitions = 1}));
  const auto job = filter->open_ledger("count", "");
  random_digests random(3);
  const auto events = test::new_events(random, 0, 20);
  ASSERT_TRUE(test::claim_events(*job, filter->get_spec(), {"lane"}, std::span(events).first(10)).result);
  server.restart_with({});
  const auto got = test::claim_events(*job, filter->get_spec(), {"lane"}, std::span(events).subspan(10));
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, AllOf(HasSubstr("open the filter again"), printable_text()));
  const opened_job again(store.open("f", access::write));
  EXPECT_EQ(test::claim_events(*again, filter->get_spec(), {"lane"}, events).result->fresh, 20U);
}

TEST(ChoiceOfCommands, ModuleIsDetectedWhenAFilterIsOpenedAndNotWithEachBatch) {
  const redis_server server;
  redis::redis_store store(redis::parse_redis_url(server.url()));
  const auto filter = store.create("f", store.plan({.capacity = 100'000, .partitions = 1}));
  const std::string before = calls_of(server, "command|info");
  random_digests random(3);
  for (int batch = 0; batch < 20; ++batch) ASSERT_TRUE(add_keys(*filter, random.take(10)).result);
  EXPECT_EQ(calls_of(server, "command|info"), before);
}

}  // namespace
}  // namespace everseen::redis_module
