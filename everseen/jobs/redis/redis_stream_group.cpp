#include "everseen/jobs/redis/redis_stream_group.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/block_reader.hpp"
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

void group::create() {
  const std::string_view from = url_.from_latest ? "$" : "0";
  const redis::request r{
      where_, redis::encode({"EVAL", redis_stream::create_group, "1", url_.stream, url_.group, from}), 1,
      true};
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

group::view group::current_view() {
  const redis::reply told = ask({"EVAL", redis_stream::view_group, "1", url_.stream, url_.group});
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

namespace {

constexpr unsigned sequence_bits = 20;
constexpr std::uint64_t max_sequence = (std::uint64_t{1} << sequence_bits) - 1;
constexpr std::uint64_t max_milliseconds = (std::uint64_t{1} << 44) - 1;

void append_string(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte < 0x20)
      out.append("\\u00").append({hex[byte >> 4], hex[byte & 15]});
    else
      out += c;
  }
  out += '"';
}

/// @return whether the entry has the field
bool append_record(std::string& out, const redis::reply& fields, std::string_view field) {
  if (field.empty()) {
    append_json(out, fields);
    return true;
  }
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
    if (fields[i].text() == field) {
      out += fields[i + 1].text();
      return true;
    }
  return false;
}

/// What a batch owns of its entries.
struct kept_entries {
  redis::reply tree;  // has the fields
  std::string bytes{};
  std::vector<record_envelope> envelopes{};
  std::vector<std::string_view> words{};
};

}  // namespace

std::optional<std::uint64_t> position_of(std::string_view id) noexcept {
  const std::size_t dash = id.find('-');
  if (dash == std::string_view::npos) return {};
  const auto milliseconds = read_number(id.substr(0, dash));
  const auto sequence = read_number(id.substr(dash + 1));
  if (!milliseconds || !sequence || *milliseconds > max_milliseconds || *sequence > max_sequence) return {};
  return *milliseconds << sequence_bits | *sequence;
}

std::string id_of(std::uint64_t position) {
  return std::to_string(position >> sequence_bits) + '-' + std::to_string(position & max_sequence);
}

void append_json(std::string& out, const redis::reply& fields) {
  char before = '{';
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    out += std::exchange(before, ',');
    append_string(out, fields[i].text());
    out += ':';
    append_string(out, fields[i + 1].text());
  }
  out += before == '{' ? "{}" : "}";
}

std::size_t read_entries(const redis::reply& entries, std::string_view field, source_batch& into) {
  const auto memory = std::make_shared<kept_entries>();
  memory->tree = entries;
  struct placed {
    std::uint64_t position;
    std::size_t end;           // of the record's bytes, which move as they grow
    std::size_t end_of_words;  // the same
  };
  std::vector<placed> ends;
  std::size_t gone = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const redis::reply entry = entries[i];
    const auto position = position_of(entry[0].text());
    if (!position)
      throw format_error("the stream has an entry with the id " + std::string(entry[0].text()) +
                         ", which is no time in ms and a sequence below 2^20; give ids by *");
    if (entry[1].is_nil()) {
      ++gone;
      continue;
    }
    record_envelope& envelope = memory->envelopes.emplace_back();
    envelope.has_value = append_record(memory->bytes, entry[1], field);
    envelope.time = std::chrono::milliseconds(*position >> sequence_bits);
    for (std::size_t word = 0; word < entry[1].size(); ++word) memory->words.push_back(entry[1][word].text());
    ends.push_back({*position, memory->bytes.size(), memory->words.size()});
    memory->bytes += '\0';  // what follows a record must not matter: field_reader
  }
  memory->bytes.append(block_reader::padding, '\0');
  std::size_t begin = 0, first_word = 0;
  into.records.clear();
  into.records.reserve(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto& [position, end, end_of_words] = ends[i];
    record_envelope& envelope = memory->envelopes[i];
    envelope.fields = std::span(memory->words).subspan(first_word, end_of_words - first_word);
    into.records.push_back({std::string_view(memory->bytes).substr(begin, end - begin), position, &envelope});
    begin = end + 1;
    first_word = end_of_words;
  }
  into.memory = memory;
  return gone;
}

}  // namespace everseen::redis_stream
