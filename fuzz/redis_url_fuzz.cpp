// A URL is either refused with parameter_error or parsed; then, written again, it means the same. No refusal
// shows a password.
//
// Decodes: everseen/redis/wire/redis_url.cpp, everseen/core/base/url_text.cpp

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace {

using namespace everseen;
using namespace everseen::redis;

void check_writing(std::string_view text) {
  if (is_everseen_url(text) && is_redis_url(text)) std::abort();
  const auto parse = is_everseen_url(text) ? parse_everseen_url : parse_redis_url;
  redis_url url = parse(text);
  url.user.clear();
  url.password.clear();
  if (parse(to_string(url)) != url) std::abort();
  if (name_of_server(url, url.endpoints.front()).empty()) std::abort();
  const std::chrono::milliseconds soon{10};
  const redis_url hurried = answered_within(url, soon);
  if (hurried.retry_for != soon || hurried.timeout > soon || hurried.connect_timeout > soon) std::abort();
}

/// The password to search for: a refusal must not show it if the URL has it.
constexpr std::string_view secret = "secret";

bool has_secret_password(std::string_view text) {
  return text.find(":secret@") != std::string_view::npos ||
         text.find("password=secret") != std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check_writing(text);
  } catch (const parameter_error& e) {
    const std::string_view said = e.what();
    const bool once = text.find(secret) == text.rfind(secret);
    if (once && has_secret_password(text) && said.find(secret) != std::string_view::npos) std::abort();
  }
  return 0;
}
