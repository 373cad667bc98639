// `everseen dedup --filter` with a filter in files, killed at each step of a block, and run again.

#include <cstddef>
#include <filesystem>
#include <string>
#include <tuple>

#include "test/cli/shell.hpp"

namespace everseen {
namespace {

using test::Prints;

constexpr std::size_t block_through_a_pipe = 128 << 10;
constexpr std::size_t block_to_a_file = 1 << 20;

struct kill_of {
  int block;
  std::string options;
};

class DedupCrash : public test::Shell, public testing::WithParamInterface<std::tuple<std::string, kill_of>> {
 protected:
  void SetUp() override {
    given(
        "everseen gen ids --count 200k --range 1..100k | awk '{print $0 \"\\t\" 1700000000 + int(NR / 100)}' "
        "> ids");
  }
  /// A command line whose everseen is killed at the step.
  [[nodiscard]] static std::string killed() {
    const auto& [step, kill] = GetParam();
    const std::string programs = std::filesystem::path(test::dying_program()).parent_path();
    return "export EVERSEEN_DIE_AT=" + step + ":" + std::to_string(kill.block) + " PATH='" + programs +
           "':\"$PATH\"; ";
  }
  [[nodiscard]] static std::string dedup() {
    return "everseen dedup --error-rate 1e-12 --key 1 --filter f " + std::get<1>(GetParam()).options + " ids";
  }
  [[nodiscard]] std::size_t bytes_of(const std::string& name) const {
    return std::filesystem::file_size(directory() / name);
  }
  /// @pre the outputs are in `first` and `second`
  void expect_nothing_lost_and_repeats_up_to(std::size_t bytes) const {
    // The write that was interrupted may have left a part of a line.
    given("awk -F '\\t' '!s[$1]++' ids > once; grep -aFxf once first > whole || true");
    EXPECT_THAT(sh("cat whole second | awk -F '\\t' '!s[$1]++' | cmp - once"), Prints(""));
    EXPECT_LE(bytes_of("whole") + bytes_of("second"), bytes_of("once") + bytes);
  }
};

// Promise: after kill -9, a second run over a filter in files repeats at most a block, and loses no line
// (dedup, Runs that end early).
TEST_P(DedupCrash, IntoAFileLosesNoLineAndRepeatsAtMostABlock) {
  EXPECT_EQ(sh(killed() + dedup() + " > first").exit_code, 128 + SIGKILL);
  given(dedup() + " > second");
  expect_nothing_lost_and_repeats_up_to(block_to_a_file);
}

// Promise: after kill -9, a second run over a filter in files repeats at most a block, and loses no line
// (dedup, Runs that end early).
TEST_P(DedupCrash, IntoAPipeLosesNoLineAndRepeatsAtMostABlock) {
  EXPECT_EQ(sh(killed() + dedup() + " | cat > first").exit_code, 128 + SIGKILL);
  given(dedup() + " > second");
  expect_nothing_lost_and_repeats_up_to(block_through_a_pipe);
}

std::string name_of_kill(const testing::TestParamInfo<DedupCrash::ParamType>& of) {
  const auto& [step, kill] = of.param;
  return step + "_of_block_" + std::to_string(kill.block) + (kill.options.empty() ? "" : "_in_a_window");
}

INSTANTIATE_TEST_SUITE_P(At, DedupCrash,
                         testing::Combine(testing::Values("half_put", "put", "settled"),
                                          testing::Values(kill_of{1, ""},
                                                          kill_of{3, "--window 1d --time 2"})),
                         name_of_kill);

}  // namespace
}  // namespace everseen
