#pragma once

#include <string>
#include <string_view>

#include "everseen/core/error.hpp"
#include "everseen/server/command.hpp"
#include "everseen/server/filter_shelf.hpp"

namespace everseen::server {

/// The error reply for keys whose verdict is unknown: what a client of RedisBloom knows where that says the
/// same, else OUTAGE and the reason. Asking again is right.
[[nodiscard]] std::string text_of(const batch_failure& failure);

/// The error reply for a key whose verdict is unknown: a key that the filter can never take is told so,
/// whatever became of the keys beside it.
[[nodiscard]] std::string text_of_unknown(const filter& by, std::string_view key, const std::string& fault);

/// The error reply for the exception that is being handled.
/// @pre called in a catch block of something derived from std::exception, or of refusal
[[nodiscard]] std::string text_of_current_exception();

/// Refuses a batch that adds keys while the filters take all the memory they may.
/// @return whether it was refused: all its verdicts are then unknown
[[nodiscard]] bool is_refused(const filter_shelf& filters, question asks, key_batch& batch);

}  // namespace everseen::server
