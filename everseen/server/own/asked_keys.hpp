#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "everseen/core/spec/spec.hpp"
#include "everseen/server/base/command.hpp"

namespace everseen::server {

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

}  // namespace everseen::server
