#pragma once

#include <string>

/// Paths of this checkout and its build, for tests. One generated source holds them, so that all other
/// objects are the same in every checkout and come from one compiler cache.
namespace everseen::test {

[[nodiscard]] std::string source_directory();

/// What the build has made; empty if it makes none.
[[nodiscard]] std::string everseen_program();
[[nodiscard]] std::string dying_program();   ///< the program for tests that kill it in the middle of a step
[[nodiscard]] std::string history_client();  ///< support/history/client/main.cpp
[[nodiscard]] std::string redis_module();
[[nodiscard]] std::string calling_module();  ///< a module that calls the commands of other modules
[[nodiscard]] std::string owning_module();   ///< a module that has BF.ADD

}  // namespace everseen::test
