// Words that users know from other programs: each answer says what is here instead, and is true.

#include <regex>
#include <set>
#include <string>
#include <utility>

#include "test/cli/shell.hpp"

namespace everseen::test {
namespace {

using namespace std::string_literals;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class ForeignWords : public Shell {
 protected:
  void SetUp() override { given("printf 'a\\nb\\na\\n' > f; everseen create clicks -q"); }
};

// The tables of words and sentences: test/cli/verb/foreign_words_test.cpp.
TEST_F(ForeignWords, InPlaceOfAVerbAreExplained) {
  const std::pair<const char*, const char*> words[] = {
      {"delete clicks a", "no key can be deleted from a Bloom filter"},
      {"sort -u f", "'everseen dedup'"},
      {"BF.ADD clicks a", "did you mean 'add'?"},
      {"bf.exists clicks a", "'everseen check'"},
      {"DEDUP f", "did you mean 'dedup'?"},
  };
  for (const auto& [typed, sentence] : words)
    EXPECT_THAT(sh("everseen "s + typed), Complains(2, "there is no verb", sentence)) << typed;
  EXPECT_THAT(sh("everseen check clicks a"), Prints("fresh\ta\n", 1));  // nothing has happened to it
}

// Every word that Redis and RedisBloom take in place of everseen's verbs.
TEST_F(ForeignWords, OfRedisBloomAreAllExplained) {
  for (const char* word : {"ADD", "CARD", "EXISTS", "INFO", "INSERT", "LOADCHUNK", "MADD", "MEXISTS",
                           "RESERVE", "SCANDUMP", "DEBUG"})
    EXPECT_THAT(sh("everseen BF."s + word).err, AnyOf(HasSubstr("'everseen "), HasSubstr("did you mean")))
        << word;
}

TEST_F(ForeignWords, AreNotGuessedFromAfar) {
  for (const char* typed : {"merge", "get clicks", "save", "see", "debug", "expire", "set"})
    EXPECT_THAT(sh("everseen "s + typed).err, Not(HasSubstr("did you mean"))) << typed;
  for (const char* typed : {"--last", "--by 1", "--url x", "--host x", "--sort", "--trim", "--size 5",
                            "--name f", "--rate 1", "--frob"})
    EXPECT_THAT(sh("everseen dedup "s + typed).err, Not(HasSubstr("did you mean"))) << typed;
}

TEST_F(ForeignWords, AfterAVerbAreExplained) {
  const std::pair<const char*, const char*> options[] = {
      {"dedup -D f", "--repeated"},           {"dedup -b f", "--trim"},
      {"dedup --keep-last f", "--keep last"}, {"dedup -nr f", "does not sort"},
      {"create g --fpp 0.1", "--error-rate"}, {"list -p 6379", "--store URL"},
      {"drop clicks --force", "--yes"},       {"dedup -late drop f", "did you mean --late?"},
  };
  for (const auto& [typed, sentence] : options)
    EXPECT_THAT(sh("everseen "s + typed), Complains(2, "has no option", sentence)) << typed;
}

TEST_F(ForeignWords, InAFileOfOptionsAreExplained) {
  given("printf '[serve]\\nrequirepass = \"x\"\\n' > c.toml; printf '[stream]\\ntopic = \"t\"\\n' > s.toml");
  EXPECT_THAT(sh("everseen serve --config c.toml"),
              Complains(2, "c.toml:2", "no option 'requirepass'", "--password"));
  EXPECT_THAT(sh("everseen stream --config s.toml"), Complains(2, "s.toml:2", "no option 'topic'", "--from"));
}

/// The options in the help of a program.
std::set<std::string> options_in(const std::string& help) {
  const std::regex option("(?:^|[ ,])(--?[A-Za-z0-9][-a-z0-9]*)");
  std::set<std::string> all;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  -") && !line.starts_with("      --")) continue;
    const std::string names = line.substr(0, line.find("  ", line.find('-')));
    for (std::sregex_iterator found(names.begin(), names.end(), option), end; found != end; ++found)
      all.insert((*found)[1]);
  }
  return all;
}

// Asks uniq and sort themselves which options they have.
TEST_F(ForeignWords, OfUniqAndSortAreAllKnownToDedup) {
  const std::string own = sh("everseen dedup --help").out;
  for (const char* program : {"uniq", "sort"}) {
    const std::set<std::string> options = options_in(sh(program + " --help"s).out);
    EXPECT_GT(options.size(), 15U);
    for (const std::string& option : options) {
      if (own.find(' ' + option + ' ') != std::string::npos ||
          own.find(' ' + option + ',') != std::string::npos)
        continue;
      const program_result done = sh("everseen dedup " + option + " f");
      EXPECT_THAT(done, Complains(2, "has no option " + option + ";")) << option;
      EXPECT_THAT(done.err, Not(HasSubstr("; see everseen dedup --help"))) << program << ' ' << option;
    }
  }
}

TEST_F(ForeignWords, InPlaceOfAFieldAreTranslated) {
  const std::pair<const char*, const char*> fields[] = {
      {"dedup -k 1,2 f", "repeat the option: --key 1 --key 2"},
      {"dedup -k1,1 f", "write 1"},
      {"dedup -k 2n f", "write 2"},
      {"dedup --key '$2' f", "write 2"},
      {"dedup --key .user.id f", "write /user/id"},
      {"dedup --key-json .user.id f", "write /user/id"},
      {"dedup --key-json user.id f", "write /user/id"},
      {"dedup --key-json id f", "write /id"},
      {"dedup --key-json '$.items[0]' f", "write /items/0"},
      {"dedup --key-json '.items[]' f", "write one, as in /user/id"},
      {"dedup --window 1m --time-json .time f", "write /time"},
      {"add clicks --key-json .user.id", "write /user/id"},
      {"stream --from f --filter clicks --key .id --to -", "write /id"},
      {"stream --from f --filter clicks --to - --count 10m:.time", "write /time"},
      {"migrate clicks g --keys f --key 1,2", "repeat the option: --key 1 --key 2"},
  };
  for (const auto& [typed, sentence] : fields)
    EXPECT_THAT(sh("everseen "s + typed), Complains(2, sentence)) << typed;
}

TEST_F(ForeignWords, AreAnsweredWithWhatWorks) {
  EXPECT_THAT(sh("everseen dedup --repeated", "a\nb\na\na\n"), Prints("a\na\n"));
  EXPECT_THAT(sh("everseen dedup --count --repeated", "a\nb\na\na\n"), Prints("      3 a\n"));
  EXPECT_THAT(sh("tac | everseen dedup --key 1 | tac", "a\t1\nb\t2\na\t3\n"), Prints("b\t2\na\t3\n"));
  EXPECT_THAT(sh("tr A-Z a-z | everseen dedup", "A\na\n"), Prints("a\n"));
  EXPECT_THAT(sh("everseen dedup --key 2 --key 3", "1\ta\tb\n2\ta\tb\n3\ta\tc\n"),
              Prints("1\ta\tb\n3\ta\tc\n"));
  EXPECT_THAT(sh("printf 'f\\0f\\0' | xargs -0 everseen dedup"), Prints("a\nb\n"));
  EXPECT_THAT(sh("everseen dedup --output f f && cat f"), Prints("a\nb\n"));
}

TEST_F(ForeignWords, HelpAfterAVerbIsNeitherAFileNorAFilter) {
  for (const char* name : {"dedup", "create", "add", "drop", "info", "list", "serve"})
    EXPECT_THAT(sh("everseen "s + name + " help < /dev/null"),
                Complains(2, "for help, write everseen "s + name + " --help"))
        << name;
  EXPECT_THAT(sh("everseen list --names"), Prints("clicks\n"));
  given("cp f help; everseen create -q -- help");
  EXPECT_THAT(sh("everseen dedup -- help"), Prints("a\nb\n"));
  EXPECT_THAT(sh("everseen check -- help a"), Prints("fresh\ta\n", 1));
  EXPECT_THAT(sh("everseen add help a"), Prints("1 fresh, 0 seen\n"));
  EXPECT_EQ(sh("everseen help --help").out, sh("everseen --help").out);
}

}  // namespace
}  // namespace everseen::test
