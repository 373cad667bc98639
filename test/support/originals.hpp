#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/base64.hpp"
#include "test/support/places.hpp"
#include "test/support/program.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/text_files.hpp"

/// The programs whose filters everseen uses, themselves, as ./dev peers brought them: `originals` (jars of
/// Guava and Redisson) and `gozero`.
namespace everseen::test {

inline std::filesystem::path peer(const std::string& name) {
  return source_directory() + "/build/peers/" + name;
}

/// In SetUp() of a suite that needs it: skips its tests without it, or fails if EVERSEEN_PEERS_REQUIRED is
/// set.
inline void skip_test_without_peer(const std::string& name) {
  if (std::filesystem::exists(peer(name))) return;
  const std::string missing = "there is no build/peers/" + name + "; ./dev peers brings it";
  if (std::getenv("EVERSEEN_PEERS_REQUIRED") != nullptr) FAIL() << missing;
  GTEST_SKIP() << missing;
}

/// The words that run a program in Java beside the tests, whose source is in test/foreign/peers.
/// @param jars  a class path
inline std::vector<std::string> java_command(const std::string& jars, const std::string& program) {
  return {"java",         "-XX:TieredStopAtLevel=1",
          "-Xshare:auto", "-cp",
          jars,           source_directory() + "/test/foreign/peers/" + program + ".java"};
}

/// A program with an original in it. It says `ready`, and then answers each line of its input with a line.
class original {
 public:
  explicit original(const std::vector<std::string>& command) : program_(command, {.piped_input = true}) {
    if (!program_.waits_to_say("ready\n", std::chrono::seconds(60)))
      throw std::runtime_error("does not start: " + command.front() + ": " + program_.err());
  }

  std::string ask(const std::string& line) {
    const std::size_t from = program_.out().size();
    program_.write(line + "\n");
    wait_until([&] { return program_.has_ended() || program_.out().find('\n', from) != std::string::npos; },
               "an answer to " + line);
    const std::string out = program_.out();
    if (out.size() == from) throw std::runtime_error("ended: " + program_.err());
    return out.substr(from, out.size() - from - 1);
  }

  /// The line ends with a file of keys, in base64.
  std::string ask(const std::string& line, const std::vector<std::string>& keys) {
    std::string lines;
    for (const std::string& key : keys) lines += base64(key) + "\n";
    return ask(line + " " + files_.make(lines));
  }

 private:
  text_files files_;
  running_program program_;
};

}  // namespace everseen::test
