#include "everseen/serve/service/request_sessions.hpp"

#include <iterator>
#include <utility>

#include "everseen/wire/client_protocol.hpp"

namespace everseen::serve {

namespace {

constexpr std::size_t longest_id = 64;

/// Memory of a session beside its answers.
constexpr std::size_t bytes_beside_answers = 1024;

refusal no_session(const std::string& why) {
  return {"NOSESSION " + why + "; begin another one"};
}

}  // namespace

void request_sessions::begin(std::string_view id, clock::time_point current_time) {
  if (id.empty() || id.size() > longest_id)
    throw refusal{"ERR the id of a session has 1 to " + std::to_string(longest_id) + " bytes"};
  by_use made;
  made.push_back(std::make_shared<session>());
  made.front()->id = id;
  made.front()->used = current_time;
  made.front()->counted_bytes = bytes_beside_answers;
  const std::scoped_lock alone(lock_);
  if (!places_.emplace(made.front()->id, made.begin()).second)
    throw refusal{"ERR there is a session of this id; take another id"};
  sessions_.splice(sessions_.end(), made);
  bytes_ += bytes_beside_answers;
  remove_old(current_time);
}

std::shared_ptr<request_sessions::session> request_sessions::find(std::string_view id,
                                                                  clock::time_point current_time) {
  const std::scoped_lock alone(lock_);
  const auto found = places_.find(id);
  if (found == places_.end()) return nullptr;
  const auto place = found->second;
  sessions_.splice(sessions_.end(), sessions_, place);
  (*place)->used = current_time;
  return *place;
}

// A request that was run is answered again from memory, so its retry does nothing. One that overtook another
// is refused, since a client's keys are judged in their order. After a failure all later ones are refused, or
// keys would be judged that come after keys without a verdict.
std::string request_sessions::run(std::string_view id, std::uint64_t number, clock::time_point current_time,
                                  const std::function<answer()>& work) {
  const auto s = find(id, current_time);
  if (!s) throw no_session("there is no such session: it was idle for long, or the server was restarted");
  const std::unique_lock alone(s->busy, std::try_to_lock);
  if (!alone) throw refusal{"BUSY a request of the session is being run, or waits for the store"};
  if (number > s->next && !s->has_ended)
    throw refusal{"EARLY request " + std::to_string(s->next) + " of the session comes before request " +
                  std::to_string(number)};
  if (number < s->next) {
    const std::uint64_t ago = s->next - number;
    if (number == 0 || ago > s->answers.size() || s->answers[s->answers.size() - ago].empty())
      throw no_session("the answer to this request was forgotten");
    return s->answers[s->answers.size() - ago];
  }
  if (s->has_ended) throw refusal{"ENDED an earlier batch of this session failed"};
  s->answers.emplace_back();
  ++s->next;
  s->has_ended = true;  // if memory runs out while it runs
  answer given;
  try {
    given = work();
  } catch (const not_begun&) {
    s->answers.pop_back();
    --s->next;
    s->has_ended = false;
    throw;
  }
  if (s->answers.size() > wire::requests_in_flight) s->answers.pop_front();
  s->has_ended = given.ends_session;
  s->answers.back() = std::move(given.reply);
  std::size_t bytes = bytes_beside_answers;
  for (const std::string& each : s->answers) bytes += each.capacity();
  count(s, bytes);
  return s->answers.back();
}

void request_sessions::count(const std::shared_ptr<session>& s, std::size_t bytes) {
  const std::scoped_lock alone(lock_);
  const auto found = places_.find(s->id);
  if (found == places_.end() || *found->second != s) return;  // it was removed meanwhile
  bytes_ += bytes - std::exchange(s->counted_bytes, bytes);
  remove_old(s->used);
}

void request_sessions::remove_old(clock::time_point current_time) {
  while (bytes_ > most_bytes) remove_first();
  while (!sessions_.empty() && current_time - sessions_.front()->used > wire::session_idle) remove_first();
}

void request_sessions::remove_first() {
  const auto oldest = std::move(sessions_.front());
  bytes_ -= oldest->counted_bytes;
  places_.erase(oldest->id);
  sessions_.pop_front();
}

}  // namespace everseen::serve
