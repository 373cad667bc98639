#include "everseen/core/base/url_text.hpp"

#include <algorithm>
#include <cstdint>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/quantity.hpp"

namespace everseen::url_text {

namespace {

// Not those of <cctype>, which depend on the locale.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_plain(char c) {
  return is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '_';
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return is_digit(c) || is_letter(c) || c == '_'; });
}

std::string decode(std::string_view name, std::string_view text) {
  auto bytes = percent_decoded(text);
  if (!bytes)
    throw parameter_error("% in " + std::string(name) +
                          " is followed by two hexadecimal digits; % itself is %25");
  return *std::move(bytes);
}

std::string filled(std::string_view name, std::string_view text) {
  std::string decoded = decode(name, text);
  if (decoded.empty() || decoded.find('\0') != std::string::npos)
    throw parameter_error(std::string(name) + "= must not be empty or hold a zero byte");
  return decoded;
}

std::string encode(std::string_view text) {
  return percent_encoded(text, "/");
}

std::uint64_t to_number(std::string_view name, std::string_view text, std::uint64_t most) {
  return parse_count(std::string(name) + '=', text, {0, most}, shows_value::no);
}

std::chrono::milliseconds to_duration(std::string_view name, std::string_view text,
                                      std::chrono::milliseconds least) {
  return parse_duration(std::string(name) + '=', text, {least, std::chrono::hours(24)}, shows_value::no);
}

bool is_second(std::string_view name, std::string_view text, std::string_view first,
               std::string_view second) {
  if (text != first && text != second)
    throw parameter_error(std::string(name) + "= is " + std::string(first) + " or " + std::string(second));
  return text == second;
}

std::string to_host(std::string_view text) {
  std::string host = decode("a host", text);
  if (host.empty()) throw parameter_error("a host is missing");
  if (host.size() > 253 || !std::ranges::all_of(host, is_plain))
    throw parameter_error(
        "a host is a name or an address: letters, digits, . - _; IPv6 addresses are written in [ ]");
  return host;
}

std::string to_ipv6(std::string_view text) {
  const std::string address = decode("an IPv6 address", text);
  const std::size_t zone = std::min(address.find('%'), address.size());
  const auto fits = [](char c) { return is_hex(c) || c == ':' || c == '.'; };
  const std::string_view name = std::string_view(address).substr(std::min(zone + 1, address.size()));
  if (zone < 2 || !std::ranges::all_of(address.substr(0, zone), fits) || !std::ranges::all_of(name, is_plain))
    throw parameter_error("the text in [ ] is not an IPv6 address");
  return address;
}

}  // namespace everseen::url_text

namespace everseen {

std::string percent_encoded(std::string_view bytes, std::string_view plain) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (url_text::is_plain(c) || plain.find(c) != std::string_view::npos)
      text += c;
    else
      text += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    const std::string_view two = text.substr(i + 1, 2);
    const auto byte = read_number<std::uint8_t>(two, 16);
    if (two.size() != 2 || !byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
    i += 2;
  }
  return bytes;
}

}  // namespace everseen
