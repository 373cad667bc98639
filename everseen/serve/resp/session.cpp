#include "everseen/serve/resp/session.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/registry/judge_batch.hpp"

// clang-format off

// How a request reaches a filter:
//
//   socket ──bytes──> receive_buffer ──in place──> request_parser ──> session: which command?
//          keys of a filter that is open: gathered_batches     all else: its own function, immediately,
//          in memory: judged here                              or on a worker if it may wait for the store
//          elsewhere: join_queue joins batches of many clients │
//                       └──────────────────┴──> reply_writer ──┘──> socket
//
// Each loop (net/loop.cpp) is a thread with connections of its own and needs no lock. HTTP is another kind of
// connection on the same loops, over the same service. single_flight allows one call per name to the store at a
// time, and bounded_retry_policy lets some of the threads wait through an outage, so one outage does not delay
// all; requests about the server itself have threads of their own. Memory that clients can make the server use is
// counted where it is allocated (byte_budget, filter_budget).

// clang-format on

namespace everseen::serve {

namespace {

/// Replies that are gathered before they are sent, and keys before they are judged: sized for the caches.
constexpr std::size_t output_pause_bytes = 256 << 10;
/// The same for a client that has not logged in: there may be many, and their input is short.
constexpr std::size_t stranger_pause_bytes = 16 << 10;
constexpr std::size_t gathered_keys = 16'384;

/// Memory for the words of a request that is not counted.
constexpr std::size_t words_for_nothing = 4 << 10;

constexpr std::string_view no_room_for_requests =
    "OOM the requests of all clients use all the memory that they may use (--max-bodies); nothing of this "
    "one was "
    "run, "
    "ask again soon";

}  // namespace

session::session(service& all, std::shared_ptr<client> who, std::function<void()> wake)
    : all_(all),
      client_(std::move(who)),
      wake_(std::move(wake)),
      parser_(all.asks_for_password() ? wire::stranger_limits : all.settings().request),
      words_(all_.requests()),
      rights_(all.asks_for_password() ? right::nothing : right::admin) {
  set_version(wire::protocol::resp2);
}

session::~session() = default;

session::progress session::run(std::string_view unread) {
  const progress p = answer(unread);
  // Added together, not one by one: all threads share the counter, and the filter's reference count.
  all_.count.commands.fetch_add(std::exchange(answered_, 0), std::memory_order_relaxed);
  held_filter_.reset();
  return p;
}

session::progress session::answer(std::string_view unread) {
  progress p;
  const std::size_t enough_output =
      output_.size() + (rights_ == right::nothing ? stranger_pause_bytes : output_pause_bytes);
  p.used = std::exchange(used_by_worker_, 0);
  while (!is_ending_) {
    if (gathered_.keys() > gathered_keys && !flush()) return p.outcome = state::suspended, p;
    if (output_.size() > enough_output) {
      if (!flush()) return p.outcome = state::suspended, p;
      return p.outcome = state::wants_room, p;
    }
    const auto parsed = parser_.next(unread.substr(p.used));
    is_in_request_ = parsed == wire::request_parser::outcome::incomplete && p.used < unread.size();
    if (parsed != wire::request_parser::outcome::request) {
      if (!flush()) return p.outcome = state::suspended, p;  // the parser finds a fault again later
      if (parsed == wire::request_parser::outcome::malformed) {
        reply_.error(parser_.fault());
        is_ending_ = true;
        break;
      }
      if (words_.hold(is_in_request_ && parser_.memory() > words_for_nothing ? parser_.memory() : 0))
        return p;
      refuse_request();
      break;
    }
    if (parser_.words().empty())
      p.used += parser_.size();
    else if (serve(parser_.words(), p) == next::stop)
      return p.outcome = state::suspended, p;
  }
  return p.outcome = state::ending, p;
}

/// Answers one request, or gathers its keys. Counts its bytes as used unless it has to wait.
session::next session::serve(word_list request, progress& p) {
  if (is_stopping_) {
    reply_.error(being_stopped);
    p.used += parser_.size();
    return next::go_on;
  }
  const command* const entry = known_command(request);
  if (entry != nullptr && entry->batched != nullptr && !transaction_ && batch(*entry, request)) {
    p.used += parser_.size();
    // The words of an inline command live in the parser until the next one.
    return parser_.is_typed() && !flush() ? next::stop : next::go_on;
  }
  // The request may depend on the gathered keys, and its reply comes after. The parser will return it again.
  if (!flush()) return next::stop;
  if (parser_.is_typed() && is_of_http(request)) {
    all_.log(telemetry::log_level::warning, "cross_protocol", {{"from", client_->address}});
    is_ending_ = true;
    return next::go_on;
  }
  const auto size = parser_.size();
  ++answered_;
  if (const auto why = entry == nullptr ? std::optional(unknown_) : why_not(*entry, request)) {
    refuse(*why);
  } else if (transaction_ && !entry->in_transaction_at_once) {
    write_down(request);
  } else if (entry->place == runs::on_worker) {
    used_by_worker_ = size;
    run_on_worker(*entry, request);
    return next::stop;
  } else {
    run_request(*entry, request);
  }
  p.used += size;
  return next::go_on;
}

bool session::batch(const command& entry, word_list request) {
  if (entry.needs > rights_ || !entry.takes(request.size())) return false;
  const auto keys = entry.batched(request);
  if (!keys || !hold_filter(request[1]) || !gathered_.put(held_filter_, *keys)) return false;
  ++answered_;
  client_->last_command.store(entry.name.data(), std::memory_order_relaxed);
  return true;
}

bool session::hold_filter(std::string_view key) {
  if (key == last_key_) {
    if (!held_filter_) held_filter_ = last_filter_.lock();
    if (held_filter_ && !held_filter_->is_gone && !held_filter_->has_expired()) return true;
  }
  held_filter_ = all_.filters().find(key);
  if (!held_filter_ || held_filter_->is_gone) return false;
  last_key_ = key;
  last_filter_ = held_filter_;
  return true;
}

bool session::flush() {
  if (gathered_.is_empty()) return true;
  if (!all_.filters().traits().batches_wait) {
    gathered_.judge();
    gathered_.write_replies(all_, reply_);
    return true;
  }
  is_suspended_ = true;
  gathered_.send([this] { wake_(); });
  return false;
}

const command* session::known_command(word_list request) {
  if (last_command_ != nullptr && request[0] == last_name_) return last_command_;
  try {
    const command& found = command_of(request);
    if (found.subcommands.empty() && found.name.size() == request[0].size()) {  // the next word is no part
      last_command_ = &found;
      last_name_ = request[0];
    }
    return &found;
  } catch (refusal& why) {
    unknown_ = std::move(why);
    return nullptr;
  }
}

std::optional<refusal> session::why_not(const command& entry, word_list request) const {
  if (!entry.takes(request.size())) return wrong_arity(entry.name);
  if (entry.needs <= rights_) return std::nullopt;
  if (rights_ == right::nothing) return refusal{"NOAUTH Authentication required."};
  return refusal{
      fmt::format("NOPERM this user has no permissions to run the '{}' command", lower(entry.name))};
}

void session::refuse(const refusal& why) {
  if (transaction_) {  // none of it will run
    transaction_->is_broken = true;
    transaction_->requests = decltype(transaction_->requests)();  // frees the memory, too
    transaction_->held.give_back();
  }
  reply_.error(why.text);
}

void session::refuse_request() {
  reply_.error(no_room_for_requests);
  is_ending_ = true;
}

void session::write_down(word_list request) {
  if (transaction_->is_broken) return reply_.status("QUEUED");
  std::size_t bytes = transaction_->held.held() + sizeof(transaction_->requests[0]);
  for (const std::string_view word : request) bytes += word.size() + sizeof(std::string);
  if (bytes > all_.settings().request.request_bytes)
    return refuse({"ERR the transaction is longer than the limit for a request"});
  if (!transaction_->held.hold(bytes)) return refuse({std::string(no_room_for_requests)});
  transaction_->requests.emplace_back(request.begin(), request.end());
  client_->queued = static_cast<int>(transaction_->requests.size());
  reply_.status("QUEUED");
}

void session::begin_transaction() {
  if (transaction_) throw refusal{"ERR MULTI calls can not be nested"};
  transaction_.emplace(byte_budget::share(all_.requests()));
  client_->queued = 0;
}

session::transaction session::end_transaction(std::string_view command) {
  if (!transaction_) throw refusal{fmt::format("ERR {} without MULTI", command)};
  transaction ended = *std::move(transaction_);
  transaction_.reset();
  client_->queued = -1;
  return ended;
}

void session::reset() {
  transaction_.reset();
  client_->queued = -1;
  set_version(wire::protocol::resp2);
  client_->set_name({});
  client_->set_user("default");
  if (!all_.asks_for_password()) return;
  rights_ = right::nothing;
  parser_.set_limits(wire::stranger_limits);
}

bool session::log_in(std::string_view user, std::string_view password) {
  const auto [known, must_wait] = all_.identify(client_->network, user, password);
  if (must_wait)
    throw refusal{
        "ERR too many wrong passwords came from this address; this one was not checked, try again in a "
        "second"};
  if (known == nullptr) {
    all_.log(telemetry::log_level::warning, "password_refused", {{"from", client_->address}});
    return false;
  }
  rights_ = known->may;
  client_->set_user(std::string(user));
  parser_.set_limits(all_.settings().request);
  return true;
}

/// How the requests of a session run: on this thread or on a worker.

void session::run_on_worker(const command& entry, word_list request) {
  is_suspended_ = true;
  all_.workers().submit([this, &entry, request] {
    if (all_.stats().gives_up())
      reply_.error(being_stopped);
    else
      run_request(entry, request);
    wake_();
  });
}

void session::take_back() {
  if (!std::exchange(is_suspended_, false)) return;
  gathered_.write_replies(all_, reply_);
}

void session::run_request(const command& entry, word_list request) {
  client_->last_command.store(entry.name.data(), std::memory_order_relaxed);
  const std::size_t before = output_.size();
  for (bool is_again = false;; is_again = true) try {
      call c{all_, *this, request, reply_, entry};
      return entry.run(c);
    } catch (const error& why) {
      output_.resize(before);  // removes a partial reply
      const auto key = static_cast<std::size_t>(entry.keys.first);
      const bool is_changed =
          !is_again && key > 0 && key < request.size() && all_.filters().forget_changed(request[key], why);
      if (!is_changed) return reply_.error(text_of_current_exception());
    } catch (...) {
      output_.resize(before);
      return reply_.error(text_of_current_exception());
    }
}

namespace {

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// @param wanted  in lower case
bool begins_with(std::string_view word, std::string_view wanted) noexcept {
  return std::ranges::equal(word.substr(0, wanted.size()), wanted, {}, lower);
}

bool is_method(std::string_view word) noexcept {
  constexpr std::string_view all[] = {"get", "head", "post", "put", "delete", "options", "patch"};
  return std::ranges::any_of(
      all, [&](std::string_view each) { return word.size() == each.size() && begins_with(word, each); });
}

}  // namespace

bool is_of_http(std::span<const std::string_view> line) noexcept {
  if (line.empty()) return false;
  const bool is_post = line.front().size() == 4 && begins_with(line.front(), "post");
  const bool is_request_line =
      line.size() == 3 && is_method(line.front()) && begins_with(line.back(), "http/");
  return is_post || is_request_line || begins_with(line.front(), "host:");
}

}  // namespace everseen::serve
