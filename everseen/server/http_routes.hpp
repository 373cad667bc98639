#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "everseen/server/command.hpp"
#include "everseen/server/http_message.hpp"
#include "everseen/server/http_problem.hpp"
#include "everseen/server/service.hpp"

namespace everseen::server {

/// One request on its way to its answer.
struct http_call {
  service& all;
  const http_request& from;
  std::string name{};  ///< what stands for {name} in the path, decoded: a filter as clients call it
};

/// Takes the answer to a request, once, on any thread.
using answer_taker = std::function<void(http_response)>;

/// One operation of the interface, described as data: what openapi.json promises, a test compares with this.
struct http_route {
  http_method method = http_method::get;  ///< HEAD is answered wherever GET is
  std::string_view pattern;               ///< may hold one {name}
  right needs = right::read;
  runs place = runs::on_worker;
  http_response (*run)(http_call&) = nullptr;
  const char* label = "";  ///< as CLIENT LIST shows it
  /// Instead of run: holds up no thread until it is answered. Throws, or sees to it that `to` is called once;
  /// until then the request stays where it is.
  void (*begin)(http_call&, const answer_taker& to) = nullptr;
};

/// Every operation.
[[nodiscard]] std::span<const http_route> filter_routes();
[[nodiscard]] std::span<const http_route> server_routes();
/// And the files of the page, which are no operations.
[[nodiscard]] std::span<const http_route> page_routes();

/// A request whose head was found to be in order.
struct admitted_request {
  const http_route* route = nullptr;
  std::string name{};
  const user_account* user = nullptr;  ///< who was let in by a password
};

/// Looks at all but the body: who asks, whether he may, and whether there is such a thing. The body of a
/// request that is refused need not be read.
/// @throws http_problem
[[nodiscard]] admitted_request admit(service& all, const http_request& head);

/// Answers a request, whatever becomes of it.
/// @pre  the request stays where it is until `to` is called    Threads: any number.
void answer(service& all, const admitted_request& admitted, const http_request& r, const answer_taker& to);

}  // namespace everseen::server
