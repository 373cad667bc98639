// Filters on a Redis server that clients judge, from the shell.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Judge : public Shell {
 protected:
  /// With the server as the store.
  program_result on_redis(const std::string& line) const {
    return sh("export EVERSEEN_STORE=" + server_.url() + "; " + line);
  }
  [[nodiscard]] std::string contents(const std::string& name) const {
    std::ifstream in(directory() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// By the first differing line alone: the differences between two long texts would fill the memory.
  void expect_same(const std::string& one, const std::string& other) const {
    EXPECT_THAT(sh("cmp " + one + " " + other), Prints(IsEmpty()));
  }
  void SetUp() override { server_.run({"CONFIG", "SET", "appendonly", "yes"}); }

  redis_server server_;
};

TEST_F(Judge, ByClientsPrintsTheSameAsARunInMemory) {
  // Each filter has a seed of its own, and so its own false positives: here there are none.
  given("everseen gen words --count 200000 > words; everseen dedup --error-rate 1e-12 words > in-memory");
  EXPECT_THAT(on_redis("everseen dedup --filter f --error-rate 1e-12 --judge client words > shared"),
              Prints(IsEmpty()));
  expect_same("shared", "in-memory");
  EXPECT_THAT(on_redis("everseen dedup --filter f words"), Prints(IsEmpty())) << "all are known";
  EXPECT_THAT(on_redis("everseen list"), Prints(HasSubstr("f ")));
  EXPECT_THAT(on_redis("everseen info f"), Prints(HasSubstr("\nkeys ")));
}

TEST_F(Judge, ByClientsTwoProcessesPrintEachLineOnceBetweenThem) {
  given(
      "everseen gen ids --count 100k --range 1..50k > ids; split --number r/2 ids half.; sort -u ids > "
      "exact");
  given("everseen create f --judge client --capacity 50k --error-rate 1e-12 -q --store " + server_.url());
  EXPECT_THAT(
      on_redis("everseen dedup --filter f half.aa > once.aa & everseen dedup --filter f half.ab > once.ab && "
               "wait $! && sort once.aa once.ab > once"),
      Prints(IsEmpty()));
  expect_same("once", "exact");
}

TEST_F(Judge, ByClientsStreamCountsEachEventOnce) {
  given(
      "everseen gen clicks --count 20k --repeats 10% > clicks; cut -d'\"' -f4 clicks | sort -u | wc -l > "
      "exact");
  const std::string count =
      "everseen stream --from clicks --filter f --judge client --key-json /id --count ''";
  EXPECT_EQ(on_redis(count).exit_code, 0);
  EXPECT_EQ(on_redis(count).exit_code, 0) << "the same events again";
  EXPECT_THAT(on_redis("everseen counts f --format csv | tail -1 > counted"), Prints(IsEmpty()));
  EXPECT_EQ(contents("counted"), contents("exact"));
  EXPECT_THAT(on_redis("everseen jobs f"), Prints(HasSubstr("stream")));
}

TEST_F(Judge, OptionIsForServersOnly) {
  EXPECT_THAT(sh("everseen create f --judge client"), Complains(2, "--judge", "redis://"));
  EXPECT_THAT(sh("everseen dedup --judge client < /dev/null"), Complains(2, "--judge", "redis://"));
}

TEST_F(Judge, StaysAsTheFilterWasCreated) {
  given("everseen create f -q --store " + server_.url());
  EXPECT_THAT(on_redis("everseen dedup --filter f --judge server < /dev/null"),
              Complains(2, "--judge does not fit the filter 'f'", "client"));
}

TEST_F(Judge, ByClientsIsCopiedFromServerToFileAndBack) {
  EXPECT_THAT(on_redis("everseen create f --judge client -q && everseen add f a b c"),
              Prints("3 fresh, 0 seen\n"));
  EXPECT_THAT(
      on_redis(
          "everseen export f > f.image && everseen import g < f.image > /dev/null; everseen check g a z"),
      Prints("seen\ta\nfresh\tz\n", 1));
  EXPECT_THAT(sh("everseen import g < f.image > /dev/null; everseen check g a z"),
              Prints("seen\ta\nfresh\tz\n", 1));
}

}  // namespace
}  // namespace everseen::test
