// Any HTTP request to filters in memory: no crash, and an answer that follows the interface: JSON if
// declared, a reason with every error, and no 500, which would be a bug.
//
// An input is a line of method and target, lines with headers (`type: text/plain`), an empty line, and the
// body. Other lines are about the server (`users`, `metrics`, `ours: HOST`) or the connection (`old`,
// `away`, `large`: a megabyte of blanks follows the body).
//
// Decodes: everseen/serve/http/http_query.cpp, everseen/serve/http/http_routes.cpp,
// everseen/serve/http/json_body.cpp, everseen/serve/api/http_keys.cpp, everseen/serve/api/http_filters.cpp

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "everseen/open_store.hpp"
#include "everseen/serve/http/http_routes.hpp"

namespace {

using namespace everseen::serve;

std::string_view take_until(char end, std::string_view& text) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

http_method method_of(std::string_view word) {
  for (const http_method each : {http_method::get, http_method::head, http_method::post, http_method::del})
    if (word == name_of(each)) return each;
  return http_method::other;
}

struct asked {
  options server{};
  http_request request{};
  std::string body{};
};

void take_header(std::string_view line, asked& a) {
  http_request& r = a.request;
  const std::pair<std::string_view, std::string&> headers[] = {
      {"host", r.host},         {"origin", r.origin},          {"site", r.fetch_site},
      {"type", r.content_type}, {"password", r.authorization}, {"etag", r.none_match}};
  const std::string_view name = take_until(':', line);
  const std::string_view text = line.substr(std::min(line.size(), line.find_first_not_of(' ')));
  for (const auto& [known, value] : headers)
    if (name == known) value = text;
  if (name == "ours") a.server.http_hosts.emplace_back(text);
  if (name == "users")
    a.server.users = {
        {"reader", "r", right::read}, {"writer", "w", right::write}, {"admin", "a", right::admin}};
  if (name == "metrics") a.server.metrics = [] { return std::string("metrics"); };
  if (name == "gzip") r.takes_gzip = true;
  if (name == "old") r.is_old = true;
  if (name == "away") r.by_loopback = false;
  if (name == "large") a.body.resize((1 << 20) + 1, ' ');
}

asked asked_by(std::string_view bytes) {
  asked a;
  std::string_view line = take_until('\n', bytes);
  a.request.method = method_of(take_until(' ', line));
  a.request.target = line;
  a.request.host = "localhost";
  a.request.content_type = "application/json";
  while (!bytes.empty() && bytes.front() != '\n') take_header(take_until('\n', bytes), a);
  (void)take_until('\n', bytes);
  a.body.insert(0, bytes);
  return a;
}

http_response ask(service& all, const http_request& r) {
  try {
    const admitted_request admitted = admit(all, r);
    if (admitted.route != route_of(all, r)) std::abort();
    http_response got;
    answer(all, admitted, r,
           [&got](http_response a) { got = std::move(a); });  // in memory: called before it returns
    return got;
  } catch (const http_problem& p) {
    return response_of(p);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  asked a = asked_by({reinterpret_cast<const char*>(data), size});
  a.request.body = a.body;
  a.server.threads = 1;
  a.server.store_threads = 1;
  a.server.max_memory_bytes = 1 << 20;
  service all(a.server, everseen::open_store("mem:"));
  (void)all.filters().create("f", {.spec = {.capacity = 100}});
  (void)all.filters().create(
      "w", {.spec = {.capacity = 100, .window = everseen::window_spec{std::chrono::minutes(1)}}});
  const http_response r = ask(all, a.request);
  if (r.status == 500) std::abort();
  if (r.status != 204 && r.content_type.find("json") != std::string::npos) {
    const auto json = nlohmann::json::parse(r.body);
    if (r.status >= 400 && json.at("reason").get<std::string>().empty()) std::abort();
  }
  return 0;
}
