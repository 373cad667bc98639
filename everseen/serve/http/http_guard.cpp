#include "everseen/serve/http/http_guard.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/http/http_problem.hpp"

namespace everseen::serve {

namespace {

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

}  // namespace

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

namespace {

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

}  // namespace

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

void must_be_of_this_site(const http_request& r) {
  const bool site_says_no = !r.fetch_site.empty() && r.fetch_site != "same-origin" && r.fetch_site != "none";
  const std::string_view origin = r.origin;
  const std::size_t slashes = origin.find("//");
  const bool origin_says_no = !origin.empty() && (slashes == std::string_view::npos ||
                                                  lower(origin.substr(slashes + 2)) != lower(r.host));
  if (site_says_no || origin_says_no)
    throw http_problem{403, "cross_site", "pages of other sites may not change anything here"};
}

namespace {

/// The media type without its parameters.
std::string media_type(const http_request& r) {
  std::string type = lower(std::string_view(r.content_type).substr(0, r.content_type.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  return type;
}

}  // namespace

bool has_text(const http_request& r) {
  return media_type(r) == "text/plain";
}

void must_have_body(const http_request& r, bool or_text) {
  if (media_type(r) == "application/json" || (or_text && has_text(r))) return;
  throw http_problem{
      415, "unsupported_media_type",
      or_text ? "send the body as Content-Type: application/json, or as text/plain with a key a line"
              : "send the body as Content-Type: application/json"};
}

}  // namespace everseen::serve
