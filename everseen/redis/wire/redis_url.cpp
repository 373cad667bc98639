#include "everseen/redis/wire/redis_url.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <unistd.h>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/url_text.hpp"
#include "everseen/redis/wire/url_options.hpp"

namespace everseen::redis {

namespace {

using std::chrono::milliseconds;
using text = std::string_view;

constexpr std::size_t longest_unix_path = 107;  // sockaddr_un

struct scheme {
  text name;
  bool tls = false, cluster = false, is_unix = false, everseen = false;
};
constexpr std::array<scheme, 8> schemes{{{.name = "redis://"},
                                         {.name = "rediss://", .tls = true},
                                         {.name = "redis+cluster://", .cluster = true},
                                         {.name = "rediss+cluster://", .tls = true, .cluster = true},
                                         {.name = "unix:", .is_unix = true},
                                         {.name = "everseen://", .everseen = true},
                                         {.name = "everseens://", .tls = true, .everseen = true},
                                         {.name = "everseen+unix:", .is_unix = true, .everseen = true}}};

/// Where `everseen serve` listens unless it is configured.
constexpr std::uint16_t everseen_port = 6380;

void read_credentials(redis_url& url, text both) {
  const std::size_t colon = both.find(':');
  if (colon == text::npos) throw parameter_error("credentials are written as user:password@ or :password@");
  if (both.find_first_of("@,") != text::npos)
    throw parameter_error(
        "credentials come before the first host, and @ and , in them are written as %40 and %2C");
  url.user = url_text::decode("user", both.substr(0, colon));
  url.password = url_text::decode("password", both.substr(colon + 1));
}

endpoint to_endpoint(text written, std::uint16_t usual_port) {
  endpoint e;
  e.port = usual_port;
  text rest = written;
  if (written.starts_with('[')) {
    const std::size_t end = written.find(']');
    if (end == text::npos) throw parameter_error("an IPv6 address ends with ]");
    e.host = url_text::to_ipv6(written.substr(1, end - 1));
    rest = written.substr(end + 1);
  } else {
    e.host = url_text::to_host(written.substr(0, written.find(':')));
    rest = written.substr(std::min(written.find(':'), written.size()));
  }
  if (rest.empty()) return e;
  // The rest is not shown: it may be a password whose @ is missing.
  if (!rest.starts_with(':')) throw parameter_error("after '" + e.host + "' only :port can follow");
  const auto port = read_number(rest.substr(1));
  if (!port || *port == 0 || *port > 65535)
    throw parameter_error("the port of '" + e.host + "' is not a number from 1 to 65535");
  e.port = static_cast<std::uint16_t>(*port);
  return e;
}

endpoint to_unix_endpoint(text written) {
  endpoint e;
  e.unix_path = url_text::decode("the path", written);
  if (!e.unix_path.starts_with('/') || e.unix_path.size() > longest_unix_path ||
      e.unix_path.find('\0') != std::string::npos)
    throw parameter_error(
        "a Unix socket is an absolute path of up to 107 bytes, as in unix:/run/redis.sock, or of several "
        "servers unix:/run/1.sock,/run/2.sock");
  return e;
}

void check_sense(const redis_url& url) {
  const bool tls_option =
      !url.ca_file.empty() || !url.cert_file.empty() || !url.key_file.empty() || !url.server_name.empty();
  if (tls_option && !url.tls)
    throw parameter_error(std::string("ca=, cert=, key= and server_name= need ") +
                          (url.is_everseen ? "everseens://" : "rediss://"));
  if (url.is_everseen && url.endpoints.size() != 1)
    throw parameter_error("a URL of everseen serve names one server");
  if (url.cert_file.empty() != url.key_file.empty()) throw parameter_error("cert= and key= go together");
  if (url.shape == redis_url::topology::cluster && url.db != 0)
    throw parameter_error("a cluster has database 0 only");
  if (!url.user.empty() && url.password.empty()) throw parameter_error("a user needs a password");
  auto sorted = url.endpoints;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) throw parameter_error("a server is listed twice");
}

std::string scheme_of(const redis_url& url) {
  const std::string path = url.endpoints.empty() ? "" : url.endpoints.front().unix_path;
  const bool cluster = url.shape == redis_url::topology::cluster;
  const auto fits = [&](const scheme& s) {
    return s.everseen == url.is_everseen && s.is_unix == !path.empty() && s.tls == url.tls &&
           s.cluster == cluster;
  };
  return std::string(std::ranges::find_if(schemes, fits)->name) + (path.starts_with("//") ? "//" : "");
}

std::string server_in_url(const endpoint& e) {
  if (!e.unix_path.empty()) return url_text::encode(e.unix_path);
  std::string name = to_string(e);
  if (const std::size_t zone = name.find('%'); zone != std::string::npos) name.insert(zone + 1, "25");
  return name;
}

/// @return the options that this states already
std::set<text> read_servers(redis_url& url, text rest) {
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  text authority = rest.substr(0, slash);
  std::set<text> given;
  if (const std::size_t position = authority.rfind('@'); position != text::npos) {
    read_credentials(url, authority.substr(0, position));
    authority.remove_prefix(position + 1);
    given = {"user", "password"};
  }
  for (const text host : url_text::split(authority, ','))
    url.endpoints.push_back(to_endpoint(host, url.is_everseen ? everseen_port : endpoint{}.port));
  if (slash + 1 < rest.size()) {
    read_database(url, rest.substr(slash + 1));
    given.insert(database_option);
  }
  return given;
}

std::set<text> read_sockets(redis_url& url, text paths) {
  if (paths.starts_with("//")) paths.remove_prefix(2);  // unix:///path, the same as unix:/path
  for (const text path : url_text::split(paths, ',')) url.endpoints.push_back(to_unix_endpoint(path));
  return {};
}

/// @param of_everseen  of `everseen serve`, or of Redis    @return null: it begins otherwise
const scheme* scheme_in(text url, bool of_everseen) noexcept {
  const auto found = std::ranges::find_if(schemes, [&](const scheme& s) {
    return s.everseen == of_everseen && url.starts_with(s.name.substr(0, s.name.find(':') + 1));
  });
  return found == schemes.end() ? nullptr : &*found;
}

redis_url parse(const scheme& matched, text written) {
  redis_url url;
  url.tls = matched.tls;
  url.is_everseen = matched.everseen;
  if (matched.cluster) url.shape = redis_url::topology::cluster;
  url.retry_for = retry_unless_told(url.shape);
  const text rest = written.substr(matched.name.size());
  if (!matched.is_unix && rest.find('@', std::min(rest.find_first_of("/?"), rest.size())) != text::npos)
    throw parameter_error("/, ? and @ are written as %2F, %3F and %40 in credentials and options");
  const std::size_t question = std::min(rest.find('?'), rest.size());
  const auto given = (matched.is_unix ? read_sockets : read_servers)(url, rest.substr(0, question));
  if (question < rest.size()) read_options(url, rest.substr(question + 1), given);
  if (url.shape == redis_url::topology::one && url.endpoints.size() > 1)
    url.shape = redis_url::topology::many;
  check_sense(url);
  return url;
}

}  // namespace

