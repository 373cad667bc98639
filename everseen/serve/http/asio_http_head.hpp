#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>

#include "everseen/serve/http/http_message.hpp"
#include "everseen/serve/http/http_problem.hpp"
#include "everseen/serve/net/asio_connection.hpp"

/// Conversion of Beast's messages to ours.
namespace everseen::serve {

using parsed_head = boost::beast::http::request_header<boost::beast::http::fields>;

[[nodiscard]] http_request head_of(const parsed_head& parsed, const arrival& origin);
/// Refuses requests that a proxy in front may split differently (request smuggling), or send to another host.
/// @param chunked  whether the body was parsed as chunked
/// @throws http_problem
void must_be_unambiguous(const parsed_head& parsed, bool chunked);
/// Whether the client waits for 100 Continue before it sends its body.
[[nodiscard]] bool expects_continue(const parsed_head& parsed);
/// The problem for bytes that are not a valid request.
[[nodiscard]] http_problem problem_of(const boost::system::error_code& fault);

}  // namespace everseen::serve
