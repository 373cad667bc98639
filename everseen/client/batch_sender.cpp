#include "everseen/client/batch_sender.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "everseen/redis/wire/random_name.hpp"
#include "everseen/wire/client_protocol.hpp"

namespace everseen::client {

batch_sender::batch_sender(const server_link& link, const key_question& q, const partition_batch& batch)
    : link_(link),
      question_(q),
      batch_(batch),
      parts_(parts_of(batch.keys)),
      with_(link.take()),
      numbering_(q.adds ? &link.numbering_of(*with_) : nullptr) {}

std::optional<batch_failure> batch_sender::send() {
  if (std::ranges::any_of(batch_.keys, is_too_long))
    note(
        {batch_failure::cause::key, "a key is longer than 16 MiB, the limit of a request to the server", {}});
  while (done_ < parts_.size() && !(failure_ && failure_->ends_batch())) {
    if (numbering_ != nullptr && numbering_->session.empty()) begin_session();
    if (failure_ && failure_->ends_batch()) break;
    send_some(std::min(wire::batches_in_flight, parts_.size() - done_));
  }
  if (numbering_ != nullptr && failure_ && failure_->ends_batch()) numbering_->session.clear();
  return std::move(failure_);
}

/// By itself: a command that is sent again together with a batch would make a restarted server forget that
/// the batch may have been judged. An id that is taken was begun by an attempt whose answer was lost.
void batch_sender::begin_session() {
  for (;;) {
    const std::string id = redis::random_name();
    const std::uint64_t lost_before = with_->lost_answers();
    const redis::request asked{{}, redis::encode({"EVERSEEN.SESSION", id}), 1, true};
    const auto answers = with_->exchange(std::span(&asked, 1));
    if (!answers.front()) return note({batch_failure::cause::backend, answers.front().error().message, {}});
    const redis::reply& said = answers.front()->front();
    if (!said.is_error()) return void(*numbering_ = {id, 1});
    if (with_->lost_answers() == lost_before)
      return note({batch_failure::cause::backend, link_.server() + ": " + std::string(said.text()), {}});
  }
}

void batch_sender::send_some(std::size_t count) {
  batch_numbering* const in = numbering_;
  // If this throws, the session stays empty, since its next numbers are used up.
  batch_numbering used = in != nullptr ? std::exchange(*in, {}) : batch_numbering{};
  const std::uint64_t first = used.next - done_;  // the number of the first part of all
  std::vector<redis::request> requests;
  requests.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    requests.push_back(request_for(question_, batch_, parts_[done_ + i], in != nullptr ? &used : nullptr));
  const std::vector<redis::answer> answers = with_->exchange(requests);
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
    note({batch_failure::cause::backend,
          why.message + (why.may_have_run && question_.adds
                             ? "; it may have added keys without answering, which are seen from now on"
                             : ""),
          {}});
    return next::stop;
  }
  const redis::reply& said = answer->front();
  // No answer was lost, or this would be an outage: the part was not judged, and begins another session.
  if (numbering_ != nullptr && said.is_error("NOSESSION") && !early_ && !std::exchange(is_refused_, true)) {
    numbering_->session.clear();
    return next::stop;
  }
  // After an outage, parts may arrive in another order. All parts before this one have their answers.
  if (numbering_ != nullptr && said.is_error("EARLY") && early_ != done_) {
    early_ = done_;
    return next::send_again;
  }
  is_refused_ = false;
  if (auto why = take_answer(said, question_, batch_, parts_[done_])) {
    if (said.is_error()) why->message = link_.server() + ": " + why->message;
    const bool ends = why->ends_batch();
    note(*std::move(why));
    if (ends) return next::stop;
  }
  ++done_;
  return next::go_on;
}

/// As in filter::add: keeps the first failure, unless a later one ended the batch.
void batch_sender::note(batch_failure why) {
  if (!failure_ || why.ends_batch()) failure_ = std::move(why);
}

}  // namespace everseen::client
