#include "everseen/redis/transport/dispatcher.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "everseen/redis/transport/server.hpp"
#include "everseen/wire/client_protocol.hpp"

namespace everseen::redis {

namespace {

/// This many redirections in a row are followed immediately; then there is a pause, since the cluster
/// disagrees.
constexpr unsigned redirections_at_once = 4;

/// An older module is recognised by its error about arguments that it does not know. NOSESSION is the answer
/// of an `everseen serve` that remembers no answers: it was restarted.
bool denies(const reply& r) {
  return is_denial(r) || r.is_error("ERR wrong number of arguments") || r.is_error("NOSESSION");
}

/// Whether a URL of Redis leads to `everseen serve`, which lacks the commands that keep a filter on Redis.
bool is_of_everseen(const reply& r) {
  return r.is_error() && r.text().find(wire::unknown_here) != std::string_view::npos;
}

/// A server does nothing else for the connection during a WAIT, so it must answer long before the time limit.
std::string wait_of(const redis_url& url) {
  const auto time = std::clamp<std::chrono::milliseconds>(url.timeout / 2, std::chrono::milliseconds(1),
                                                          std::chrono::seconds(1));
  return encode({"WAIT", std::to_string(url.wait_replicas), std::to_string(time.count())});
}

/// The answer to the commands of two calls of one request.
answer joined(answer first, answer second) {
  if (first && second) {
    std::ranges::move(*second, std::back_inserter(*first));
    return first;
  }
  const auto may_have_run = [](const answer& a) { return a || a.error().may_have_run; };
  const bool either = may_have_run(first) || may_have_run(second);
  answer& lost = first ? second : first;
  lost.error().may_have_run = either;
  return std::move(lost);
}

}  // namespace

dispatcher::dispatcher(const redis_url& url)
    : url_(url), wait_(wait_of(url)), map_request_{{}, encode({"CLUSTER", "SLOTS"}), 1, true} {
  if (url.tls) tls_.emplace(url);
}

dispatcher::~dispatcher() = default;

/// Each command of a request that is not repeatable is a call of its own, so that only refused commands are
/// sent again.
std::vector<answer> dispatcher::run(std::span<const request> requests) {
  std::vector<call> calls;
  calls.reserve(requests.size());
  for (const request& r : requests) {
    if (r.repeatable || r.commands == 1)
      calls.emplace_back(r);
    else
      for (const std::string_view command : split_commands(r.wire)) calls.emplace_back(r, command, 1);
  }
  complete(calls);
  std::vector<answer> answers;
  answers.reserve(requests.size());
  const request* last = nullptr;
  for (call& c : calls) {
    if (last == &c.asked())
      answers.back() = joined(std::move(answers.back()), std::move(c.outcome));
    else
      answers.push_back(std::move(c.outcome));
    last = &c.asked();
  }
  return answers;
}

std::vector<answer> dispatcher::run_on_masters(const request& r) {
  if (is_cluster())
    if (answer known = learn_map(); !known) return {std::move(known)};
  std::vector<call> calls;
  for (const endpoint& e : is_cluster() ? slots_.masters() : url_.endpoints) calls.emplace_back(r, e);
  complete(calls);
  std::vector<answer> answers;
  for (call& c : calls) answers.push_back(std::move(c.outcome));
  return answers;
}

void dispatcher::complete(std::span<call> calls) try {
  open_ = calls.size();
  loop_.poll();  // connections that have ended since the last batch
  const bool enough_time_passed = clock::now() - map_read_ > std::chrono::seconds(1);
  if (is_cluster() && map_is_old_ && (slots_.empty() || enough_time_passed)) refresh_map();
  for (call& c : calls) place(c);
  for (auto& [where, each] : servers_) each->ask_for_replicas();
  constexpr std::chrono::seconds silence{1};
  if (retry_policy_) silence_.start(silence, [this] { note_silence(); });
  while (open_ > 0) loop_.run_one();
  silence_.stop();
} catch (...) {
  abandon();
  throw;
}

/// From now on nothing may refer to the calls.
void dispatcher::abandon() noexcept {
  servers_.clear();
  parked_.clear();
  unplaced_.clear();
  map_call_.reset();
  alarm_.stop();
  silence_.stop();
}

void dispatcher::note_silence() {
  const auto silent =
      std::ranges::find_if(servers_, [](const auto& each) { return !each.second->sent.empty(); });
  if (silent == servers_.end()) return;
  in_trouble_ = true;
  retry_policy_->on_silence(name_of_server(url_, silent->first) + ": no answer yet");
}

void dispatcher::complete(call& c, answer a) {
  c.outcome = std::move(a);
  --open_;
}

void dispatcher::place(call& c) {
  if (map_call_ && &c != &*map_call_ && !c.pinned()) {
    unplaced_.push_back(&c);
  } else if (c.commands() == 0) {
    complete(c, {});
  } else if (const endpoint* e = c.pinned() ? &*c.pinned() : owner_of(c.asked().destination)) {
    server_at(*e).submit(c);
  } else {
    map_is_old_ = true;
    trouble(c, {"no server of the cluster has slot " + std::to_string(slot_of(c.asked().destination.key))},
            std::chrono::milliseconds(50));
  }
}

const endpoint* dispatcher::owner_of(const route& destination) const {
  if (is_cluster()) return slots_.owner(slot_of(destination.key));
  return &url_.endpoints[destination.partition % url_.endpoints.size()];
}

dispatcher::server& dispatcher::server_at(const endpoint& e) {
  auto& known = servers_[e];
  if (!known) known = std::make_unique<server>(*this, e);
  return *known;
}

void dispatcher::answered(server& sender, call& c, std::vector<reply> replies) {
  if (map_call_ && &c == &*map_call_) return read_map(std::move(replies));
  if (const auto refused = c.process_replies(std::move(replies), sender.where))
    return follow(sender, c, *refused);
  sender.pauses.reset();
  sender.has_answered = true;
  if (url_.wait_replicas == 0 || !c.waits_for_replicas()) return conclude(sender, c);
  sender.unacknowledged.push_back(&c);
  sender.ask_for_replicas();
}

void dispatcher::conclude(const server& sender, call& c) {
  if (in_trouble_ && retry_policy_ && !lacks_replicas()) {
    in_trouble_ = false;
    retry_policy_->on_recovered();
  }
  std::vector<reply> all = c.take_replies();
  if (!url_.is_everseen && std::ranges::any_of(all, is_of_everseen)) {
    const failure why = {name_of_server(url_, sender.where) +
                             ": it is everseen serve, whose URL begins with everseen://, everseens:// or "
                             "everseen+unix:",
                         true};
    return complete(c, tl::unexpected(c.ended_by(why)));
  }
  const bool harmless = c.asked().repeatable.time() == repetition(true).time();
  if (const auto denied = std::ranges::find_if(all, denies);
      c.may_have_run && !harmless && denied != all.end()) {
    // If this were an answer, callers would ask by other commands, and find the keys that this one added.
    const std::string who = name_of_server(url_, sender.where);
    const failure why = {denied->is_error("NOSESSION")
                             ? who + ": it was restarted, or has forgotten its answer"
                             : who + " denies a command that it may have run before: " +
                                   std::string(without_arguments(denied->text()))};
    return complete(c, tl::unexpected(c.ended_by(why)));
  }
  complete(c, std::move(all));
}

void dispatcher::follow(server& sender, call& c, const refusal& r) {
  // Over the connection that sent this reply: submit() might replace it by a new one.
  if (r.why == refusal::kind::no_script) return sender.send(c);
  failure why{name_of_server(url_, sender.where) + ": " + r.text};
  const bool elsewhere = r.why == refusal::kind::moved || r.why == refusal::kind::ask;
  if (elsewhere && !is_cluster()) {
    why = {why.message + "; it belongs to a cluster, whose URL begins with redis+cluster://", true};
    return trouble(c, why, {});
  }
  if (r.why == refusal::kind::moved) {
    slots_.assign(r.slot, r.target);
    map_is_old_ = true;
  }
  if (elsewhere && !c.pinned() && c.redirections++ < redirections_at_once) {
    if (r.why == refusal::kind::moved) return place(c);
    c.ask_for_permission();
    return server_at(r.target).submit(c);
  }
  if (r.why == refusal::kind::not_master) {
    map_is_old_ = true;
    sender.renew = !is_cluster();
  }
  c.redirections = 0;
  pause p = sender.pauses.next();
  if (url_.is_everseen && r.text.starts_with("LOADING")) {
    // It is being stopped, and closes its connections: another attempt on this one could be lost. By the end
    // of the pause, what else was sent over it has its answers.
    sender.renew = true;
    p = std::max<pause>(p, std::chrono::milliseconds(250));
  }
  trouble(c, why, p);
}

void dispatcher::lost(server& sender, const failure& why) {
  std::size_t touched = sender.sent.size() - sender.link->untouched();
  auto calls = std::exchange(sender.sent, {});
  const auto unacknowledged = std::exchange(sender.unacknowledged, {});
  const auto held = std::exchange(sender.held, {});
  sender.link.reset();
  sender.marks.clear();
  sender.lacks_replicas = false;
  if (calls.empty()) return;
  touched += unacknowledged.size();
  calls.insert(calls.begin(), unacknowledged.begin(), unacknowledged.end());
  calls.insert(calls.end(), held.begin(), held.end());
  const pause p = sender.pauses.next();
  map_is_old_ = true;
  // A link that carries some answers before it is cut makes progress: the outage begins anew, however many
  // such cuts the rest takes. A request whose answer is never carried gets no further after the others are
  // answered.
  const bool makes_progress = std::exchange(sender.has_answered, false);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == nullptr) continue;
    call& c = *calls[i];
    failure told = why;
    if (i < touched) {
      c.may_have_run = true;
      ++lost_answers_;
      told.permanent = told.permanent || !c.asked().repeatable;
    }
    c.forget_permission();
    if (makes_progress) c.trouble_since.reset();
    trouble(c, told, p);
  }
}

