#include "everseen/serve/http/http_routes.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/http/http_message.hpp"
#include "everseen/serve/http/http_query.hpp"
#include "everseen/text/json.hpp"

namespace everseen::serve {

namespace {

// Who may ask what, decided before the body of a request is read.

/// Removes the port. A text that is not a name with a port, such as [::1].example, stays whole and matches
/// nothing.
std::string_view name_in(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.find(':') - 1;
  if (end >= host.size()) return host;
  const std::string_view port = host.substr(end + 1);
  const bool is_port = port.starts_with(':') && port.find_first_not_of("0123456789", 1) == port.npos;
  return port.empty() || is_port ? host.substr(0, end + 1) : host;
}

bool is_this_machine(std::string_view name) {
  const auto is_of_address = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  return name == "localhost" || name == "[::1]" ||
         (name.starts_with("127.") && std::ranges::all_of(name, is_of_address));
}

/// Protects against DNS rebinding: at an address that only this machine can reach, the request must name
/// localhost or one of options::http_hosts. Otherwise a page of another site could reach the server by
/// making its own name resolve there.
/// @throws http_problem  the request names another host
void must_be_meant_for_us(const service& all, const http_request& r) {
  if (r.host.empty() && !r.is_old) throw http_problem{400, "bad_request", "the request names no Host"};
  if (!r.by_loopback || r.host.empty() || all.settings().metrics) return;
  const std::string host = lower(r.host);
  const std::string_view name = name_in(host);
  if (is_this_machine(name)) return;
  for (const std::string& ours : all.settings().http_hosts)
    if (name == lower(ours)) return;
  throw http_problem{
      421, "bad_host",
      fmt::format("this server is not '{}': on an address that only this machine can reach, it answers to "
                  "localhost; for a proxy in front of it give --http-host NAME",
                  name.substr(0, 64))};
}

constexpr std::string_view realm = "Bearer realm=\"everseen\"";

[[noreturn]] void refuse_password(const service& all, const http_request& r, bool must_wait) {
  if (must_wait)
    throw http_problem{429,
                       "too_many_guesses",
                       "too many wrong passwords came from this address; this one was not checked, try again",
                       {{"Retry-After", std::to_string(guess_limit::pause.count())}}};
  all.log(telemetry::log_level::warning, "token_refused", {{"from", r.from}});
  throw http_problem{401,
                     "unauthorized",
                     "no user of this server has this password; send Authorization: Bearer PASSWORD",
                     {{"WWW-Authenticate", std::string(realm) + ", error=\"invalid_token\""}}};
}

/// The sender of a request.
struct sender {
  right may = right::nothing;
  const user_account* user = nullptr;  ///< null if the server has no users, and if the request names none
};

/// Everything is allowed if the server has no users; nothing without authentication. A connection on which
/// this same password was right before is not slowed by guess_limit.
/// @throws http_problem  there is no such user, or too many wrong passwords came from this network
sender sender_of(service& all, const http_request& r) {
  if (!all.asks_for_password()) return {right::admin, nullptr};
  constexpr std::string_view scheme = "bearer ";
  if (r.authorization.empty()) return {};
  if (lower(std::string_view(r.authorization).substr(0, scheme.size())) != scheme)
    throw http_problem{
        401,
        "unauthorized",
        "this server accepts only Bearer authorization: send Authorization: Bearer PASSWORD, with "
        "the password itself, not encoded",
        {{"WWW-Authenticate", std::string(realm) + ", error=\"invalid_request\""}}};
  const std::string_view password = std::string_view(r.authorization).substr(scheme.size());
  if (r.known != nullptr && has_password(*r.known, password)) return {r.known->may, r.known};
  const auto [user, must_wait] = all.identify(r.network, std::nullopt, password);
  if (user == nullptr) refuse_password(all, r, must_wait);
  return {user->may, user};
}

/// @throws http_problem  the sender lacks the right
void must_have(right needed, right has) {
  if (has >= needed) return;
  if (has == right::nothing)
    throw http_problem{401,
                       "unauthorized",
                       "this server requires a password; send Authorization: Bearer PASSWORD",
                       {{"WWW-Authenticate", std::string(realm)}}};
  if (needed == right::admin)
    throw http_problem{403, "forbidden",
                       "this is for administrators only: how a key is hashed reveals the filter's secret; "
                       "POST .../check returns whether it is fresh or seen"};
  throw http_problem{403, "forbidden",
                     "this user may look keys up, but not add keys, and not create or drop filters"};
}

/// For a request that changes something.
/// @throws http_problem  it comes from a page of another site
void must_be_of_this_site(const http_request& r) {
  const bool site_says_no = !r.fetch_site.empty() && r.fetch_site != "same-origin" && r.fetch_site != "none";
  const std::string_view origin = r.origin;
  const std::size_t slashes = origin.find("//");
  const bool origin_says_no = !origin.empty() && (slashes == std::string_view::npos ||
                                                  lower(origin.substr(slashes + 2)) != lower(r.host));
  if (site_says_no || origin_says_no)
    throw http_problem{403, "cross_site", "pages of other sites may not change anything here"};
}

/// The media type without its parameters.
std::string media_type(const http_request& r) {
  std::string type = lower(std::string_view(r.content_type).substr(0, r.content_type.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  return type;
}

/// @param or_text  text/plain is taken, too
/// @throws http_problem  its body is not declared as JSON
void must_have_body(const http_request& r, bool or_text) {
  if (media_type(r) == "application/json" || (or_text && has_text(r))) return;
  throw http_problem{
      415, "unsupported_media_type",
      or_text ? "send the body as Content-Type: application/json, or as text/plain with a key a line"
              : "send the body as Content-Type: application/json"};
}

// Which operation a request asks for.

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
  for (const auto& family : {filter_routes(), key_routes(), plan_routes(), server_routes(), page_routes()})
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

bool has_text(const http_request& r) {
  return media_type(r) == "text/plain";
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
