#include "everseen/jobs/redis/redis_stream_sink.hpp"

#include <deque>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/fault_point.hpp"
#include "everseen/jobs/redis/redis_stream_scripts.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen {

namespace {

constexpr std::size_t records_a_call = 1'000;
constexpr std::size_t bytes_a_call = 1U << 20;
constexpr std::string_view default_field = "event";
/// Lua passes fewer than 8000 values to a command.
constexpr std::size_t max_fields = 3'900;

redis_stream_url checked(redis_stream_url url, const redis::redis_url& server) {
  if (!url.group.empty() || !url.consumer.empty() || url.until_end)
    throw parameter_error("group=, consumer= and until= are for a source; write them after --from");
  if (server.shape == redis::redis_url::topology::many)
    throw parameter_error(
        "a stream is on one server; name it after @, as in redis-stream:fresh@redis://host:6379");
  return url;
}

/// 20 digits, so that the text sorts like the numbers.
std::string padded(std::uint64_t position) {
  std::string digits = std::to_string(position);
  return digits.insert(0, 20 - digits.size(), '0');
}

}  // namespace

class redis_stream_sink::impl {
 public:
  impl(const redis_stream_url& url, const redis::redis_url& server, mark owner)
      : url_(checked(url, server)),
        session_(server),
        mark_(std::move(owner)),
        max_length_(url_.max_length ? std::to_string(*url_.max_length) : std::string()) {}

  void wait_with(const std::shared_ptr<retry_policy>& p) { session_.wait_with(p); }

  void begin() {
    const redis::reply kind = session_.ask({url_.stream, 0}, {"TYPE", url_.stream}, true);
    if (kind.text() != "stream" && kind.text() != "none")
      throw parameter_error(url_.stream + " holds a " + std::string(kind.text()) +
                            ", not a stream; name another");
  }

  void put(const judged_batch& batch) {
    std::vector<const source_record*> going;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < batch.from.records.size(); ++i) {
      if (!batch.goes_out(i)) continue;
      going.push_back(&batch.from.records[i]);
      bytes += bytes_of(*going.back());
      if (going.size() < records_a_call && bytes < bytes_a_call) continue;
      append(batch.from.lane, going);
      fault_point("half_put");
      going.clear();
      bytes = 0;
    }
    if (!going.empty()) append(batch.from.lane, going);
  }

 private:
  [[nodiscard]] bool has_fields(const source_record& record) const {
    return url_.field.empty() && record.envelope != nullptr && !record.envelope->fields.empty();
  }

  [[nodiscard]] std::size_t bytes_of(const source_record& record) const {
    if (!has_fields(record)) return record.bytes.size();
    std::size_t bytes = 0;
    for (const std::string_view word : record.envelope->fields) bytes += word.size();
    return bytes;
  }

  /// Appends the words of the entry, and their number.
  void write_entry(const source_record& record, std::vector<std::string_view>& words,
                   std::deque<std::string>& numbers) const {
    if (!has_fields(record)) {
      words.insert(words.end(), {"2", url_.field.empty() ? default_field : url_.field, record.bytes});
      return;
    }
    const auto& fields = record.envelope->fields;
    if (fields.size() / 2 > max_fields)
      throw parameter_error("an entry has " + std::to_string(fields.size() / 2) +
                            " fields, and one that is appended has at most " + std::to_string(max_fields) +
                            "; field=event in the URL behind --to appends it as one field, as JSON");
    words.push_back(numbers.emplace_back(std::to_string(fields.size())));
    words.insert(words.end(), fields.begin(), fields.end());
  }

  void append(const std::string& lane, const std::vector<const source_record*>& records) {
    if (cursor_.empty()) cursor_ = key_beside(url_.stream, mark_());
    std::vector<std::string> positions;
    for (const source_record* each : records) positions.push_back(padded(each->position));
    const std::vector<std::string_view> plan = {"EVAL", redis_stream::plan, "2", url_.stream, cursor_,
                                                lane,   positions.back()};
    std::vector<std::string_view> words = {"EVAL", redis_stream::append, "2", url_.stream, cursor_,
                                           lane,   max_length_};
    std::deque<std::string> numbers;  // referred to by `words`
    for (std::size_t i = 0; i < records.size(); ++i) {
      words.push_back(positions[i]);
      write_entry(*records[i], words, numbers);
    }
    const redis::request r{{url_.stream, 0}, redis::encode(plan) + redis::encode(words), 2, true};
    // Another client appended between plan and append at every attempt: something is wrong.
    for (int attempts = 0; attempts < 1'000; ++attempts)
      if (is_appended(r)) return;
    throw backend_error("other clients append to " + url_.stream + " without a pause");
  }

  /// @return false  another client has appended in between
  bool is_appended(const redis::request& r) {
    const auto answered = session_.exchange(std::span(&r, 1));
    if (!answered.front()) throw backend_error(answered.front().error().message);
    for (const redis::reply& told : *answered.front())
      if (told.is_error())
        throw backend_error("redis at " + to_string(session_.server_of({url_.stream, 0})) + ": " +
                            std::string(told.text()));
    return answered.front()->back().integer() >= 0;
  }

  redis_stream_url url_;
  redis::server_connections session_;
  mark mark_;
  std::string cursor_;
  std::string max_length_;
};

redis_stream_sink::redis_stream_sink(const redis_stream_url& url, const redis::redis_url& server, mark source)
    : impl_(std::make_unique<impl>(url, server, std::move(source))) {}
redis_stream_sink::~redis_stream_sink() = default;

void redis_stream_sink::begin(std::string_view /*note*/) {
  impl_->begin();
}

void redis_stream_sink::put(const judged_batch& batch) {
  impl_->put(batch);
}

void redis_stream_sink::wait_with(const std::shared_ptr<retry_policy>& p) {
  impl_->wait_with(p);
}

std::string redis_stream_sink::commit(std::span<const checkpoint> /*reached*/) {
  return {};
}

}  // namespace everseen