tl::expected<endpoint, outage> dispatcher::server_of(const route& destination) {
  if (is_cluster() && slots_.empty())
    if (answer known = learn_map(); !known) return tl::unexpected(std::move(known.error()));
  if (const endpoint* const found = owner_of(destination)) return *found;
  return tl::unexpected(
      outage{"no server of the cluster has slot " + std::to_string(slot_of(destination.key)), false});
}

/// Asks for the slots, even if they were just read. A request without a command is answered once they are
/// known.
answer dispatcher::learn_map() {
  map_is_old_ = true;
  map_read_ = {};
  const request no_command{{}, {}, 0, true};
  return std::move(run(std::span(&no_command, 1)).front());
}

void dispatcher::refresh_map() {
  if (map_call_) return;
  candidates_ = map_candidates();
  ask_next_candidate();
}

/// All known servers, the best last: those that are connected and had no trouble.
std::vector<endpoint> dispatcher::map_candidates() const {
  std::vector<endpoint> all = slots_.members();
  for (const endpoint& e : url_.endpoints)
    if (std::ranges::find(all, e) == all.end()) all.push_back(e);
  std::ranges::reverse(all);
  const auto is_doubtful = [this](const endpoint& e) {
    const auto known = servers_.find(e);
    return known != servers_.end() && !known->second->pauses.is_fresh();
  };
  const auto is_up = [this](const endpoint& e) {
    const auto known = servers_.find(e);
    return known != servers_.end() && known->second->link != nullptr;
  };
  const auto rest = std::stable_partition(all.begin(), all.end(), is_doubtful);
  std::stable_partition(rest, all.end(), [&](const endpoint& e) { return !is_up(e); });
  return all;
}

