#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "test/support/places.hpp"
#include "test/support/program.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::test {

/// An empty directory, a private store, and `everseen` in PATH: the environment of a new user.
class Shell : public testing::Test {
 protected:
  [[nodiscard]] program_setup setup(std::string input = {}) const {
    const std::string programs = std::filesystem::path(test::everseen_program()).parent_path();
    return {{{"EVERSEEN_STORE", "file:" + (directory() / "store").string()},
             {"HOME", directory()},
             {"XDG_DATA_HOME", ""},
             {"PATH", programs + ":" + std::getenv("PATH")}},
            directory(),
            std::move(input),
            false};
  }

  /// Runs a command line of a shell with pipefail. Leaves out what the program says when a server takes over
  /// a second to answer, as any may on a busy machine.
  program_result sh(const std::string& line, std::string input = {}) const {
    program_result result = run_program({"bash", "-o", "pipefail", "-c", line}, setup(std::move(input)));
    for (std::size_t begin = 0; begin < result.err.size();) {
      const std::size_t end = std::min(result.err.find('\n', begin), result.err.size() - 1) + 1;
      const std::string_view message = std::string_view(result.err).substr(begin, end - begin);
      if (message.starts_with("everseen: waiting: ") && message.ends_with(": no answer yet\n"))
        result.err.erase(begin, end - begin);
      else
        begin = end;
    }
    return result;
  }

  /// Runs the setup of a test.
  void given(const std::string& line) const {
    const program_result result = sh(line);
    ASSERT_EQ(result.exit_code, 0) << line << '\n' << result.err;
  }

  [[nodiscard]] const std::filesystem::path& directory() const { return scratch_.path(); }

 private:
  scratch_directory scratch_;
};

/// The beginning of a command line that is subject to file permissions, even if the tests run as root.
inline std::string without_root() {
  return ::geteuid() == 0 ? "setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-all " : "";
}

/// The beginning of a command line whose everseen crashes when it reaches a step for the n-th time.
inline std::string dying_at(const std::string& step, int n = 1) {
  const std::string programs = std::filesystem::path(test::dying_program()).parent_path();
  return "export EVERSEEN_DIE_AT=" + step + ":" + std::to_string(n) + " PATH='" + programs + "':\"$PATH\"; ";
}

/// The beginning of a command line whose everseen cannot sync the bits of a filter in files.
inline std::string without_sync() {
  const std::string programs = std::filesystem::path(test::dying_program()).parent_path();
  return "export EVERSEEN_FAIL_SYNC=1 PATH='" + programs + "':\"$PATH\"; ";
}

/// The program exited with this code, and its message is one line that contains all the words.
template <typename... Words>
auto Complains(int exit_code, Words... words) {
  using namespace testing;
  return AllOf(Field("exit_code", &program_result::exit_code, exit_code),
               Field("err", &program_result::err,
                     AllOf(StartsWith("everseen: "), MatchesRegex("[^\n]*\n"), HasSubstr(words)...)));
}

/// The program succeeded without a message, and printed this.
template <typename Matcher>
auto Prints(Matcher text, int exit_code = 0) {
  using namespace testing;
  return AllOf(Field("exit_code", &program_result::exit_code, exit_code),
               Field("err", &program_result::err, ""), Field("out", &program_result::out, text));
}

/// The program succeeded and printed this, whatever it noted.
template <typename Matcher>
auto Output(Matcher text) {
  using namespace testing;
  return AllOf(Field("exit_code", &program_result::exit_code, 0), Field("out", &program_result::out, text));
}

/// Standard error is one line that contains all the words.
template <typename... Words>
auto Notes(Words... words) {
  using namespace testing;
  return Field("err", &program_result::err,
               AllOf(StartsWith("everseen: "), MatchesRegex("[^\n]*\n"), HasSubstr(words)...));
}

inline void PrintTo(const program_result& r, std::ostream* out) {
  *out << "exit code " << r.exit_code << "\n-- out:\n" << r.out << "-- err:\n" << r.err;
}

}  // namespace everseen::test
