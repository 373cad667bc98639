#include "everseen/server/base/listen_address.hpp"

#include <charconv>

#include <arpa/inet.h>

#include "everseen/core/base/error.hpp"

namespace everseen::server {

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw parameter_error("cannot listen on '" + std::string(text) + "': " + why +
                        "; write ADDRESS:PORT, tls:ADDRESS:PORT or unix:PATH");
}

bool is_numeric(const std::string& host) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

std::uint16_t parse_port(std::string_view text, std::string_view port) {
  std::uint16_t number = 0;
  const auto read = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || read.ec != std::errc{} || read.ptr != port.data() + port.size())
    refuse(text, "'" + std::string(port) + "' is not a port");
  return number;
}

std::string parse_host(std::string_view text, std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  std::string name(host);
  if (name == "localhost") name = "127.0.0.1";
  if (name == "*") name = "0.0.0.0";
  if (!is_numeric(name)) refuse(text, "'" + name + "' is not a numeric address");
  return name;
}

}  // namespace

bool listen_address::is_local() const {
  return is == kind::unix_socket || host.starts_with("127.") || host == "::1";
}

std::string listen_address::text() const {
  if (is == kind::unix_socket) return "unix:" + path;
  const bool six = host.find(':') != std::string::npos;
  return (is == kind::tls ? "tls:" : "") + (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

listen_address parse_listen_address(std::string_view text) {
  listen_address address;
  std::string_view rest = text;
  if (rest.starts_with("unix:")) {
    address.is = listen_address::kind::unix_socket;
    address.path = rest.substr(5);
    if (address.path.empty()) refuse(text, "a Unix socket needs a path");
    return address;
  }
  if (rest.starts_with("tls:")) {
    address.is = listen_address::kind::tls;
    rest.remove_prefix(4);
  }
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) refuse(text, "the port is missing");
  address.port = parse_port(text, rest.substr(colon + 1));
  address.host = parse_host(text, rest.substr(0, colon));
  return address;
}

}  // namespace everseen::server