void dispatcher::ask_next_candidate() {
  fail_overdue();
  if (candidates_.empty()) return map_unknown();
  map_call_.emplace(map_request_, candidates_.back());
  candidates_.pop_back();
  place(*map_call_);
}

void dispatcher::read_map(std::vector<reply> replies) {
  const endpoint asked = *map_call_->pinned();
  if (auto map = slot_map::from_reply(replies.front(), asked)) {
    slots_ = std::move(*map);
    return map_known();
  }
  const std::string_view message = replies.front().text();
  const bool alone = message.find("cluster support disabled") != std::string_view::npos;
  map_failure_ = {"redis at " + to_string(asked) + ": ", alone};
  if (alone)
    map_failure_.message += "it is no cluster; its URL begins with redis://";
  else
    map_failure_.message += message.empty() ? "it knows no servers of its cluster" : std::string(message);
  ask_next_candidate();
}

void dispatcher::map_known() {
  map_call_.reset();
  map_is_old_ = false;
  map_read_ = clock::now();
  for (call* c : std::exchange(unplaced_, {})) place(*c);
}

/// Each candidate may take a while to fail. At least one of them is waited for.
void dispatcher::fail_overdue() {
  const auto current = clock::now();
  const auto enough = std::max(url_.retry_for, url_.connect_timeout);
  for (call*& c : unplaced_) {
    if (!c->trouble_since) c->trouble_since = current;
    if (current < *c->trouble_since + enough) continue;
    trouble(*c, map_failure_, {});
    c = nullptr;
  }
  std::erase(unplaced_, nullptr);
}

