#include "everseen/jobs/redis/redis_stream_group.hpp"

#include <algorithm>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/redis/redis_stream_entries.hpp"
#include "everseen/jobs/redis/redis_stream_scripts.hpp"

namespace everseen::redis_stream {

namespace {

constexpr std::size_t acknowledged_at_once = 1'000;

}  // namespace

group::group(const redis_stream_url& url, const redis::redis_url& server)
    : url_(url), where_{url.stream, 0}, reading_(server), settling_(server) {
  if (server.shape == redis::redis_url::topology::many)
    throw parameter_error(
        "a stream is on one server; name it after @, as in redis-stream:clicks?group=g@redis://host:6379");
}

consumer_name group::named(const std::string& consumer) const {
  const std::string rest = url_.group + '/' + consumer;
  return {consumer, url_.stream + '/' + rest, key_beside(url_.stream, "lease:" + rest)};
}

void group::make() {
  const std::string_view from = url_.from_latest ? "$" : "0";
  const redis::request r{
      where_, redis::encode({"EVAL", redis_stream::make, "1", url_.stream, url_.group, from}), 1, true};
  const auto answered = reading_.exchange(std::span(&r, 1));
  if (!answered.front()) throw backend_error(answered.front().error().message);
  const redis::reply& told = answered.front()->front();
  if (!told.is_error() || told.is_error("BUSYGROUP")) return;
  const std::string server = to_string(reading_.server_of(where_));
  if (told.text().find("requires the key to exist") != std::string_view::npos)
    throw parameter_error("there is no stream " + url_.stream + " on " + server +
                          "; check its name, or add its first entry: XADD " + url_.stream + " * ...");
  throw backend_error("redis at " + server + ": " + std::string(told.text()));
}

group::reading group::read(const consumer_name& as, std::uint64_t after, std::string_view count,
                           bool new_ones) {
  const std::string life = std::to_string(url_.claim_after.count());
  redis::reply told = ask({"EVAL", redis_stream::read, "2", url_.stream, as.lease, url_.group, as.name,
                           reading_.name(), life, id_of(after), count, new_ones ? "1" : "0"});
  if (told.what() != redis::reply::kind::array) return {};
  return {true, told[0].integer() == 1, told[1].integer() == 1, std::move(told)[2]};
}

void group::prolong(const consumer_name& as) {
  const std::string life = std::to_string(url_.claim_after.count());
  const redis::request r{{as.lease, 0},
                         redis::encode({"EVAL", redis_stream::prolong, "1", as.lease, reading_.name(), life}),
                         1,
                         true};
  static_cast<void>(reading_.exchange(std::span(&r, 1)));
}

void group::release(const consumer_name& as) {
  const redis::request r{
      {as.lease, 0}, redis::encode({"EVAL", redis_stream::release, "1", as.lease, reading_.name()}), 1, true};
  static_cast<void>(reading_.exchange(std::span(&r, 1)));
}

group::view group::look() {
  const redis::reply told = ask({"EVAL", redis_stream::look, "1", url_.stream, url_.group});
  if (told.what() != redis::reply::kind::array)
    throw backend_error(
        "the group " + url_.group + " of the stream " + url_.stream +
        " was removed while it was read; start again, under another --job if it is to be read "
        "from its beginning");
  view seen{told[0].integer(), told[1].integer()};
  for (std::size_t i = 2; i + 2 < told.size(); i += 3)
    if (told[i + 1].integer() > 0)
      seen.pending.push_back({std::string(told[i].text()), std::chrono::milliseconds(told[i + 2].integer())});
  return seen;
}

void group::acknowledge_by(redis::server_connections& connections,
                           const std::vector<std::uint64_t>& positions) {
  for (std::size_t from = 0; from < positions.size(); from += acknowledged_at_once) {
    const std::size_t end = std::min(positions.size(), from + acknowledged_at_once);
    std::vector<std::string> ids;
    for (std::size_t i = from; i < end; ++i) ids.push_back(id_of(positions[i]));
    std::vector<std::string_view> words = {"XACK", url_.stream, url_.group};
    words.insert(words.end(), ids.begin(), ids.end());
    const redis::request r{where_, redis::encode(words), 1, true};
    const auto answered = connections.exchange(std::span(&r, 1));
    if (!answered.front()) throw backend_error(answered.front().error().message);
  }
}

}  // namespace everseen::redis_stream
