#pragma once

#include <optional>

#include "everseen/server/http_message.hpp"
#include "everseen/server/service.hpp"

/// Who may ask what over HTTP. All of it is decided before the body of a request is read.
namespace everseen::server {

/// @throws http_problem  the request was meant for another server. On an address of this machine alone it
/// must name localhost, or a page of another site could reach it by making its own name point here.
void must_be_meant_for_us(const service& all, const http_request& r);

/// Who sends a request.
struct sender {
  right may = right::nothing;
  const user_account* user = nullptr;  ///< null where the server has no users, and where it was not said
};
/// All is allowed where the server has no users, nothing to a client that did not say who it is. A connection
/// on which this very password was right before is not held up by those who guess.
/// @throws http_problem  there is no such user, or too many wrong passwords came from there
[[nodiscard]] sender sender_of(service& all, const http_request& r);

/// @throws http_problem  he may not
void must_have(right needed, right has);

/// A request that changes something.
/// @throws http_problem  it comes from a page of another site
void must_be_of_this_site(const http_request& r);

/// @throws http_problem  its body does not say that it is JSON, as forms of other sites cannot
void must_be_json(const http_request& r);

}  // namespace everseen::server
