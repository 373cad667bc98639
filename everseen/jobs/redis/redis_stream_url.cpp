#include "everseen/jobs/redis/redis_stream_url.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/url_text.hpp"

namespace everseen {

namespace {

using text = std::string_view;
constexpr text redis_stream_scheme = "redis-stream:";

std::string filled(text name, text value) {
  std::string decoded = url_text::decode(name, value);
  if (decoded.empty() || decoded.find('\0') != std::string::npos || decoded.size() > 512)
    throw parameter_error(std::string(name) + " must have 1 to 512 bytes, and no zero byte");
  return decoded;
}

std::chrono::milliseconds to_silence(text value) {
  const auto time = url_text::to_duration("claim_after", value);
  if (time < std::chrono::milliseconds(100))
    throw parameter_error(
        "claim_after= is at least 100ms: after this silence others consider a worker crashed");
  return time;
}

/// Lanes are named STREAM/GROUP/CONSUMER. Only the first part may have slashes, so the names are unique.
std::string filled_without_slash(text subject, text value) {
  std::string name = filled(subject, value);
  if (name.find('/') != text::npos)
    throw parameter_error(std::string(subject) + " has a slash, which separates names; leave it out");
  return name;
}

struct redis_stream_option {
  text name;
  void (*set)(redis_stream_url&, text value);
};
constexpr std::array<redis_stream_option, 8> redis_stream_options{{
    {"group", [](redis_stream_url& u, text v) { u.group = filled_without_slash("group=", v); }},
    {"consumer", [](redis_stream_url& u, text v) { u.consumer = filled_without_slash("consumer=", v); }},
    {"start", [](redis_stream_url& u,
                 text v) { u.from_latest = url_text::is_second("start", v, "earliest", "latest"); }},
    {"field", [](redis_stream_url& u, text v) { u.field = filled("field=", v); }},
    {"claim_after", [](redis_stream_url& u, text v) { u.claim_after = to_silence(v); }},
    {"gap", [](redis_stream_url& u, text v) { u.skip_gaps = url_text::is_second("gap", v, "fail", "skip"); }},
    {"until",
     [](redis_stream_url& u, text v) { u.until_end = url_text::is_second("until", v, "stopped", "end"); }},
    {"maxlen", [](redis_stream_url& u,
                  text v) { u.max_length = url_text::to_number("maxlen", v, std::uint64_t{1} << 53); }},
}};

void read_options(redis_stream_url& url, text rest) {
  std::set<text> given;
  for (const text part : url_text::split(rest, '&')) {
    const text name = part.substr(0, part.find('='));
    const auto known = std::ranges::find(redis_stream_options, name, &redis_stream_option::name);
    if (known == redis_stream_options.end() || name.size() == part.size()) {
      std::string names;
      for (const redis_stream_option& o : redis_stream_options)
        names += (names.empty() ? "" : ", ") + std::string(o.name);
      throw parameter_error("a Redis stream has the options NAME=VALUE with the names " + names +
                            "; options of the server follow after @, as in "
                            "redis-stream:clicks?group=g@redis://host:6379");
    }
    if (!given.insert(known->name).second)
      throw parameter_error("the stream's URL has " + std::string(name) + " twice");
    known->set(url, part.substr(name.size() + 1));
  }
}

}  // namespace

bool is_redis_stream_url(std::string_view url) noexcept {
  return url.starts_with(redis_stream_scheme);
}

redis_stream_url parse_redis_stream_url(std::string_view written) {
  if (!is_redis_stream_url(written))
    throw parameter_error("a Redis stream is written as redis-stream:NAME?group=GROUP");
  redis_stream_url url;
  text rest = written.substr(redis_stream_scheme.size());
  if (const std::size_t position = rest.find('@'); position != text::npos) {
    url.server = redis::parse_redis_url(rest.substr(position + 1));
    rest = rest.substr(0, position);
  }
  const std::size_t question = std::min(rest.find('?'), rest.size());
  url.stream = filled("the name of the stream", rest.substr(0, question));
  static_cast<void>(key_beside(url.stream, "x"));  // refuses a name that leaves no room for keys beside it
  if (question < rest.size()) read_options(url, rest.substr(question + 1));
  return url;
}

/// Redis places a key by the text between its first { and the next }, if there is any, and else by the whole
/// key. The keys beside a stream repeat that text.
std::string key_beside(std::string_view stream, std::string_view subject) {
  std::string key(stream);
  const std::size_t open = stream.find('{');
  const std::size_t close = open == text::npos ? text::npos : stream.find('}', open);
  const bool tagged = close != text::npos && close > open + 1;
  if (!tagged && stream.find_first_of("{}") != text::npos)
    throw parameter_error(
        "the name of the stream has braces that are not a hash tag, so no other key can share its slot in a "
        "cluster; name it without braces, or as in {clicks}:raw");
  if (!tagged) key = '{' + key + '}';
  return key.append(":everseen:").append(subject);
}

}  // namespace everseen
