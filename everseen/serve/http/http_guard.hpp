#pragma once

#include <optional>

#include "everseen/serve/http/http_message.hpp"
#include "everseen/serve/service/service.hpp"

/// Authorization over HTTP, decided before the body of a request is read.
namespace everseen::serve {

/// Protects against DNS rebinding: at an address that only this machine can reach, the request must name
/// localhost or one of options::http_hosts. Otherwise a page of another site could reach the server by
/// making its own name resolve there.
/// @throws http_problem  the request names another host
void must_be_meant_for_us(const service& all, const http_request& r);

/// The sender of a request.
struct sender {
  right may = right::nothing;
  const user_account* user = nullptr;  ///< null if the server has no users, and if the request names none
};
/// Everything is allowed if the server has no users; nothing without authentication. A connection on which
/// this same password was right before is not slowed by guess_limit.
/// @throws http_problem  there is no such user, or too many wrong passwords came from this network
[[nodiscard]] sender sender_of(service& all, const http_request& r);

/// @throws http_problem  the sender lacks the right
void must_have(right needed, right has);

/// For a request that changes something.
/// @throws http_problem  it comes from a page of another site
void must_be_of_this_site(const http_request& r);

/// Whether its body is declared as text/plain.
[[nodiscard]] bool has_text(const http_request& r);

/// @param or_text  text/plain is taken, too
/// @throws http_problem  its body is not declared as JSON
void must_have_body(const http_request& r, bool or_text);

}  // namespace everseen::serve
