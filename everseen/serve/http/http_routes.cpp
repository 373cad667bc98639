#include "everseen/serve/http/http_routes.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/serve/http/http_guard.hpp"
#include "everseen/serve/http/http_query.hpp"
#include "everseen/text/json.hpp"

namespace everseen::serve {

namespace {

/// The text at each placeholder of a pattern, still encoded.
struct path_parts {
  std::string_view name{};
  std::string_view key{};
};

/// Removes the beginning up to the next slash, and the slash.
std::string_view take_part(std::string_view& path) noexcept {
  const std::string_view part = path.substr(0, path.find('/'));
  path.remove_prefix(std::min(path.size(), part.size() + 1));
  return part;
}

/// Nothing: the path does not match.
std::optional<path_parts> match(std::string_view pattern, std::string_view path) noexcept {
  path_parts found;
  if (std::ranges::count(pattern, '/') != std::ranges::count(path, '/')) return std::nullopt;
  while (!pattern.empty() || !path.empty()) {
    const std::string_view wanted = take_part(pattern);
    const std::string_view part = take_part(path);
    if (wanted == "{name}")
      found.name = part;
    else if (wanted == "{key}")
      found.key = part;
    else if (wanted != part)
      return std::nullopt;
    if (wanted.starts_with('{') && part.empty()) return std::nullopt;
  }
  return found;
}

bool serves(const http_route& route, http_method method) noexcept {
  return route.method == method || (route.method == http_method::get && method == http_method::head);
}

[[noreturn]] void refuse_method(const service& all, const std::set<std::string_view>& allowed) {
  if (allowed.empty())
    throw http_problem{404, "not_found",
                       all.settings().metrics
                           ? "there is only /metrics here"
                           : "there is nothing here; /openapi.json describes what there is"};
  std::string methods;
  for (const std::string_view each : allowed) methods += (methods.empty() ? "" : ", ") + std::string(each);
  throw http_problem{405, "method_not_allowed", "this path accepts only " + methods, {{"Allow", methods}}};
}

/// Visits the operations with this path until one returns true.
template <typename Visit>
void visit_matches(const service& all, std::string_view path, Visit visit) {
  if (all.settings().metrics && path != "/metrics") return;
  for (const auto& family : {filter_routes(), server_routes(), page_routes()})
    for (const http_route& route : family)
      if (const auto parts = match(route.pattern, path); parts && visit(route, *parts)) return;
}

std::string filter_name(std::string_view part) try {
  return typed_name(decoded_address(part, false));
} catch (const parameter_error& why) {
  throw http_problem{400, "bad_request", why.what()};
}

admitted_request find(const service& all, const http_request& head) {
  admitted_request found;
  std::set<std::string_view> allowed;
  visit_matches(all, head.path(), [&](const http_route& route, const path_parts& parts) {
    allowed.insert(name_of(route.method));
    if (route.method == http_method::get) allowed.insert(name_of(http_method::head));
    if (!serves(route, head.method)) return false;
    found = {&route, filter_name(parts.name), decoded_address(parts.key, false), nullptr};
    return true;
  });
  if (found.route == nullptr) refuse_method(all, allowed);
  return found;
}

}  // namespace

std::string_view name_of(http_method method) noexcept {
  switch (method) {
    case http_method::get:
      return "GET";
    case http_method::head:
      return "HEAD";
    case http_method::post:
      return "POST";
    case http_method::del:
      return "DELETE";
    case http_method::other:
      break;
  }
  return "";
}

const http_route* route_of(const service& all, const http_request& head) noexcept {
  const http_route* found = nullptr;
  visit_matches(all, head.path(), [&](const http_route& route, const path_parts&) {
    if (serves(route, head.method)) found = &route;
    return found != nullptr;
  });
  return found;
}

admitted_request admit(service& all, const http_request& head) {
  must_be_meant_for_us(all, head);
  admitted_request found = find(all, head);
  const right needed = found.route->needs;
  if (needed != right::nothing) {
    const sender client = sender_of(all, head);
    found.user = client.user;
    must_have(needed, client.may);
  }
  if (!head.is_unsafe()) return found;
  must_be_of_this_site(head);
  if (head.method == http_method::post) must_have_body(head, found.route->takes_text);
  return found;
}

namespace {

/// Retries once if the name now belongs to another filter than the one that is open here.
http_response run(const http_route& route, http_call& c) {
  try {
    return route.run(c);
  } catch (const error& why) {
    if (!c.all.filters().forget_changed(c.name, why)) throw;
  }
  return route.run(c);
}

}  // namespace

void answer(service& all, const admitted_request& admitted, const http_request& r,
            const answer_taker& answer) {
  const auto answered = [&]() -> std::optional<http_response> {
    try {
      if (all.stats().gives_up()) throw http_problem{503, "stopping", "the server is being stopped"};
      http_call c{all, r, admitted.name, admitted.key};
      if (admitted.route->begin == nullptr) return run(*admitted.route, c);
      admitted.route->begin(c, answer);
      return std::nullopt;
    } catch (...) {
      return response_of(problem_of_current_exception());
    }
  };
  if (auto current = answered()) answer(*std::move(current));
}

}  // namespace everseen::serve
