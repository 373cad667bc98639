// Rebuilds that would leave far fewer keys, from the shell, in files and on a Redis server.

#include "test/cli/shell.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A filter `f` with 1,000 keys, in each kind of store, and the keys or files of that store.
class RebuildWithFewKeys : public Shell, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    server_.run({"CONFIG", "SET", "appendonly", "yes"});
    EXPECT_THAT(run("everseen create f -q && seq 1000 | everseen add f -q"), Prints(IsEmpty()));
    before_ = stored();
  }
  [[nodiscard]] bool is_redis() const { return GetParam() == std::string("redis"); }
  program_result run(const std::string& line, std::string input = {}) const {
    return sh((is_redis() ? "export EVERSEEN_STORE=" + server_.url() + "; " : "") + line, std::move(input));
  }
  [[nodiscard]] std::string stored() const {
    return is_redis() ? server_.run({"DBSIZE"}) : sh("find store | sort").out;
  }
  void expect_unchanged() const {
    EXPECT_EQ(stored(), before_) << "nothing is left behind";
    EXPECT_THAT(run("everseen info f"), Prints(AllOf(HasSubstr("1,000"), Not(HasSubstr("rebuil")))));
    EXPECT_THAT(run("seq 1000 | everseen check f -q"), Prints(IsEmpty()));
    EXPECT_THAT(run("everseen add f 1 later && everseen check f later"),
                Prints("1 fresh, 1 seen\nseen\tlater\n"));
  }

  redis_server server_;
  std::string before_;
};

TEST_P(RebuildWithFewKeys, WithoutAnyKeyIsRefused) {
  for (const char* input : {"< /dev/null", "< empty", "--yes < empty"})
    EXPECT_THAT(run(std::string("touch empty; everseen rebuild f ") + input),
                Complains(2, "no keys are given, and 'f' has 1,000", "--empty"))
        << input;
  EXPECT_THAT(run("true | everseen rebuild f"), Complains(2, "--empty")) << "also from a pipe";
  expect_unchanged();
}

TEST_P(RebuildWithFewKeys, WithFewerThanHalfOfTheKeysIsRefused) {
  for (const char* line :
       {"seq 499 | everseen rebuild f", "seq 499 > few; everseen rebuild f < few",
        "everseen rebuild f $(seq 499) < /dev/null", "seq 499 | everseen rebuild f --empty"})
    EXPECT_THAT(run(line), Complains(2, "'f' has 1,000 keys, and 499 are given", "--yes")) << line;
  expect_unchanged();
}

TEST_P(RebuildWithFewKeys, IsDoneOnRequest) {
  EXPECT_THAT(run("seq 499 | everseen rebuild f --yes"), Prints(HasSubstr("rebuilt f: 499 keys given")));
  EXPECT_THAT(run("everseen check f 499 500"), Prints("seen\t499\nfresh\t500\n", 1));
  EXPECT_THAT(run("everseen rebuild f --empty < /dev/null"), Prints(HasSubstr("rebuilt f: 0 keys given")));
  EXPECT_THAT(run("everseen check f 499"), Prints("fresh\t499\n", 1));
}

TEST_P(RebuildWithFewKeys, WithHalfOfTheKeysIsDone) {
  EXPECT_THAT(run("seq 501 1000 | everseen rebuild f"), Prints(HasSubstr("rebuilt f: 500 keys given")));
  EXPECT_THAT(run("seq 501 1000 | everseen check f -q"), Prints(IsEmpty()));
  EXPECT_THAT(run("seq 2001 2500 > ids; everseen rebuild f < ids"), Prints(HasSubstr("500 keys given")));
  EXPECT_THAT(run("everseen check f 501 2001 2500"), Prints("fresh\t501\nseen\t2001\nseen\t2500\n", 1));
}

TEST_P(RebuildWithFewKeys, ReceivesEveryKeyOfALongPipe) {
  EXPECT_THAT(run("seq 300000 | tr '\\n' '\\0' | everseen rebuild f -z --capacity 1M"),
              Prints(HasSubstr("rebuilt f: 300,000 keys given")));
  EXPECT_THAT(run("seq 300000 | everseen check f -q"), Prints(IsEmpty()));
}

TEST_P(RebuildWithFewKeys, AsksAtATerminal) {
  const auto answered = [this](const std::string& answer) {
    return run("echo " + answer + " | script -qec 'everseen rebuild f a b' /dev/null");
  };
  const program_result no = answered("n");
  EXPECT_EQ(no.exit_code, 1);
  EXPECT_THAT(no.out, HasSubstr("'f' has 1,000 keys, and 2 are given. Rebuild it with these? [y/N]"));
  expect_unchanged();
  EXPECT_EQ(answered("y").exit_code, 0);
  EXPECT_THAT(run("everseen check f a 1"), Prints("seen\ta\nfresh\t1\n", 1));
}

INSTANTIATE_TEST_SUITE_P(Stores, RebuildWithFewKeys, testing::Values("file", "redis"),
                         [](const auto& store) { return std::string(store.param); });

class RebuildFromACopy : public Shell {
 protected:
  redis_server server_;
};

TEST_F(RebuildFromACopy, WithFewKeysIsRefused) {
  server_.run({"CONFIG", "SET", "appendonly", "yes"});
  const std::string redis = "export EVERSEEN_STORE=" + server_.url() + "; ";
  given(
      redis +
      "everseen create f -q && everseen export f -o none && everseen add f -q a && everseen export f -o one "
      "&& seq 999 | everseen add f -q");
  const std::string keys = server_.run({"DBSIZE"});
  EXPECT_THAT(sh(redis + "everseen rebuild f --from-export none"), Complains(2, "no keys are given"));
  EXPECT_THAT(sh(redis + "everseen rebuild f --from-export one b"),
              Complains(2, "'f' has 1,000 keys, and 2 are given"));
  EXPECT_EQ(server_.run({"DBSIZE"}), keys);
  EXPECT_THAT(sh(redis + "seq 999 | everseen check f -q"), Prints(IsEmpty()));
  EXPECT_THAT(sh(redis + "everseen rebuild f --from-export one b --yes -q && everseen check f a b 1"),
              Prints("seen\ta\nseen\tb\nfresh\t1\n", 1));
}

}  // namespace
}  // namespace everseen::test
