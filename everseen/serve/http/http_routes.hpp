#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/http/http_message.hpp"
#include "everseen/serve/service/service.hpp"

namespace everseen::serve {

/// One call of an operation.
struct http_call {
  service& all;
  const http_request& from;
  std::string name{};  ///< the filter at {name} in the path
  std::string key{};   ///< the bytes at {key}
};

/// Takes the answer to a request, once, on any thread.
using answer_taker = std::function<void(http_response)>;

/// One operation of the interface, as data; a test compares it with openapi.json.
struct http_route {
  http_method method = http_method::get;  ///< HEAD is answered wherever GET is
  std::string_view pattern;               ///< may contain {name} and {key} as whole parts
  right needs = right::read;
  runs place = runs::on_worker;
  http_response (*run)(http_call&) = nullptr;
  const char* label = "";  ///< as CLIENT LIST shows it
  /// Instead of run: does not occupy a thread until it is answered. Throws, or ensures that `answer` is
  /// called once; until then the request stays in place.
  void (*begin)(http_call&, const answer_taker& answer) = nullptr;
  bool takes_text = false;  ///< a body may be text/plain, beside JSON
};

/// Every operation.
[[nodiscard]] std::span<const http_route> filter_routes();
[[nodiscard]] std::span<const http_route> key_routes();
[[nodiscard]] std::span<const http_route> plan_routes();
[[nodiscard]] std::span<const http_route> server_routes();
/// The files of the page, which are not operations.
[[nodiscard]] std::span<const http_route> page_routes();

/// As in a request: GET.    @return empty  none of those that are served
[[nodiscard]] std::string_view name_of(http_method method) noexcept;

/// The operation that a request asks for, whether or not it may; null: none.
[[nodiscard]] const http_route* route_of(const service& all, const http_request& head) noexcept;

/// A request whose head was accepted.
struct admitted_request {
  const http_route* route = nullptr;
  std::string name{};
  std::string key{};
  const user_account* user = nullptr;  ///< authenticated by a password
};

/// Checks everything but the body: the sender, its rights, and whether the target exists. The body of a
/// refused request need not be read.
/// @throws http_problem
[[nodiscard]] admitted_request admit(service& all, const http_request& head);

/// Whether the body of a request is declared as text/plain.
[[nodiscard]] bool has_text(const http_request& r);

/// Answers a request, also with errors.
/// @pre  the request stays in place until `answer` is called    Threads: any number.
void answer(service& all, const admitted_request& admitted, const http_request& r,
            const answer_taker& answer);

}  // namespace everseen::serve