void dispatcher::map_unknown() {
  map_call_.reset();
  for (call* c : std::exchange(unplaced_, {})) trouble(*c, map_failure_, std::chrono::milliseconds(50));
}

// What must be on replicas before it counts as answered.

/// Only the WAIT is repeated, over the connection that wrote: a WAIT refers to the last writes of its own
/// connection. While the slot of the mark moves, no server may accept it: then the count is that of the
/// calls' own writes.
/// @param replies  to a mark, if one was sent, and to a WAIT
void dispatcher::replicas_told(server& sender, std::span<const reply> replies) {
  const reply& mark = replies.front();
  const bool has_moved = mark.is_error("MOVED") || mark.is_error("ASK");
  if (mark.is_error() && !has_moved) return waits_refused(sender, mark);
  if (replies.back().is_error()) return waits_refused(sender, replies.back());
  const auto answered = std::exchange(sender.unacknowledged, {});
  const auto held = std::exchange(sender.held, {});
  const std::int64_t there = replies.back().integer();
  const bool enough = there >= static_cast<std::int64_t>(url_.wait_replicas);
  const std::string lack = "only " + std::to_string(there) + " of the " + std::to_string(url_.wait_replicas) +
                           " replicas that wait= requires have the writes of redis at " +
                           to_string(sender.where) + ". Check the replicas, or require fewer";
  sender.lacks_replicas = !enough;
  sender.acknowledged_at = enough && !has_moved ? sender.asked_at : clock::time_point{};
  for (call* c : answered) {
    if (enough) {
      conclude(sender, *c);
      continue;
    }
    c->may_have_run = true;
    wait_for_replicas(*c, sender.unacknowledged, {lack});
  }
  for (call* c : held)
    enough ? sender.send(*c) : wait_for_replicas(*c, sender.held, {lack + "; nothing was added there"});
  sender.ask_for_replicas(!has_moved);
}

void dispatcher::wait_for_replicas(call& c, std::vector<call*>& among, const failure& why) {
  if (!c.trouble_since) c.trouble_since = clock::now();
  if (tries_again(c, why))
    among.push_back(&c);
  else
    complete(c, tl::unexpected(c.ended_by(why)));
}

/// If so, an answer to a call that waits for no replicas does not mean that the outage has ended.
bool dispatcher::lacks_replicas() const {
  return std::ranges::any_of(servers_, [](const auto& each) { return each.second->lacks_replicas; });
}

