#include "everseen/client/batch_parts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/wire/client_protocol.hpp"
#include "everseen/wire/request_parser.hpp"

namespace everseen::client {

namespace {

/// Bytes of a request. Enough to make its answer cheap, few enough for the server to judge one part while the
/// next arrives, and for a link that is cut again and again to carry it: a request counts only if it arrives
/// whole.
constexpr std::size_t most_bytes = std::size_t{32} << 10;
/// Of these, for each key beside its own, with its time.
constexpr std::size_t beside_a_key = 16;

constexpr redis::repetition remembered{wire::batch_session_idle};

void append_times(std::string& wire, std::span<const event_time> times) {
  redis::append_word(wire, "TIMES");
  redis::begin_word(wire, times.size() * wire::time_bytes);
  for (const event_time t : times) {
    std::array<std::byte, wire::time_bytes> bytes;
    store_le(bytes.data(), static_cast<std::int64_t>(t.time_since_epoch().count()));
    wire.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  redis::end_word(wire);
}

batch_failure not_understood() {
  return {batch_failure::cause::format,
          "everseen serve sent an invalid answer; use the same version of everseen on both sides",
          {}};
}

}  // namespace

bool is_too_long(std::string_view key) noexcept {
  return key.size() > wire::request_limits{}.argument_bytes;
}

std::vector<batch_part> parts_of(std::span<const std::string_view> keys) {
  std::vector<batch_part> parts;
  std::size_t bytes = 0;
  bool is_open = false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (is_too_long(keys[i])) {
      is_open = false;
      continue;
    }
    const std::size_t needed = keys[i].size() + beside_a_key;
    if (!is_open || bytes + needed > most_bytes) {
      parts.push_back({i, 0});
      bytes = 0;
      is_open = true;
    }
    ++parts.back().count;
    bytes += needed;
  }
  return parts;
}

redis::request request_for(const key_question& q, const partition_batch& batch, const batch_part& part,
                           batch_numbering* in) {
  const auto keys = batch.keys.subspan(part.first, part.count);
  const bool has_times = q.has_window && !batch.times.empty();
  const std::size_t fixed = 6 + (has_times ? 2 : 0) + (in != nullptr ? 3 : 0);
  std::size_t bytes = has_times && batch.times.size() > 1 ? keys.size() * wire::time_bytes : 0;
  constexpr std::size_t beside_all = 512;
  for (const std::string_view key : keys) bytes += key.size() + beside_a_key;
  std::string wire;
  wire.reserve(bytes + q.filter.size() + beside_all);
  redis::begin_command(wire, fixed + keys.size());
  redis::append_word(wire, q.adds ? "EVERSEEN.ADD" : "EVERSEEN.CHECK");
  redis::append_word(wire, q.filter);
  if (has_times && batch.times.size() == 1) {
    redis::append_word(wire, "TIME");
    redis::append_word(wire, std::to_string(batch.times.front().time_since_epoch().count()));
  } else if (has_times) {
    append_times(wire, batch.times.subspan(part.first, part.count));
  }
  redis::append_word(wire, "OF");
  redis::append_word(wire, q.fingerprint);
  if (in != nullptr) {
    redis::append_word(wire, "SESSION");
    redis::append_word(wire, in->session);
    redis::append_word(wire, std::to_string(in->next++));
  }
  redis::append_word(wire, "DIGITS");
  redis::append_word(wire, "ITEMS");
  for (const std::string_view key : keys) redis::append_word(wire, key);
  return {{}, std::move(wire), 1, in != nullptr ? remembered : redis::repetition(true)};
}

std::optional<batch_failure> take_answer(const redis::reply& answer, const key_question& q,
                                         const partition_batch& batch, const batch_part& part) {
  if (answer.is_error()) {
    try {
      std::rethrow_exception(exception_of(answer, q.filter));
    } catch (const parameter_error& e) {  // the filter is gone, or not for this user
      return batch_failure{batch_failure::cause::storage, e.what(), {}};
    } catch (const error&) {
      return batch_failure::from_current_exception();
    }
  }
  const bool is_whole = answer.what() == redis::reply::kind::string;
  const redis::reply digits = is_whole ? answer : answer[0];
  const std::string_view text = digits.text();
  if (text.size() != part.count || std::ranges::any_of(text, [](char c) { return c < '0' || c > '3'; }))
    return not_understood();
  std::ranges::transform(text, batch.out.begin() + static_cast<std::ptrdiff_t>(part.first),
                         [](char c) { return static_cast<verdict>(c - '0'); });
  if (is_whole) return std::nullopt;
  const redis::reply cause = answer[1], message = answer[2];
  return batch_failure{
      wire::cause_of(cause.text()).value_or(batch_failure::cause::storage), std::string(message.text()), {}};
}

}  // namespace everseen::client
