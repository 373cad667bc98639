#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/places.hpp"

/// Guava and Redisson themselves, as ./dev peers brought them.
namespace everseen::test {

inline std::filesystem::path jars_of_originals() {
  return source_directory() + "/build/peers/originals";
}

/// In SetUp() of a suite that needs them: skips its tests without them, or fails if EVERSEEN_PEERS_REQUIRED
/// is set.
inline void skip_test_without_originals() {
  if (std::filesystem::exists(jars_of_originals())) return;
  const char* missing = "there is no Guava and no Redisson; ./dev peers brings them";
  if (std::getenv("EVERSEEN_PEERS_REQUIRED") != nullptr) FAIL() << missing;
  GTEST_SKIP() << missing;
}

/// The words that run a program in Java beside the tests, whose source is in test/compat/peers.
/// @param jars  a class path
inline std::vector<std::string> java_command(const std::string& jars, const std::string& peer) {
  return {"java",         "-XX:TieredStopAtLevel=1",
          "-Xshare:auto", "-cp",
          jars,           source_directory() + "/test/compat/peers/" + peer + ".java"};
}

}  // namespace everseen::test
