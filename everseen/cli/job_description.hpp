#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/stream/event_rule.hpp"

/// What a job's ledger keeps of what the job is.
namespace everseen::cli {

/// With a random word in it, by which a job is told from others that had its name before.
[[nodiscard]] std::string describe_job(const event_shape& shape);
/// The word; empty where there is none.
[[nodiscard]] std::string word_in(const std::string& description);

/// Whether two take the same events for the same, and count alike.
[[nodiscard]] bool are_alike(const std::string& one, const std::string& other);

/// The names of the dimensions of each set.    @throws format_error  describe_job() wrote no such text
[[nodiscard]] std::vector<std::vector<std::string>> described_sets(std::string_view description);

/// As options, as in "--key-json /id --count 10m:/time,/site"; a text of another program as it is.
[[nodiscard]] std::string shown_job(const std::string& description);

/// What one was begun with and the other says otherwise, as in "--count /site (now: --count /sites)".
[[nodiscard]] std::string differences(const std::string& before, const std::string& now);

}  // namespace everseen::cli
