#include "test/cli/shell.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Manual : public Shell {};

TEST_F(Manual, RendersWithoutWarnings) {
  given("everseen man --all pages");
  EXPECT_THAT(sh("cat pages/everseen.1"), Prints(HasSubstr(".SH VERBS\n")));
  EXPECT_THAT(sh("for page in pages/*; do MANROFFSEQ= MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l $page "
                 "2>&1 >/dev/null; done"),
              Prints(IsEmpty()));
}

TEST_F(Manual, OfAnUnknownVerbSuggestsOne) {
  EXPECT_THAT(sh("everseen man creat"), Complains(2, "did you mean 'create'?"));
  EXPECT_THAT(sh("everseen man create --all pages"), Complains(2, "only one"));
}

class Completion : public Shell {};

TEST_F(Completion, ScriptsParse) {
  for (const std::string shell : {"bash", "zsh", "fish"})
    EXPECT_THAT(sh("everseen completion " + shell + " > script && " + shell + " -n script"),
                Prints(IsEmpty()))
        << shell;
}

TEST_F(Completion, OfBashCompletesVerbsOptionsValuesAndFilters) {
  given("everseen create clicks && everseen completion bash > script");
  const auto candidates = [&](const std::string& words, const std::string& line = {}) {
    return sh("source ./script; COMP_LINE='everseen " + (line.empty() ? words : line) +
              "'; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(everseen " + words +
              "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _everseen; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"");
  };
  EXPECT_THAT(candidates("cre"), Prints("create\n"));
  EXPECT_THAT(candidates("create x --cap"), Prints("--capacity\n"));
  EXPECT_THAT(candidates("create x --growth re"), Prints("refuse\n"));
  EXPECT_THAT(candidates("create x --growth = re"), Prints("refuse\n")) << "bash treats = as a word";
  EXPECT_THAT(candidates("info cl"), Prints("clicks\n"));
  EXPECT_THAT(candidates("man expl"), Prints("explain\n"));
  given("everseen create other --store file:elsewhere");
  given("everseen create user:42; everseen create 'a $(touch ran)'");
  EXPECT_THAT(candidates("info user : 4", "info user:4"), Prints("42\n")) << "bash treats : as a word";
  EXPECT_THAT(candidates("info a"), Prints("a $(touch ran)\n"));
  EXPECT_NE(sh("ls ran").exit_code, 0) << "the name of a filter was run";
  EXPECT_THAT(candidates("info --store file:elsewhere o"), Prints("other\n"));
  EXPECT_THAT(candidates("dedup --store=file:elsewhere --filter o"), Prints("other\n"));
}

TEST_F(Completion, OfFishCompletesVerbsOptionsValuesAndFilters) {
  given(
      "everseen create clicks && everseen create other --store file:elsewhere && everseen completion fish > "
      "script");
  const auto candidates = [&](const std::string& line) {
    return sh("fish -c 'source script; complete -C \"everseen " + line + "\"' | cut -f 1");
  };
  EXPECT_THAT(candidates("cre"), Prints("create\n"));
  EXPECT_THAT(candidates("create x --cap"), Prints(HasSubstr("--capacity")));
  EXPECT_THAT(candidates("create x --growth=re"), Prints("--growth=refuse\n"));
  EXPECT_THAT(candidates("man expl"), Prints("explain\n"));
  EXPECT_THAT(candidates("info cl"), Prints("clicks\n"));
  EXPECT_THAT(candidates("info --store file:elsewhere o"), Prints("other\n"));
  EXPECT_THAT(candidates("info --store=file:elsewhere o"), Prints("other\n"));
}

TEST_F(Completion, OfAnotherShellIsRefused) {
  EXPECT_THAT(sh("everseen completion tcsh"), Complains(2, "tcsh", "bash, zsh, fish"));
}

}  // namespace
}  // namespace everseen::test
