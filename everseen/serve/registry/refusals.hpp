#pragma once

#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/registry/filter_registry.hpp"

namespace everseen::serve {

/// The error reply for keys whose verdict is unknown: RedisBloom's own text if it has the same meaning, else
/// OUTAGE and the reason. A retry is safe.
[[nodiscard]] std::string text_of(const batch_failure& failure, const spec& properties);

/// What a filter that does not grow answers once it is full. RedisBloom ends an array of replies with it.
inline constexpr std::string_view filter_is_full = "ERR non scaling filter is full";

/// The error reply for a key whose verdict is unknown: a key that the filter can never take gets its own
/// reply, whatever happened to the others.
[[nodiscard]] std::string text_of_unknown(const filter& judge, std::string_view key,
                                          const std::string& fault);

/// The error reply for the exception that is being handled.
/// @pre called in a catch block of something derived from std::exception, or of refusal
[[nodiscard]] std::string text_of_current_exception();

}  // namespace everseen::serve
