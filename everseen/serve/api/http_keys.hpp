/// Keys over HTTP: their encodings and the answers.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/serve/http/http_routes.hpp"
#include "everseen/serve/registry/shared_filter.hpp"

namespace everseen::serve {

/// How keys, which may be any bytes, are written in JSON and paths.
enum class key_encoding : std::uint8_t { utf8, base64 };
/// @throws http_problem
[[nodiscard]] key_encoding encoding_of(std::string_view word);
/// @throws http_problem  invalid base64
[[nodiscard]] std::string decoded_key(std::string_view written, key_encoding encoding);

/// The problem for a name that no filter has, with the nearest name that one has.
[[nodiscard]] http_problem unknown_filter(service& all, std::string_view name);
/// The filter in the path.    @throws http_problem  there is none    @throws error  as store::open
[[nodiscard]] std::shared_ptr<shared_filter> need_filter(http_call& c);

/// The time of the keys: the client's, else now; nothing without a window.
[[nodiscard]] std::optional<event_time> time_of(const shared_filter& f, std::optional<std::int64_t> ms);

/// Schemas `keys` and `verdicts`. If batches wait for the store, keys of many clients share them.
void add_keys(http_call& c, const answer_taker& answer);
void check_keys(http_call& c, const answer_taker& answer);
/// The key in the path. Schema `key_verdict`.
void check_key(http_call& c, const answer_taker& answer);

}  // namespace everseen::serve