std::uint64_t default_mirror_bytes() noexcept {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return most;
  return std::min(most, static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 4);
}

std::chrono::milliseconds retry_unless_told(redis_url::topology shape) noexcept {
  return shape == redis_url::topology::cluster ? milliseconds(30'000) : milliseconds(10'000);
}

redis_url parse_redis_url(std::string_view written) {
  const scheme* const matched = scheme_in(written, false);
  if (matched == nullptr || !written.starts_with(matched->name))
    throw parameter_error(
        "a Redis URL begins with redis://, rediss://, redis+cluster://, rediss+cluster:// or unix:");
  return parse(*matched, written);
}

redis_url parse_everseen_url(std::string_view written) {
  const scheme* const matched = scheme_in(written, true);
  if (matched == nullptr || !written.starts_with(matched->name))
    throw parameter_error("a URL of everseen serve begins with everseen://, everseens:// or everseen+unix:");
  return parse(*matched, written);
}

bool is_redis_url(std::string_view url) noexcept {
  return scheme_in(url, false) != nullptr;
}

bool is_everseen_url(std::string_view url) noexcept {
  return scheme_in(url, true) != nullptr;
}

std::string to_string(const endpoint& e) {
  if (!e.unix_path.empty()) return "unix:" + e.unix_path;
  const bool ipv6 = e.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + e.host + "]" : e.host) + ":" + std::to_string(e.port);
}

std::string to_string(const redis_url& url) {
  std::string servers;
  for (const endpoint& e : url.endpoints) {
    if (!servers.empty()) servers += ',';
    servers += server_in_url(e);
  }
  return scheme_of(url) + servers + options_of(url);
}

std::string name_of_server(const redis_url& url, const endpoint& e) {
  return (url.is_everseen ? "everseen at " : "redis at ") + to_string(e);
}

redis_url answered_within(redis_url url, std::optional<std::chrono::milliseconds> timeout) {
  if (timeout) {
    url.retry_for = *timeout;
    const std::chrono::milliseconds attempt = std::max(*timeout / 2, std::chrono::milliseconds(1));
    url.timeout = std::min(url.timeout, attempt);
    url.connect_timeout = std::min(url.connect_timeout, attempt);
  }
  return url;
}

}  // namespace everseen::redis
