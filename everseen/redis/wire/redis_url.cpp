#include "everseen/redis/wire/redis_url.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>

#include <unistd.h>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/url_text.hpp"

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

namespace {

using std::chrono::milliseconds;
using text = std::string_view;

milliseconds positive_time(text name, text value) {
  return url_text::to_duration(name, value, milliseconds(1));
}
milliseconds any_time(text name, text value) {
  return url_text::to_duration(name, value);
}

std::uint64_t any_number(text name, text value) {
  return url_text::to_number(name, value, UINT64_MAX);
}
template <unsigned Most>
unsigned number_up_to(text name, text value) {
  return static_cast<unsigned>(url_text::to_number(name, value, Most));
}

constexpr std::array<text, 2> command_kinds{"script", "bitfield"};  // by command_kind

command_kind to_commands(text /*name*/, text value) {
  const auto found = std::ranges::find(command_kinds, value);
  if (found == command_kinds.end())
    throw parameter_error("commands= is script or bitfield, for attached filters");
  return static_cast<command_kind>(found - command_kinds.begin());
}

std::string to_prefix(text name, text value) {
  std::string prefix = url_text::filled(name, value);
  const auto bad = [](char c) { return c == '{' || c == '}' || static_cast<unsigned char>(c) <= ' '; };
  if (prefix.size() > 64 || std::ranges::any_of(prefix, bad))
    throw parameter_error(
        "prefix= takes up to 64 bytes without blanks and without { }, which place keys in a cluster");
  return prefix;
}

std::string written(const std::string& value) {
  return value;
}
std::string written(std::uint64_t value) {
  return std::to_string(value);
}
std::string written(milliseconds value) {
  return std::to_string(value.count()) + "ms";
}
std::string written(std::optional<command_kind> value) {
  return value ? std::string(command_kinds[static_cast<std::size_t>(*value)]) : std::string();
}

struct option {
  text name;
  void (*read)(redis_url&, text name, text value);
  std::string (*write)(const redis_url&);
  bool is_secret = false;
  bool of_redis = false;  ///< not of `everseen serve`
};

constexpr option redis_only(option o) {
  o.of_redis = true;
  return o;
}

/// @tparam Read  makes the member from a name and a value; its errors show only the name
template <auto Member, auto Read>
constexpr option of(text name, bool is_secret = false) {
  return {name, [](redis_url& u, text n, text v) { u.*Member = Read(n, v); },
          [](const redis_url& u) { return written(u.*Member); }, is_secret};
}

constexpr option db_option = of<&redis_url::db, number_up_to<1'000'000>>(database_option);
constexpr std::array<option, 15> options{{
    of<&redis_url::connect_timeout, positive_time>("connect_timeout"),
    of<&redis_url::timeout, positive_time>("timeout"),
    of<&redis_url::retry_for, any_time>("retry_for"),
    redis_only(of<&redis_url::commands, to_commands>("commands")),
    redis_only(of<&redis_url::prefix, to_prefix>("prefix")),
    redis_only(of<&redis_url::staleness, any_time>("staleness")),
    redis_only(of<&redis_url::mirror_bytes, any_number>("mirror")),
    redis_only(of<&redis_url::wait_replicas, number_up_to<1000>>("wait")),
    of<&redis_url::ca_file, url_text::filled>("ca"),
    of<&redis_url::cert_file, url_text::filled>("cert"),
    of<&redis_url::key_file, url_text::filled>("key"),
    of<&redis_url::server_name, url_text::filled>("server_name"),
    db_option,
    of<&redis_url::user, url_text::decode>("user", true),
    of<&redis_url::password, url_text::decode>("password", true),
}};

/// The name is shown only if it cannot be the rest of a password in which & or ? was not written as %XX.
[[noreturn]] void unknown_option(const redis_url& url, text name, bool after_password) {
  if (after_password)
    throw parameter_error("what follows password= is not an option; write & in a password as %26");
  std::string known;
  for (const option& o : options)
    if (!url.is_everseen || !o.of_redis) known += (known.empty() ? "" : ", ") + std::string(o.name);
  const std::string which =
      url_text::is_word(name) ? "'" + std::string(name) + "' is" : "there is a part that is";
  throw parameter_error(which + " not an option of a URL of " +
                        (url.is_everseen ? "everseen serve" : "Redis") + "; there are " + known);
}

}  // namespace

void read_options(redis_url& url, text rest, std::set<text> given) {
  for (const text part : url_text::split(rest, '&')) {
    const text name = part.substr(0, part.find('='));
    const auto known = std::ranges::find(options, name, &option::name);
    if (known == options.end() || (url.is_everseen && known->of_redis))
      unknown_option(url, name, given.contains("password"));
    if (name.size() == part.size())
      throw parameter_error(std::string(name) + " needs a value, as in " + std::string(name) + "=...");
    if (!given.insert(known->name).second)
      throw parameter_error("the URL has " + std::string(name) + " twice");
    known->read(url, name, part.substr(name.size() + 1));
  }
}

std::string options_of(const redis_url& url) {
  redis_url usual;
  usual.retry_for = retry_unless_told(url.shape);
  std::string written;
  for (const option& o : options)
    if (!o.is_secret && o.write(url) != o.write(usual))
      written.append(written.empty() ? "?" : "&")
          .append(o.name)
          .append("=")
          .append(url_text::encode(o.write(url)));
  return written;
}

void read_database(redis_url& url, text value) {
  db_option.read(url, db_option.name, value);
}

}  // namespace everseen::redis
