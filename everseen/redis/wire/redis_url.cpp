#include "everseen/redis/wire/redis_url.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <unistd.h>

#include "everseen/core/error.hpp"
#include "everseen/redis/wire/url_text.hpp"

namespace everseen::redis {

namespace {

using std::chrono::milliseconds;
using text = std::string_view;

constexpr std::size_t longest_unix_path = 107;  // sockaddr_un

struct scheme {
  text name;
  bool tls, cluster;
};
constexpr std::array<scheme, 4> schemes{{{"redis://", false, false},
                                         {"rediss://", true, false},
                                         {"redis+cluster://", false, true},
                                         {"rediss+cluster://", true, true}}};

struct option {
  text name;
  void (*set)(redis_url&, text value);
};

std::string filled(text name, text value) {
  std::string decoded = url_text::decode(name, value);
  if (decoded.empty() || decoded.find('\0') != std::string::npos)
    throw parameter_error(std::string(name) + "= must not be empty or hold a zero byte");
  return decoded;
}

milliseconds positive_time(text name, text value) {
  const milliseconds t = url_text::to_duration(name, value);
  if (t.count() == 0) throw parameter_error(std::string(name) + "= must be longer than nothing");
  return t;
}

gear_kind to_gear(text value) {
  if (value == "module") return gear_kind::module;
  if (value == "script") return gear_kind::script;
  if (value == "bitfield") return gear_kind::bitfield;
  throw parameter_error("gear= is script or module, or bitfield for an attached filter");
}

std::string to_prefix(text value) {
  std::string prefix = filled("prefix", value);
  const auto bad = [](char c) { return c == '{' || c == '}' || static_cast<unsigned char>(c) <= ' '; };
  if (prefix.size() > 64 || std::ranges::any_of(prefix, bad))
    throw parameter_error(
        "prefix= takes up to 64 bytes without blanks and without { }, which place keys in a cluster");
  return prefix;
}

std::uint64_t to_segment(text value) {
  const std::uint64_t bytes = url_text::to_bytes("segment", value);
  if (bytes < (1U << 20) || bytes > (512U << 20) || bytes % 64 != 0)
    throw parameter_error("segment= takes 1Mi to 512Mi bytes, in whole lines of 64");
  return bytes;
}

void set_db(redis_url& url, text value) {
  url.db = static_cast<unsigned>(url_text::to_number("db", value, 1'000'000));
}

constexpr std::array<option, 16> options{{
    {"connect_timeout",
     [](redis_url& u, text v) { u.connect_timeout = positive_time("connect_timeout", v); }},
    {"timeout", [](redis_url& u, text v) { u.timeout = positive_time("timeout", v); }},
    {"retry_for", [](redis_url& u, text v) { u.retry_for = url_text::to_duration("retry_for", v); }},
    {"gear", [](redis_url& u, text v) { u.gear = to_gear(v); }},
    {"prefix", [](redis_url& u, text v) { u.prefix = to_prefix(v); }},
    {"segment", [](redis_url& u, text v) { u.segment_bytes = to_segment(v); }},
    {"staleness", [](redis_url& u, text v) { u.staleness = url_text::to_duration("staleness", v); }},
    {"mirror", [](redis_url& u, text v) { u.mirror_bytes = url_text::to_bytes("mirror", v); }},
    {"wait", [](redis_url& u,
                text v) { u.wait_replicas = static_cast<unsigned>(url_text::to_number("wait", v, 1000)); }},
    {"ca", [](redis_url& u, text v) { u.ca_file = filled("ca", v); }},
    {"cert", [](redis_url& u, text v) { u.cert_file = filled("cert", v); }},
    {"key", [](redis_url& u, text v) { u.key_file = filled("key", v); }},
    {"server_name", [](redis_url& u, text v) { u.server_name = filled("server_name", v); }},
    {"db", set_db},
    {"user", [](redis_url& u, text v) { u.user = url_text::decode("user", v); }},
    {"password", [](redis_url& u, text v) { u.password = url_text::decode("password", v); }},
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
    known->set(url, part.substr(name.size() + 1));
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
  const auto port = url_text::read_number(rest.substr(1));
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
    throw parameter_error("a Unix socket is an absolute path of up to 107 bytes, as in unix:/run/redis.sock");
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

namespace {

void read_network(redis_url& url, text rest) {
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  text authority = rest.substr(0, end);
  rest.remove_prefix(end);
  if (rest.find('@') != text::npos)
    throw parameter_error("/, ? and @ are written as %2F, %3F and %40 in credentials and options");
  std::set<text> given;
  if (const std::size_t at = authority.rfind('@'); at != text::npos) {
    read_credentials(url, authority.substr(0, at));
    authority.remove_prefix(at + 1);
    given = {"user", "password"};
  }
  for (const text host : url_text::split(authority, ',')) url.endpoints.push_back(to_endpoint(host));
  const std::size_t question = std::min(rest.find('?'), rest.size());
  if (const text path = rest.substr(0, question); path.size() > 1) {
    set_db(url, path.substr(1));
    given.insert("db");
  }
  if (question < rest.size()) read_options(url, rest.substr(question + 1), given);
}

void read_unix(redis_url& url, text rest) {
  if (rest.starts_with("//")) rest.remove_prefix(2);  // unix:///path, the same as unix:/path
  const std::size_t question = std::min(rest.find('?'), rest.size());
  for (const text path : url_text::split(rest.substr(0, question), ','))
    url.endpoints.push_back(to_unix_endpoint(path));
  if (question < rest.size()) read_options(url, rest.substr(question + 1), {});
}

}  // namespace

redis_url parse_redis_url(std::string_view written) {
  redis_url url;
  if (written.starts_with("unix:")) {
    read_unix(url, written.substr(5));
  } else {
    const auto fits = [&](const scheme& s) { return written.starts_with(s.name); };
    const auto found = std::ranges::find_if(schemes, fits);
    if (found == schemes.end())
      throw parameter_error(
          "a Redis URL begins with redis://, rediss://, redis+cluster://, rediss+cluster:// or unix:");
    url.tls = found->tls;
    if (found->cluster) url.shape = redis_url::topology::cluster;
    url.retry_for = retry_unless_told(url.shape);
    read_network(url, written.substr(found->name.size()));
  }
  if (url.shape == redis_url::topology::one && url.endpoints.size() > 1)
    url.shape = redis_url::topology::many;
  check_sense(url);
  return url;
}

}  // namespace everseen::redis
