#include "everseen/server/resp/cross_protocol.hpp"

#include <algorithm>

namespace everseen::server {

namespace {

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// @param wanted  in lower case
bool begins_with(std::string_view word, std::string_view wanted) noexcept {
  return std::ranges::equal(word.substr(0, wanted.size()), wanted, {}, lower);
}

bool is_method(std::string_view word) noexcept {
  constexpr std::string_view all[] = {"get", "head", "post", "put", "delete", "options", "patch"};
  return std::ranges::any_of(
      all, [&](std::string_view each) { return word.size() == each.size() && begins_with(word, each); });
}

}  // namespace

bool is_of_http(std::span<const std::string_view> line) noexcept {
  if (line.empty()) return false;
  const bool is_post = line.front().size() == 4 && begins_with(line.front(), "post");
  const bool is_request_line =
      line.size() == 3 && is_method(line.front()) && begins_with(line.back(), "http/");
  return is_post || is_request_line || begins_with(line.front(), "host:");
}

}  // namespace everseen::server
