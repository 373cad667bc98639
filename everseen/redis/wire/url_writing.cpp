#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/redis/wire/url_text.hpp"

namespace everseen::redis {

namespace {

std::string scheme_of(const redis_url& url) {
  const std::string path = url.endpoints.empty() ? "" : url.endpoints.front().unix_path;
  if (!path.empty()) return path.starts_with("//") ? "unix://" : "unix:";
  return std::string(url.tls ? "rediss" : "redis") +
         (url.shape == redis_url::topology::cluster ? "+cluster://" : "://");
}

std::string_view name_of(gear_kind gear) {
  switch (gear) {
    case gear_kind::module:
      return "module";
    case gear_kind::script:
      return "script";
    case gear_kind::bitfield:
      return "bitfield";
  }
  return "";
}

/// Only what differs from the default.
std::string options_of(const redis_url& url) {
  const redis_url plain;
  std::string written;
  const auto say = [&](std::string_view name, std::string_view value) {
    written += written.empty() ? '?' : '&';
    written.append(name).append("=").append(url_text::encode(value));
  };
  const auto say_text = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) say(name, value);
  };
  const auto say_time = [&](std::string_view name, std::chrono::milliseconds value,
                            std::chrono::milliseconds usual) {
    if (value != usual) say(name, std::to_string(value.count()) + "ms");
  };
  say_time("connect_timeout", url.connect_timeout, plain.connect_timeout);
  say_time("timeout", url.timeout, plain.timeout);
  say_time("retry_for", url.retry_for, retry_unless_told(url.shape));
  if (url.gear) say("gear", name_of(*url.gear));
  if (url.prefix != plain.prefix) say("prefix", url.prefix);
  if (url.segment_bytes != plain.segment_bytes) say("segment", std::to_string(url.segment_bytes));
  say_time("staleness", url.staleness, plain.staleness);
  if (url.mirror_bytes != plain.mirror_bytes) say("mirror", std::to_string(url.mirror_bytes));
  if (url.wait_replicas != 0) say("wait", std::to_string(url.wait_replicas));
  say_text("ca", url.ca_file);
  say_text("cert", url.cert_file);
  say_text("key", url.key_file);
  say_text("server_name", url.server_name);
  if (url.db != 0) say("db", std::to_string(url.db));
  return written;
}

std::string server_in_url(const endpoint& e) {
  if (!e.unix_path.empty()) return url_text::encode(e.unix_path);
  std::string name = to_string(e);
  if (const std::size_t zone = name.find('%'); zone != std::string::npos) name.insert(zone + 1, "25");
  return name;
}

}  // namespace

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
