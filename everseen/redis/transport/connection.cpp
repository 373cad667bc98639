#include "everseen/redis/transport/connection.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "everseen/redis/wire/command.hpp"
#include "everseen/wire/client_protocol.hpp"

namespace everseen::redis {

connection::connection(event_loop& loop, const endpoint& where, const redis_url& url, const tls_context* tls,
                       user& serves, start first)
    : where_(where),
      url_(url),
      user_(serves),
      most_under_way_(first == start::slow ? 1 : std::numeric_limits<std::size_t>::max()),
      deadline_(loop),
      stream_(loop, where, tls, *this) {
  greet(url);
  // If only one side speaks TLS, both may wait indefinitely for the other.
  deadline_.start(url.connect_timeout, [this] {
    fail(std::string("no connection within connect_timeout") +
         (url_.tls ? "; does this port speak TLS? Without TLS, a URL begins with " + scheme(false) : ""));
  });
  stream_.open(url.connect_timeout);
}

/// All of it is sent together. Some servers refuse a client only at its first command, and then the command
/// may or may not have run. PING makes them refuse here.
void connection::greet(const redis_url& url) {
  const auto say = [this](std::initializer_list<std::string_view> words) {
    greeting_ += encode(words);
    ++greetings_left_;
  };
  if (!url.user.empty())
    say({"AUTH", url.user, url.password});
  else if (!url.password.empty())
    say({"AUTH", url.password});
  if (url.db != 0) say({"SELECT", std::to_string(url.db)});
  // Another server would take commands such as DEL for its own keys.
  url.is_everseen ? say({"EVERSEEN.HELLO", std::to_string(wire::client_protocol)}) : say({"PING"});
  greeting_left_ = greeting_;
}

std::string connection::scheme(bool tls) const {
  return std::string(url_.is_everseen ? "everseen" : "redis") + (tls ? "s" : "");
}

void connection::post(std::string_view wire, std::size_t commands) {
  posts_.push_back({wire, commands});
  if (!open_) return;
  if (posts_.size() == 1) watch();
  stream_.pump();
}

std::size_t connection::fill(std::span<char> room) {
  std::size_t filled = 0;
  const auto take_from = [&](std::string_view from) {
    const std::size_t bytes = from.copy(room.data() + filled, room.size() - filled);
    filled += bytes;
    return bytes;
  };
  if (!open_) greeting_left_.remove_prefix(take_from(greeting_left_));
  if (!open_) return filled;
  while (filled < room.size()) {
    if (being_sent_.empty()) {
      if (touched_ == std::min(posts_.size(), most_under_way_)) break;
      being_sent_ = posts_[touched_++].wire;
    }
    being_sent_.remove_prefix(take_from(being_sent_));
  }
  return filled;
}

void connection::received(std::string_view bytes) {
  last_progress_ = clock::now();
  reader_.feed(bytes);
  for (;;) {
    auto next = reader_.next();
    if (!next) {
      fail("it does not speak Redis's protocol (" + next.error() + ")", true);
      return;
    }
    if (!*next) return;
    if (!accept(std::move(**next))) return;
  }
}

/// @return false if the connection has failed
bool connection::accept(reply r) {
  if (greetings_left_ > 0) return accept_greeting(r);
  const bool whole_post_sent = touched_ > 1 || (touched_ == 1 && being_sent_.empty());
  const std::size_t expected = touched_ == 0 ? 0 : posts_.front().commands;
  // For example an argument that is too long for the server: it answers immediately, and reads no more.
  if (replies_.size() + 1 > expected || (replies_.size() + 1 == expected && !whole_post_sent))
    return fail("it sent a reply without a request: " + std::string(r.text()), true);
  replies_.push_back(std::move(r));
  if (replies_.size() < expected) return true;
  posts_.pop_front();
  --touched_;
  if (posts_.empty()) deadline_.stop();
  if (most_under_way_ != std::numeric_limits<std::size_t>::max()) {
    ++most_under_way_;
    stream_.pump();
  }
  user_.answered(std::exchange(replies_, {}));
  return true;
}

bool connection::accept_greeting(const reply& r) {
  const bool last = greetings_left_ == 1;
  // A user without permission for PING may still have all permissions that are needed. A server that cannot
  // save its data refuses writes and PING, and still answers look-ups.
  const bool only_ping = last && !url_.is_everseen && (r.is_error("NOPERM") || r.is_error("MISCONF"));
  if (r.is_error() && !only_ping) return refuse_greeting(r);
  if (--greetings_left_ > 0) return true;
  open_ = true;
  deadline_.stop();
  if (!posts_.empty()) watch();
  stream_.pump();
  return true;
}

bool connection::refuse_greeting(const reply& r) {
  const bool temporary = r.is_error("LOADING") || r.is_error("BUSY") || r.is_error("MASTERDOWN") ||
                         r.text().find("max number of clients") != std::string_view::npos;
  // A server without AUTH repeats the arguments, and with them the password.
  const bool tells = !url_.password.empty() && r.text().find(url_.password) != std::string_view::npos;
  std::string message = tells ? "it does not understand AUTH" : std::string(r.text());
  // The messages of Redis 6 and later, and of earlier versions.
  const bool has_none = r.text().find("without any password") != std::string_view::npos ||
                        r.text().find("no password is set") != std::string_view::npos;
  if (has_none) message += "; it has no password set, so leave the password out of the URL";
  if (r.is_error("NOAUTH"))
    message += "; give the password in the URL, as in " + scheme(url_.tls) + "://:PASSWORD@HOST";
  if (url_.is_everseen && r.text().starts_with("ERR unknown command"))
    message = "it is not everseen serve; the URL of a Redis server begins with redis://, rediss:// or unix:";
  return fail(message, !temporary);
}

void connection::watch() {
  last_progress_ = clock::now();
  deadline_.start(url_.timeout, [this] { check_progress(); });
}

void connection::check_progress() {
  const auto left = last_progress_ + url_.timeout - clock::now();
  if (left > clock::duration::zero())
    deadline_.start(left, [this] { check_progress(); });
  else
    fail("no answer for " + std::to_string(url_.timeout.count()) + " ms; timeout= sets this limit");
}

void connection::broke(const failure& why) {
  deadline_.stop();
  failure told{name_of_server(url_, where_) + ": " + why.message, why.permanent,
               std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - last_progress_)};
  // Nobody speaks TLS on a Unix socket.
  if (greetings_left_ > 0 && !url_.tls && where_.unix_path.empty() &&
      told.message.find("the connection ended") != std::string::npos)
    told.message += "; does this port want TLS? Then the URL begins with " + scheme(true);
  user_.failed(told);
}

/// @return false, always
bool connection::fail(const std::string& problem, bool permanent) {
  broke({problem, permanent});
  return false;
}

}  // namespace everseen::redis
