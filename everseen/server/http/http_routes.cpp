#include "everseen/server/http/http_routes.hpp"

#include <optional>
#include <set>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/server/http/http_guard.hpp"
#include "everseen/server/http/http_query.hpp"
#include "everseen/text/json.hpp"

namespace everseen::server {

namespace {

constexpr std::string_view placeholder = "{name}";

/// The text at {name}, still encoded; empty if the pattern has none. Nothing: the path does not match.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path) {
  const std::size_t at = pattern.find(placeholder);
  if (at == std::string_view::npos) return pattern == path ? std::optional(std::string_view()) : std::nullopt;
  const std::string_view behind = pattern.substr(at + placeholder.size());
  if (path.size() <= at + behind.size() || path.substr(0, at) != pattern.substr(0, at) ||
      !path.ends_with(behind))
    return std::nullopt;
  const std::string_view name = path.substr(at, path.size() - at - behind.size());
  return name.find('/') == std::string_view::npos ? std::optional(name) : std::nullopt;
}

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

bool serves(const http_route& route, http_method method) noexcept {
  return route.method == method || (route.method == http_method::get && method == http_method::head);
}

[[noreturn]] void refuse(const std::set<std::string_view>& allowed) {
  if (allowed.empty())
    throw http_problem{404, "not_found", "there is nothing here; /openapi.json describes what there is"};
  std::string all;
  for (const std::string_view each : allowed) all += (all.empty() ? "" : ", ") + std::string(each);
  throw http_problem{405, "method_not_allowed", "this can only be asked by " + all, {{"Allow", all}}};
}

admitted_request find(const http_request& head) {
  std::set<std::string_view> allowed;
  for (const auto& family : {filter_routes(), server_routes(), page_routes()})
    for (const http_route& route : family) {
      const auto name = match(route.pattern, head.path());
      if (!name) continue;
      if (serves(route, head.method)) return {&route, percent_decoded(*name, false), nullptr};
      allowed.insert(name_of(route.method));
      if (route.method == http_method::get) allowed.insert(name_of(http_method::head));
    }
  refuse(allowed);
}

}  // namespace

admitted_request admit(service& all, const http_request& head) {
  must_be_meant_for_us(all, head);
  admitted_request found = find(head);
  const right needed = found.route->needs;
  if (needed != right::nothing) {
    const sender by = sender_of(all, head);
    found.user = by.user;
    must_have(needed, by.may);
  }
  if (!head.is_unsafe()) return found;
  must_be_of_this_site(head);
  if (head.method == http_method::post) must_be_json(head);
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

void answer(service& all, const admitted_request& admitted, const http_request& r, const answer_taker& to) {
  const auto answered = [&]() -> std::optional<http_response> {
    try {
      if (all.stats().gives_up()) throw http_problem{503, "stopping", "the server is being stopped"};
      http_call c{all, r, admitted.name};
      if (admitted.route->begin == nullptr) return run(*admitted.route, c);
      admitted.route->begin(c, to);
      return std::nullopt;
    } catch (...) {
      return response_of(problem_of_current_exception());
    }
  };
  if (auto now = answered()) to(*std::move(now));
}

}  // namespace everseen::server
