#include "everseen/redis/wire/url_options.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/url_text.hpp"

namespace everseen::redis {

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
