#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/service/request_sessions.hpp"

namespace everseen::serve {

/// The arguments of EVERSEEN.ADD and EVERSEEN.CHECK.
struct asked_keys {
  std::vector<event_time> times{};  ///< none, one for all keys, or one a key
  std::string_view fingerprint{};   ///< that the filter must have; empty: any
  std::string_view session{};       ///< of batches; empty: none
  std::uint64_t number = 0;         ///< of the batch in its session
  bool in_digits = false;           ///< the reply is a string with a digit for each key; so in a session
  word_list keys{};
};

/// @throws refusal  the arguments are not as the commands are described
[[nodiscard]] asked_keys parse_asked_keys(word_list words);

/// The refusal of a request of which nothing was run, as the store is unavailable. A client of everseen sends
/// the request again, for as long as it waits through outages.
[[nodiscard]] inline request_sessions::not_begun not_begun_as(std::string_view why) {
  return {{"BUSY nothing was run, as the store is unavailable: " + std::string(why)}};
}

/// Runs what changes nothing.    @throws request_sessions::not_begun  the store is unavailable
template <typename Work>
auto run_reading(Work work) {
  try {
    return work();
  } catch (const backend_error& why) {
    throw not_begun_as(why.what());
  }
}

}  // namespace everseen::serve