/// The server is no longer a master, takes no writes for now, has no memory left for the mark, or an ACL
/// forbids the mark or WAIT. What was held is refused by a full server itself, or needs no memory.
void dispatcher::waits_refused(server& sender, const reply& r) {
  const std::string message =
      "redis at " + to_string(sender.where) + " refused what wait= requires: " + std::string(r.text());
  sender.lacks_replicas = false;
  sender.acknowledged_at = {};
  map_is_old_ = true;
  sender.renew = !is_cluster();
  const pause p = sender.pauses.next();
  for (call* c : std::exchange(sender.unacknowledged, {})) {
    c->may_have_run = true;
    ++lost_answers_;
    trouble(*c, {message, is_denial(r) || !c->asked().repeatable}, p);
  }
  for (call* c : std::exchange(sender.held, {}))
    r.is_error("OOM") ? sender.send(*c) : trouble(*c, {message, is_denial(r)}, p);
}

// What a dispatcher does with calls that got no answer: it sends them again, after a pause, until the outage
// has lasted for too long.

void dispatcher::trouble(call& c, const failure& why, pause p) {
  if (map_call_ && &c == &*map_call_) {
    map_failure_ = why;
    return ask_next_candidate();
  }
  if (!c.trouble_since) c.trouble_since = std::max(c.begun, clock::now() - why.silent_for);
  if (may_be_forgotten(c)) {
    const failure too_old = {why.message + "; the server may have forgotten its first answer", why.permanent};
    return complete(c, tl::unexpected(c.ended_by(too_old)));
  }
  if (why.permanent || !tries_again(c, why)) return complete(c, tl::unexpected(c.ended_by(why)));
  park(c, p);
}

namespace {

constexpr std::chrono::seconds longest_pause{1};

}  // namespace

std::chrono::milliseconds dispatcher::keeps_answers() const noexcept {
  if (retry_policy_ && retry_policy_->may_take_hours()) return answers_kept_in_an_outage;
  constexpr auto most = answers_kept_in_an_outage;
  const auto last_attempt = std::min<std::chrono::milliseconds>(url_.timeout, most) +
                            std::min<std::chrono::milliseconds>(url_.connect_timeout, most) + longest_pause;
  return std::clamp(std::min<std::chrono::milliseconds>(url_.retry_for, most) + 2 * last_attempt,
                    answers_kept, most);
}

/// Whether the server may have forgotten its answer to the first attempt when the next one arrives. Then the
/// next one would be a new batch, and keys that the first one added would be `seen`. A request that is not
/// repeatable is not sent again after it ran, so nothing of it can be forgotten.
bool dispatcher::may_be_forgotten(const call& c) const {
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - c.begun);
  return c.asked().repeatable && c.may_have_run &&
         age > c.asked().repeatable.time() - url_.timeout - url_.connect_timeout - longest_pause;
}

bool dispatcher::tries_again(const call& c, const failure& why) {
  if (!retry_policy_) return c.in_trouble_for() < url_.retry_for;
  in_trouble_ = true;
  return retry_policy_->tries_again({why.message, c.in_trouble_for(), url_.retry_for});
}

void dispatcher::park(call& c, pause p) {
  // The last attempt is made at the end of the time, not before.
  const auto next = clock::now() + p;
  const auto due = retry_policy_ ? next : std::min(next, *c.trouble_since + url_.retry_for);
  parked_.emplace_back(due, &c);
  if (parked_.size() == 1 || due < alarm_at_) set_alarm(due);
}

void dispatcher::set_alarm(clock::time_point deadline) {
  alarm_at_ = deadline;
  alarm_.start(deadline - clock::now(), [this] { wake(); });
}

void dispatcher::wake() {
  const auto waits = [now = clock::now()](const auto& entry) { return entry.first > now; };
  const auto due = std::stable_partition(parked_.begin(), parked_.end(), waits);
  const std::vector woken(due, parked_.end());
  parked_.erase(due, parked_.end());
  if (!parked_.empty()) set_alarm(std::ranges::min_element(parked_)->first);
  if (is_cluster() && map_is_old_) refresh_map();
  for (const auto& [time, c] : woken) place(*c);
}

}  // namespace everseen::redis
