#include "everseen/client/batch_sender.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/wire/client_protocol.hpp"
#include "everseen/wire/request_parser.hpp"

namespace everseen::client {

batch_sender::batch_sender(const server_link& link, const key_question& q, const partition_batch& batch)
    : link_(link),
      question_(q),
      batch_(batch),
      parts_(parts_of(batch.keys)),
      connections_(link.take()),
      numbering_(q.adds ? &link.numbering_of(*connections_) : nullptr) {}

std::optional<batch_failure> batch_sender::send() {
  if (std::ranges::any_of(batch_.keys, is_too_long))
    keep_failure(
        {batch_failure::cause::key, "a key is longer than 16 MiB, the limit of a request to the server", {}});
  while (done_ < parts_.size() && !(failure_ && failure_->ends_batch())) {
    if (numbering_ != nullptr && numbering_->session.empty()) begin_session();
    if (failure_ && failure_->ends_batch()) break;
    send_some(std::min(wire::requests_in_flight, parts_.size() - done_));
  }
  if (numbering_ != nullptr && failure_ && failure_->ends_batch()) numbering_->session.clear();
  return std::move(failure_);
}

void batch_sender::begin_session() {
  try {
    link_.begin_session(*connections_, *numbering_);
  } catch (const error& why) {
    keep_failure({batch_failure::cause::backend, why.what(), {}});
  }
}

void batch_sender::send_some(std::size_t count) {
  request_numbering* const in = numbering_;
  // If this throws, the session stays empty, since its next numbers are used up.
  request_numbering used = in != nullptr ? std::exchange(*in, {}) : request_numbering{};
  const std::uint64_t first = used.next - done_;  // the number of the first part of all
  std::vector<redis::request> requests;
  requests.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    requests.push_back(request_for(question_, batch_, parts_[done_ + i], in != nullptr ? &used : nullptr));
  const std::vector<redis::answer> answers = connections_->exchange(requests);
  if (in != nullptr) *in = std::move(used);
  for (const redis::answer& answer : answers) {
    const next then = take(answer);
    if (then == next::send_again) in->next = first + done_;
    if (then != next::go_on) return;
  }
}

batch_sender::next batch_sender::take(const redis::answer& answer) {
  if (!answer) {
    const redis::outage& why = answer.error();
    keep_failure(
        {batch_failure::cause::backend,
         why.message + (why.may_have_run && question_.adds
                            ? "; it may have added keys without answering, which are seen from now on"
                            : ""),
         {}});
    return next::stop;
  }
  const redis::reply& first = answer->front();
  // No answer was lost, or this would be an outage: the part was not judged, and begins another session.
  if (numbering_ != nullptr && first.is_error("NOSESSION") && !early_ && !std::exchange(is_refused_, true)) {
    numbering_->session.clear();
    return next::stop;
  }
  // After an outage, parts may arrive in another order. All parts before this one have their answers.
  if (numbering_ != nullptr && first.is_error("EARLY") && early_ != done_) {
    early_ = done_;
    return next::send_again;
  }
  is_refused_ = false;
  if (auto why = take_answer(first, question_, batch_, parts_[done_])) {
    if (first.is_error()) why->message = link_.server() + ": " + why->message;
    const bool ends = why->ends_batch();
    keep_failure(*std::move(why));
    if (ends) return next::stop;
  }
  ++done_;
  return next::go_on;
}

/// As in filter::add: keeps the first failure, unless a later one ended the batch.
void batch_sender::keep_failure(batch_failure why) {
  if (!failure_ || why.ends_batch()) failure_ = std::move(why);
}

namespace {

/// Bytes of a request. Enough to make its answer cheap, few enough for the server to judge one part while the
/// next arrives, and for a link that is cut again and again to carry it: a request counts only if it arrives
/// whole.
constexpr std::size_t most_bytes = std::size_t{32} << 10;
/// Of these, for each key beside its own, with its time.
constexpr std::size_t beside_a_key = 16;

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
                           request_numbering* in) {
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
