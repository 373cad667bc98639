#include "everseen/serve/base/options.hpp"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>

#include "everseen/core/base/error.hpp"

namespace everseen::serve {

namespace {

void must_have_certificate(const options& o, const listen_address& where) {
  if (where.is == listen_address::kind::tls && (o.tls.cert_file.empty() || o.tls.key_file.empty()))
    throw parameter_error("listening on " + where.text() + " needs --tls-cert and --tls-key");
}

void must_be_whole(const tls_options& tls) {
  if (tls.cert_file.empty() != tls.key_file.empty())
    throw parameter_error("--tls-cert and --tls-key go together: a certificate chain and its private key");
  if (!tls.ca_file.empty() && tls.cert_file.empty())
    throw parameter_error(
        "--tls-ca is about clients of tls: addresses; give --tls-cert and --tls-key as well");
}

/// If two users had the same name, or over HTTP the same password, one would silently get the rights of the
/// other.
void must_be_distinct(const options& o) {
  for (std::size_t i = 0; i < o.users.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const user_account &one = o.users[j], &other = o.users[i];
      if (one.name == other.name)
        throw parameter_error("there are two users named '" + one.name + "'; give each a name of its own");
      if (!o.http.empty() && one.password == other.password)
        throw parameter_error(
            "'" + one.name + "' and '" + other.name +
            "' have the same password, which identifies a user over HTTP; give each its own");
    }
}

bool is_behind_a_proxy(const options& o) {
  return !o.http_hosts.empty() && !o.open_to_strangers;
}

}  // namespace

bool is_open_to_others(const options& o) {
  const auto is_local = [](const listen_address& where) { return where.is_local(); };
  // HTTP over a Unix socket, or with passwords, usually serves a proxy.
  const auto is_our_own = [](const listen_address& where) {
    return where.is_local() && where.is != listen_address::kind::unix_socket;
  };
  return !std::ranges::all_of(o.listen, is_local) || !std::ranges::all_of(o.http, is_our_own) ||
         !o.http_hosts.empty() || (!o.http.empty() && !o.users.empty());
}

void must_be_safe(const options& o) {
  if (o.listen.empty() && o.http.empty())
    throw parameter_error("there is nothing to listen on; give --listen ADDRESS:PORT");
  must_be_distinct(o);
  must_be_whole(o.tls);
  if (o.requests_bytes / 2 < o.request.request_bytes)
    throw parameter_error(
        "--max-bodies is less than twice --max-request; a request of that size and its words need as much");
  for (const listen_address& where : o.listen) {
    must_have_certificate(o, where);
    if (where.is_local() || !o.users.empty() || o.open_to_strangers) continue;
    throw parameter_error(
        "listening on " + where.text() +
        " would let everybody on the network use and drop filters; give --password or --user, or "
        "say --open-to-strangers");
  }
  for (const listen_address& where : o.http) {
    must_have_certificate(o, where);
    if (!o.users.empty() || o.metrics) continue;
    if (where.is_local() && !is_behind_a_proxy(o)) continue;
    if (where.is_local())
      throw parameter_error(
          "--http-host is for a proxy, whose clients could use and drop filters; give --password, "
          "--user or --user-file, or say --open-to-strangers");
    throw parameter_error("HTTP on " + where.text() +
                          " would let everybody on the network use and drop filters; give --password, --user "
                          "or --user-file: a user's password is the token of the user's requests");
  }
}

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

}  // namespace everseen::serve
