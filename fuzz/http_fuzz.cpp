// Any HTTP request to filters in memory: no crash, and an answer that follows the interface: JSON if
// declared, a reason with every error, and no 500, which would be a bug.
//
// The first line is method, target and headers, separated by tabs; the rest is the body.

#include <algorithm>
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

std::string_view next_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find('\t'));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

http_request request_of(std::string_view bytes) {
  std::string_view line = bytes.substr(0, bytes.find('\n'));
  http_request r;
  r.body = bytes.substr(std::min(bytes.size(), line.size() + 1));
  const std::string_view method = next_word(line);
  r.method = method == "POST"     ? http_method::post
             : method == "DELETE" ? http_method::del
             : method == "GET"    ? http_method::get
                                  : http_method::other;
  r.target = next_word(line);
  r.host = "localhost";
  r.content_type = "application/json";
  r.origin = next_word(line);
  r.authorization = next_word(line);
  return r;
}

http_response ask(service& all, const http_request& r) {
  try {
    const admitted_request admitted = admit(all, r);
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
  options o;
  o.threads = 1;
  o.store_threads = 1;
  o.max_memory_bytes = 1 << 20;
  service all(o, everseen::open_store("mem:"));
  http_request create;
  create.method = http_method::post;
  create.target = "/api/v1/filters";
  create.host = "localhost";
  create.content_type = "application/json";
  create.body = R"({"name":"f","capacity":100})";
  if (ask(all, create).status != 201) std::abort();
  const http_response r = ask(all, request_of({reinterpret_cast<const char*>(data), size}));
  if (r.status == 500) std::abort();
  if (r.status != 204 && r.content_type.find("json") != std::string::npos) {
    const auto json = nlohmann::json::parse(r.body);
    if (r.status >= 400 && json.at("reason").get<std::string>().empty()) std::abort();
  }
  return 0;
}
