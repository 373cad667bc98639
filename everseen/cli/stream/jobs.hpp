#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/dedup/record/event_rule.hpp"

/// The description of a job that its ledger keeps.
namespace everseen::cli {

/// Includes a random word that distinguishes the job from earlier ones of the same name.
[[nodiscard]] std::string describe_job(const event_shape& shape);
/// The word; empty if there is none.
[[nodiscard]] std::string word_in(const std::string& description);

/// Whether two descriptions define the same events and the same counts.
[[nodiscard]] bool are_alike(const std::string& one, const std::string& other);

/// The names of the dimensions of each set.    @throws format_error  not a text of describe_job()
[[nodiscard]] std::vector<std::vector<std::string>> described_sets(std::string_view description);

/// As options, as in "--key-json /id --count 10m:/time,/site"; another program's text unchanged.
[[nodiscard]] std::string shown_job(const std::string& description);

/// The options that differ, as in "--count /site (now: --count /sites)".
[[nodiscard]] std::string differences(const std::string& before, const std::string& current);

/// "it has count, pages", or "it has none".
[[nodiscard]] std::string jobs_text(const std::vector<std::string>& jobs);

}  // namespace everseen::cli
