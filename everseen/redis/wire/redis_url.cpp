#include "everseen/redis/wire/redis_url.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <unistd.h>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/redis/wire/url_text.hpp"

namespace everseen::redis {

namespace {

using std::chrono::milliseconds;
using text = std::string_view;

constexpr std::size_t longest_unix_path = 107;  // sockaddr_un

constexpr text unix_scheme = "unix:";
struct scheme {
  text name;
  bool tls, cluster;
};
constexpr std::array<scheme, 5> schemes{{{"redis://", false, false},
                                         {"rediss://", true, false},
                                         {"redis+cluster://", false, true},
                                         {"rediss+cluster://", true, true},
                                         {unix_scheme, false, false}}};

milliseconds positive_time(text name, text value) {
  const milliseconds t = url_text::to_duration(name, value);
  if (t.count() == 0) throw parameter_error(std::string(name) + "= must be longer than nothing");
  return t;
}

template <unsigned Most>
unsigned number_up_to(text name, text value) {
  return static_cast<unsigned>(url_text::to_number(name, value, Most));
}

constexpr std::array<text, 3> command_kinds{"module", "script", "bitfield"};  // by command_kind

command_kind to_commands(text /*name*/, text value) {
  const auto found = std::ranges::find(command_kinds, value);
  if (found == command_kinds.end())
    throw parameter_error("commands= is script or module, or bitfield for an attached filter");
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

std::uint64_t to_segment(text name, text value) {
  const std::uint64_t bytes = url_text::to_bytes(name, value);
  if (bytes < (1U << 20) || bytes > (512U << 20) || bytes % 64 != 0)
    throw parameter_error("segment= takes 1Mi to 512Mi bytes, in whole lines of 64");
  return bytes;
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
};

/// @tparam Read  makes the member of a name and a value, of which its errors show the name alone
template <auto Member, auto Read>
constexpr option of(text name, bool is_secret = false) {
  return {name, [](redis_url& u, text n, text v) { u.*Member = Read(n, v); },
          [](const redis_url& u) { return written(u.*Member); }, is_secret};
}

constexpr option db_option = of<&redis_url::db, number_up_to<1'000'000>>("db");
constexpr std::array<option, 16> options{{
    of<&redis_url::connect_timeout, positive_time>("connect_timeout"),
    of<&redis_url::timeout, positive_time>("timeout"),
    of<&redis_url::retry_for, url_text::to_duration>("retry_for"),
    of<&redis_url::commands, to_commands>("commands"),
    of<&redis_url::prefix, to_prefix>("prefix"),
    of<&redis_url::segment_bytes, to_segment>("segment"),
    of<&redis_url::staleness, url_text::to_duration>("staleness"),
    of<&redis_url::mirror_bytes, url_text::to_bytes>("mirror"),
    of<&redis_url::wait_replicas, number_up_to<1000>>("wait"),
    of<&redis_url::ca_file, url_text::filled>("ca"),
    of<&redis_url::cert_file, url_text::filled>("cert"),
    of<&redis_url::key_file, url_text::filled>("key"),
    of<&redis_url::server_name, url_text::filled>("server_name"),
    db_option,
    of<&redis_url::user, url_text::decode>("user", true),
    of<&redis_url::password, url_text::decode>("password", true),
}};

/// The name is shown only where it cannot be the rest of a password in which & or ? was not written as %XX.
[[noreturn]] void unknown_option(text name, bool after_password) {
  if (after_password)
    throw parameter_error("what follows password= is not an option; write & in a password as %26");
  std::string known;
  for (const option& o : options) known += (known.empty() ? "" : ", ") + std::string(o.name);
  const std::string which =
      url_text::is_word(name) ? "'" + std::string(name) + "' is" : "there is a part that is";
  throw parameter_error(which + " not an option of a Redis URL; there are " + known);
}

/// @param given  the options that the URL has stated already
void read_options(redis_url& url, text rest, std::set<text> given) {
  for (const text part : url_text::split(rest, '&')) {
    const text name = part.substr(0, part.find('='));
    const auto known = std::ranges::find(options, name, &option::name);
    if (known == options.end()) unknown_option(name, given.contains("password"));
    if (name.size() == part.size())
      throw parameter_error(std::string(name) + " needs a value, as in " + std::string(name) + "=...");
    if (!given.insert(known->name).second)
      throw parameter_error("the URL says twice what " + std::string(name) + " is");
    known->read(url, name, part.substr(name.size() + 1));
  }
}

void read_credentials(redis_url& url, text both) {
  const std::size_t colon = both.find(':');
  if (colon == text::npos) throw parameter_error("credentials are written as user:password@ or :password@");
  if (both.find_first_of("@,") != text::npos)
    throw parameter_error(
        "credentials stand before the first host, and @ and , in them are written as %40 and %2C");
  url.user = url_text::decode("user", both.substr(0, colon));
  url.password = url_text::decode("password", both.substr(colon + 1));
}

endpoint to_endpoint(text written) {
  endpoint e;
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
  // What stands there is not shown: it may be a password whose @ is missing.
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
        "servers "
        "unix:/run/1.sock,/run/2.sock");
  return e;
}

void check_sense(const redis_url& url) {
  const bool tls_option =
      !url.ca_file.empty() || !url.cert_file.empty() || !url.key_file.empty() || !url.server_name.empty();
  if (tls_option && !url.tls) throw parameter_error("ca=, cert=, key= and server_name= need rediss://");
  if (url.cert_file.empty() != url.key_file.empty()) throw parameter_error("cert= and key= go together");
  if (url.shape == redis_url::topology::cluster && url.db != 0)
    throw parameter_error("a cluster has database 0 only");
  if (!url.user.empty() && url.password.empty()) throw parameter_error("a user needs a password");
  auto sorted = url.endpoints;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) throw parameter_error("a server is listed twice");
}

/// Only what differs from the default.
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

std::string scheme_of(const redis_url& url) {
  const std::string path = url.endpoints.empty() ? "" : url.endpoints.front().unix_path;
  if (!path.empty()) return path.starts_with("//") ? "unix://" : "unix:";
  const bool cluster = url.shape == redis_url::topology::cluster;
  const auto fits = [&](const scheme& s) { return s.tls == url.tls && s.cluster == cluster; };
  return std::string(std::ranges::find_if(schemes, fits)->name);
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
  if (const std::size_t at = authority.rfind('@'); at != text::npos) {
    read_credentials(url, authority.substr(0, at));
    authority.remove_prefix(at + 1);
    given = {"user", "password"};
  }
  for (const text host : url_text::split(authority, ',')) url.endpoints.push_back(to_endpoint(host));
  if (slash + 1 < rest.size()) {
    db_option.read(url, db_option.name, rest.substr(slash + 1));
    given.insert(db_option.name);
  }
  return given;
}

std::set<text> read_sockets(redis_url& url, text paths) {
  if (paths.starts_with("//")) paths.remove_prefix(2);  // unix:///path, the same as unix:/path
  for (const text path : url_text::split(paths, ',')) url.endpoints.push_back(to_unix_endpoint(path));
  return {};
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
  const auto fits = [&](const scheme& s) { return written.starts_with(s.name); };
  const auto found = std::ranges::find_if(schemes, fits);
  if (found == schemes.end())
    throw parameter_error(
        "a Redis URL begins with redis://, rediss://, redis+cluster://, rediss+cluster:// or unix:");
  redis_url url;
  url.tls = found->tls;
  if (found->cluster) url.shape = redis_url::topology::cluster;
  url.retry_for = retry_unless_told(url.shape);
  const bool is_unix = found->name == unix_scheme;
  const text rest = written.substr(found->name.size());
  if (!is_unix && rest.find('@', std::min(rest.find_first_of("/?"), rest.size())) != text::npos)
    throw parameter_error("/, ? and @ are written as %2F, %3F and %40 in credentials and options");
  const std::size_t question = std::min(rest.find('?'), rest.size());
  const auto given = (is_unix ? read_sockets : read_servers)(url, rest.substr(0, question));
  if (question < rest.size()) read_options(url, rest.substr(question + 1), given);
  if (url.shape == redis_url::topology::one && url.endpoints.size() > 1)
    url.shape = redis_url::topology::many;
  check_sense(url);
  return url;
}

std::string to_string(const endpoint& e) {
  if (!e.unix_path.empty()) return "unix:" + e.unix_path;
  const bool ipv6 = e.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + e.host + "]" : e.host) + ":" + std::to_string(e.port);
}

std::string to_string(const redis_url& url) {
  std::string servers;
  for (const endpoint& e : url.endpoints) servers += (servers.empty() ? "" : ",") + server_in_url(e);
  return scheme_of(url) + servers + options_of(url);
}

}  // namespace everseen::redis
