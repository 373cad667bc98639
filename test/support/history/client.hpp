// A client of a store that does random operations on few keys and few names, and records them.

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/spec/spec.hpp"
#include "everseen/store/port/store.hpp"

#include "test/support/history/history.hpp"

namespace everseen::test::history {

/// What clients of a history do.
enum class work : std::uint8_t {
  keys,   ///< add and look up, of filters that stay
  whole,  ///< also reset, drop, create, rename, rebuild and let filters end
  jobs,   ///< add and look up, and claim events of two lanes, in one filter that stays
};

/// All that a client needs to know; of clients of one history it differs in url, number and operations.
struct client_setup {
  std::string url{};
  std::filesystem::path log{};
  std::string prefix{};    ///< of all names of this history
  std::uint64_t seed = 0;  ///< of the history
  int number = 1;          ///< of the first thread: the others have the next ones
  int threads = 1;
  int operations = 50;  ///< of each thread
  work does = work::whole;
  judge_kind judge = judge_kind::server;
  bool one_writer = false;  ///< a filter has one writer at a time, and a rebuild is one step
  bool rebuilds = false;    ///< the store has rebuilds

  [[nodiscard]] std::vector<std::string> to_words() const;
  static client_setup from_words(std::span<char* const> words);
};

/// Creates all filters of a history, as a client.
void create_filters(store& in, const client_setup& setup);

/// Runs the threads of a client, which share the handles of one store, to their end.
/// @throws  what no store may throw
void run_client(store& in, const client_setup& setup);

}  // namespace everseen::test::history
