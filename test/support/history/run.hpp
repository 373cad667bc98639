// Histories of a store with faults: clients are killed, stopped and started again, and so is what they need.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "everseen/store/port/store.hpp"

#include "test/support/history/checker.hpp"
#include "test/support/history/client.hpp"

namespace everseen::test::history {

using dice = std::mt19937_64;

/// Something that happens to a store while clients use it. Afterwards it runs as before.
struct disaster {
  std::string name;
  std::function<void(dice&)> strike;
};

/// A store in use.
struct stage {
  std::function<std::string(dice&)> url;  ///< for one client
  client_setup clients{};                 ///< what is the same for all
  exceptions allowed{};
  bool has_jobs = true;
  bool has_whole = true;  ///< clients also do operations on whole filters
  std::vector<disaster> disasters{};
  /// If set, the filters are created before clients use them and disasters happen, and then this is called.
  std::function<void()> begin{};
  store* memory = nullptr;  ///< its clients are threads of this process, and nothing happens to them
};

/// What the histories of a stage were.
struct figures {
  std::size_t histories = 0;
  std::size_t operations = 0;
  std::size_t lost = 0;  ///< operations without an answer
  std::size_t refused = 0;
  std::size_t undecided = 0;  ///< histories that the checker gave up
  std::size_t visited = 0;    ///< configurations
  std::map<std::string, std::size_t> faults{};
};
std::ostream& operator<<(std::ostream& out, const figures& f);

/// Runs a history that follows from its seed, except for times, and checks it.
/// @return what is wrong: a contradiction, or a client that failed
[[nodiscard]] std::optional<std::string> run_history(const stage& on, std::uint64_t seed, figures& sum);

}  // namespace everseen::test::history
