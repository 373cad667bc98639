#include <nlohmann/json.hpp>

#include "test/cli/shell.hpp"

namespace everseen::test {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// create, info, list, drop, explain.
class Filters : public Shell {
 protected:
  nlohmann::json json(const std::string& line) const { return nlohmann::json::parse(sh(line).out); }
};

TEST_F(Filters, AreCreatedAsRequested) {
  given(
      "everseen create f --capacity 10M --error-rate 1e-4 --layout classic --probes 9 --hash siphash "
      "--growth overfill --window 1h30m --slices 9 --partitions 3");
  const auto spec = json("everseen info f --json")["spec"];
  EXPECT_EQ(spec["capacity"], 10'000'000);
  EXPECT_EQ(spec["error_rate"], 1e-4);
  EXPECT_EQ(spec["layout"], "classic");
  EXPECT_EQ(spec["probes"], 9);
  EXPECT_EQ(spec["hash"], "siphash");
  EXPECT_EQ(spec["growth"], "overfill");
  EXPECT_EQ(spec["window_ms"], 5'400'000);
  EXPECT_EQ(spec["slices"], 9);
  EXPECT_EQ(spec["partitions"], 3);
}

// Promise: a name that is shown can be typed (operations, Names).
TEST_F(Filters, AreShownAsTheyAreTyped) {
  given(R"(for name in ../f 'a b' 日志 "it's" '"a\nb"' '"\xff\x1b[2J"' '"-rf"' '$(touch ran)'; do
             everseen create "$name" --capacity 1000 --quiet && everseen add "$name" key --quiet || exit; done)");
  EXPECT_THAT(sh("everseen list --names | LC_ALL=C sort"), Prints(R"("-rf")"
                                                                  "\n"
                                                                  R"("\xff\x1b[2J")"
                                                                  "\n"
                                                                  R"("a\nb")"
                                                                  "\n$(touch ran)\n../f\na b\nit's\n日志\n"));
  EXPECT_THAT(
      sh(R"(everseen list --names | while read -r name; do everseen check "$name" key; done | sort -u)"),
      Prints("seen\tkey\n"));
  EXPECT_THAT(sh(R"(everseen rename '"a\nb"' '"\x00"')"), Prints(R"("a\nb" is called "\x00" now)"
                                                                 "\n"));
  EXPECT_THAT(sh("everseen rename 'a b' 'a b' --replace"), Complains(2, "'a b' has that name"));
  EXPECT_THAT(sh(R"(everseen info '"q\nxyz"')"),
              Complains(2, R"(no filter named "q\nxyz")", R"(everseen create '"q\nxyz"' makes one)"));
  given(R"(everseen list --names | while read -r name; do everseen drop "$name" --yes || exit; done)");
  EXPECT_THAT(sh("everseen list"), Prints(IsEmpty()));
  EXPECT_THAT(sh("ls ran *f 2>/dev/null"), Prints(IsEmpty(), 2));
}

TEST_F(Filters, CreatedFiltersAreReportedUnlessQuiet) {
  EXPECT_THAT(sh("everseen create f --capacity 10k"),
              Prints(StartsWith("created f: 10,000 keys at an error rate of 1.0e-06")));
  EXPECT_THAT(sh("everseen create g --window 10m"), Prints(HasSubstr("a slice of 1m")));
  EXPECT_THAT(sh("everseen create h --quiet"), Prints(IsEmpty()));
}

TEST_F(Filters, AreNotCreatedFromInvalidOptions) {
  EXPECT_THAT(sh("everseen create f --capacity 0"), Complains(2, "--capacity 0", "from 1 to"));
  EXPECT_THAT(sh("everseen create f --capacity -5"), Complains(2, "--capacity -5", "from 1 to"));
  EXPECT_THAT(sh("everseen create f --capacity 1e30"), Complains(2, "--capacity 1e30", "too large"));
  EXPECT_THAT(sh("everseen create f --error-rate 2"), Complains(2, "--error-rate 2", "1e-15 to 0.5"));
  EXPECT_THAT(sh("everseen create f --error-rate 0"), Complains(2, "--error-rate 0", "1e-15 to 0.5"));
  EXPECT_THAT(sh("everseen create f --error-rate 1e-40"), Complains(2, "--error-rate 1e-40", "1e-15 to 0.5"));
  EXPECT_THAT(sh("everseen create f --error-rate nan"), Complains(2, "--error-rate nan", "not a number"));
  EXPECT_THAT(sh("everseen create f --window 10"), Complains(2, "--window 10", "unit"));
  EXPECT_THAT(sh("everseen create f --slices 3"), Complains(2, "--slices", "--window"));
  EXPECT_THAT(sh("everseen create f --window 1s --slices 7"), Complains(2, "7 slices", "whole milliseconds"));
  EXPECT_THAT(sh("everseen create f --layout round"), Complains(2, "--layout round", "line-8x64"));
  EXPECT_THAT(sh("everseen create f --layout line-8x64 --probes 5"), Complains(2, "probes"));
  EXPECT_THAT(sh("everseen create f --hash md5"), Complains(2, "--hash md5", "xxh3, siphash"));
  EXPECT_THAT(sh("everseen create f --partitions 65537"), Complains(2, "--partitions 65537", "65536"));
  EXPECT_THAT(sh("everseen create $(printf %1025s | tr ' ' x)"), Complains(2, "1 to 1024 bytes, not 1025"));
  EXPECT_THAT(sh("everseen create '\"f'"), Complains(2, "begins with a double quote"));
  EXPECT_THAT(sh("everseen create ''"), Complains(2, "name"));
  EXPECT_THAT(sh("ls"), Prints(IsEmpty()));
}

TEST_F(Filters, AreCreatedOnce) {
  given("everseen create f");
  EXPECT_THAT(sh("everseen create f"), Complains(2, "'f' exists already"));
}

TEST_F(Filters, MissingFiltersAreNamed) {
  for (const auto* verb : {"info", "check", "add", "drop", "export", "explain"})
    EXPECT_THAT(sh(std::string("everseen ") + verb + " nope key"), Complains(2)) << verb;
  EXPECT_THAT(sh("everseen info nope"), Complains(2, "no filter named 'nope'"));
}

TEST_F(Filters, ShowTheirStateToPeopleAndPrograms) {
  given("everseen create f --capacity 1000 --error-rate 1% && seq 500 | everseen add f -q");
  EXPECT_THAT(sh("everseen info f"),
              Prints(AllOf(HasSubstr("capacity      1,000"), HasSubstr("0.01 promised"))));
  const auto info = json("everseen info f --json");
  EXPECT_NEAR(info["keys"].get<double>(), 500, 5);
  EXPECT_NEAR(info["fill"].get<double>(), 0.5, 0.01);
  EXPECT_LT(info["error_rate_now"].get<double>(), 0.005);
  EXPECT_EQ(info["layers"], 1);
}

TEST_F(Filters, NeverShowTheirSeed) {
  given("everseen create f");
  EXPECT_THAT(sh("everseen info f --json").out, Not(HasSubstr("seed")));
  EXPECT_THAT(sh("everseen info f").out, HasSubstr("with a secret seed"));
}

TEST_F(Filters, WithAWindowShowTheirSlices) {
  given(
      "everseen create f --window 10m && everseen add f -q --time 2025-01-01T00:00:30Z a && "
      "everseen add f -q --time 2025-01-01T00:02:00Z b");
  EXPECT_THAT(sh("everseen info f"),
              Prints(AllOf(HasSubstr("2025-01-01T00:00:00.000Z"), HasSubstr("2025-01-01T00:02:00.000Z"))));
  const auto slices = json("everseen info f --json")["slices"];
  ASSERT_EQ(slices.size(), 2);
  EXPECT_EQ(slices[1]["begins"], "2025-01-01T00:02:00.000Z");
  EXPECT_EQ(slices[1]["keys"], 1);
}

// Promise: info names slices of the future, which make the keys of today late (dedup, Times in the future).
TEST_F(Filters, WithASliceInTheFutureSayWhatToDo) {
  given(
      "printf '2050-01-01T00:00:00Z,a\\n' | everseen dedup --filter f --window 10m --key 2 --time 1 "
      "--delimiter , "
      "--max-ahead 36500d > out && everseen add f b");
  const auto shown = sh("everseen info f");
  EXPECT_THAT(shown.out, HasSubstr("2050-01-01T00:00:00.000Z"));
  EXPECT_THAT(shown.out, HasSubstr("in the future"));
  EXPECT_THAT(shown.err, HasSubstr("keys are late until 2049-12-31T23:50:00.000Z"));
  EXPECT_THAT(shown.err, HasSubstr("everseen reset f"));
  EXPECT_THAT(json("everseen info f --json")["warnings"][0].get<std::string>(),
              HasSubstr("everseen reset f"));
  EXPECT_THAT(sh("everseen add f b"),
              AllOf(test::Output("0 fresh, 0 seen, 1 late\n"), test::Notes("keys are late until")));
  EXPECT_THAT(sh("everseen reset f -y > out && everseen add f b && everseen info f").err, IsEmpty());
}

TEST_F(Filters, AreListed) {
  given("everseen create b && everseen create a --capacity 10k && everseen add a -q x y");
  EXPECT_THAT(sh("everseen list --names"), Prints("a\nb\n"));
  EXPECT_THAT(sh("everseen list"), Prints(AllOf(HasSubstr("\na "), HasSubstr("\nb "), HasSubstr("10,000"))));
  const auto list = json("everseen list --json");
  EXPECT_EQ(list[0]["name"], "a");
  EXPECT_EQ(list[0]["keys"], 2);
}

TEST_F(Filters, OfAMissingDirectoryAreNotListed) {
  for (const char* option : {"", "--names", "--json"})
    EXPECT_THAT(sh(std::string("everseen list --store file:nonexist ") + option),
                Complains(3, "nonexist", "No such file or directory", "everseen create"))
        << option;
  EXPECT_THAT(sh("everseen list"), Complains(3, "store", "No such file or directory"));
  EXPECT_THAT(sh("everseen info f --store file:nonexist"), Complains(2, "no filter named 'f'"));
  EXPECT_THAT(sh("ls"), Prints(IsEmpty()));
}

TEST_F(Filters, OfAnEmptyDirectoryAreNone) {
  EXPECT_THAT(sh("mkdir there && everseen list --store file:there"), Prints(IsEmpty()));
  EXPECT_THAT(sh("unset EVERSEEN_STORE; everseen list"), Prints(IsEmpty())) << "nothing was created yet";
}

TEST_F(Filters, AreDropped) {
  given("everseen create f && everseen create g && everseen drop f && everseen drop g --yes");
  EXPECT_THAT(sh("everseen list --names"), Prints(IsEmpty()));
}

TEST_F(Filters, AreDroppedAtATerminalOnlyAfterConfirmation) {
  given("everseen create f");
  EXPECT_EQ(sh("echo n | script -qec 'everseen drop f' /dev/null").exit_code, 1);
  EXPECT_THAT(sh("everseen list --names"), Prints("f\n"));
  EXPECT_EQ(sh("echo y | script -qec 'everseen drop f' /dev/null").exit_code, 0);
  EXPECT_THAT(sh("everseen list --names"), Prints(IsEmpty()));
}

TEST_F(Filters, AreShownWithTheirStore) {
  given("everseen create f -q");
  const std::string store = "file:" + (directory() / "store").string();
  EXPECT_THAT(sh("everseen info f").out, HasSubstr("\nstore         " + store + "\n"));
  EXPECT_THAT(sh("everseen list").out, StartsWith("filters in " + store + ":\n"));
  EXPECT_EQ(json("everseen info f --json")["store"], store);
  EXPECT_EQ(json("everseen list --json")[0]["store"], store);
  EXPECT_THAT(sh("script -qec 'everseen list --store file:.' /dev/null").out,
              HasSubstr("there are no filters in file:."));
}

TEST_F(Filters, ThatAreFullOrHaveGrownAreListedAsSuch) {
  given(
      "for g in grow refuse overfill; do everseen create -q $g --capacity 1000 --growth $g; "
      "everseen create -q half-$g --capacity 10k --growth $g; seq 5000 | everseen add -q half-$g; done; "
      "seq 5000 | everseen add -q grow; seq 1000 | everseen add -q refuse; seq 5000 | everseen add -q "
      "overfill");
  const std::string list = sh("everseen list").out;
  EXPECT_THAT(list, ContainsRegex("\ngrow  .*  grown, 3 layers\n"));
  EXPECT_THAT(list, ContainsRegex("\nrefuse  .*  full, refuses keys\n"));
  EXPECT_THAT(list, ContainsRegex("\noverfill  .*  overfull, error rate 0.[0-9]+ now\n"));
  for (const char* name : {"half-grow", "half-refuse", "half-overfill"})
    EXPECT_THAT(list, ContainsRegex("\n"s + name + "  .* KiB\n")) << name;
}

TEST_F(Filters, ExplainAVerdictBitByBit) {
  given("everseen create f && everseen add f -q alice");
  const auto seen = json("everseen explain f alice --json");
  EXPECT_EQ(seen["verdict"], "seen");
  EXPECT_EQ(seen["digest"].get<std::string>().size(), 32);
  ASSERT_EQ(seen["segments"].size(), 1);
  for (const auto& bit : seen["segments"][0]["key_bits"]) EXPECT_TRUE(bit["set"]);
  const auto fresh = json("everseen explain f bob --json");
  EXPECT_EQ(fresh["verdict"], "fresh");
  EXPECT_FALSE(fresh["segments"][0]["holds_key"]);
  EXPECT_THAT(sh("everseen explain f alice"),
              Prints(AllOf(StartsWith("seen: all 16 bits are set in layer 0"), HasSubstr("\n  line "))));
  EXPECT_THAT(sh("everseen explain f bob"), Prints(StartsWith("fresh: ")));
}

TEST_F(Filters, ExplainWithTheVerdictOfCheck) {
  given("everseen create f --capacity 100 --error-rate 20% --partitions 4 && seq 1000 | everseen add f -q");
  for (int key = 990; key < 1010; ++key) {
    const std::string verdict = json("everseen explain f --json " + std::to_string(key))["verdict"];
    EXPECT_EQ(sh("everseen check f " + std::to_string(key)).out, verdict + "\t" + std::to_string(key) + "\n");
  }
}

TEST_F(Filters, ExplainWhyAKeyIsLate) {
  given("everseen create f --window 10m && everseen add f -q --time 2025-01-01T00:00:00Z a");
  EXPECT_THAT(sh("everseen explain f a --time 2024-01-01T00:00:00Z"),
              Prints(HasSubstr("late: its time is older")));
  EXPECT_THAT(sh("everseen explain f a --time 2025-01-01T00:05:00Z"), Prints(HasSubstr("seen: ")));
  EXPECT_THAT(sh("everseen explain f a --time 2025-01-01T01:00:00Z"),
              Prints(HasSubstr("fresh: nothing that is still remembered")));
}

TEST_F(Filters, OfAMistypedNameAreSuggested) {
  given("everseen create clicks -q");
  for (const char* verb : {"drop clcks", "reset clcks", "info clcks", "check clcks a", "export clcks -o x"})
    EXPECT_THAT(sh(std::string("everseen ") + verb),
                Complains(2, "no filter named 'clcks'", "did you mean 'clicks'?"))
        << verb;
  EXPECT_THAT(sh("everseen drop other"), Complains(2, "everseen list shows those that there are"));
}

TEST_F(Filters, MayAskAnOlderFilterFirst) {
  given("everseen create old && everseen add old alice && everseen create new");
  EXPECT_THAT(sh("everseen link old new --for 30d"), Prints("new asks old first, for 30d\n"));
  EXPECT_THAT(sh("everseen add new alice bob"), Prints("1 fresh, 1 seen\n"));
  given("everseen add old carol");
  EXPECT_THAT(sh("printf 'alice\\ncarol\\ndora\\n' | everseen dedup --filter new"), Prints("dora\n"));
  EXPECT_THAT(sh("everseen info new"), Prints(HasSubstr("asks old first, until 20")));
  EXPECT_EQ(json("everseen info new --json")["linked"]["older"], "old");
  EXPECT_THAT(sh("everseen drop old --yes"), Complains(2, "link --off new"));
  EXPECT_THAT(sh("everseen link --off new"), Prints("new no longer asks another filter\n"));
  EXPECT_THAT(sh("everseen check new bob"), Prints("seen\tbob\n"));
  EXPECT_EQ(sh("everseen drop old --yes").exit_code, 0);
}

}  // namespace
}  // namespace everseen::test
