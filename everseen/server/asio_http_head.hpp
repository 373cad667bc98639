#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>

#include "everseen/server/asio_connection.hpp"
#include "everseen/server/http_message.hpp"
#include "everseen/server/http_problem.hpp"

/// From Beast's messages to ours.
namespace everseen::server {

using parsed_head = boost::beast::http::request_header<boost::beast::http::fields>;

[[nodiscard]] http_request head_of(const parsed_head& parsed, const arrival& how);
/// Refuses what a proxy in front may read otherwise than we do, and so take for two requests, or another's.
/// @param chunked  by what the body was found to end
/// @throws http_problem
void must_be_unambiguous(const parsed_head& parsed, bool chunked);
/// Whether the client sends its body only when it is told to.
[[nodiscard]] bool expects_continue(const parsed_head& parsed);
/// Why bytes are no request that can be answered.
[[nodiscard]] http_problem problem_of(const boost::system::error_code& fault);

}  // namespace everseen::server
