#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/server/http_routes.hpp"
#include "everseen/server/shared_filter.hpp"

/// Keys over HTTP: how they are written, and what is answered.
namespace everseen::server {

/// How keys, which are any bytes, are written in JSON and addresses.
enum class key_encoding : std::uint8_t { utf8, base64 };
/// @throws http_problem
[[nodiscard]] key_encoding encoding_of(std::string_view word);
/// @throws http_problem  it is no base64
[[nodiscard]] std::string decoded_key(std::string_view written, key_encoding how);

/// The problem of a name that no filter has.
[[nodiscard]] http_problem unknown_filter(std::string_view name);
/// The filter that the path names.    @throws http_problem  there is none    @throws error  as store::open
[[nodiscard]] std::shared_ptr<shared_filter> need_filter(http_call& c);

/// The time by which keys are judged: what the client says, else now; nothing without a window.
[[nodiscard]] std::optional<event_time> time_of(const shared_filter& f, std::optional<std::int64_t> ms);

/// Schemas `keys` and `verdicts`. Where a batch waits for the store, keys of many clients travel together.
void add_keys(http_call& c, const answer_taker& to);
void check_keys(http_call& c, const answer_taker& to);

}  // namespace everseen::server
