#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "everseen/redis/transport/dispatcher.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

/// Replicas that were in step are assumed to be in step for this long.
inline constexpr std::chrono::seconds acknowledged_for{1};

/// One server of a dispatcher, with the calls that are on their way to it.
struct dispatcher::server final : connection::user {
  server(dispatcher& d, endpoint e) : home(d), where(std::move(e)) {}

  void submit(call& c) {
    if (renew && sent.empty()) link.reset();
    if (!link) {
      renew = false;
      acknowledged_at = {};
      link =
          std::make_unique<connection>(home.loop_, where, home.url_, home.tls_ ? &*home.tls_ : nullptr, *this,
                                       pauses.is_fresh() ? connection::start::fast : connection::start::slow);
    }
    if (home.url_.wait_replicas == 0 || !c.asked().on_replicas ||
        call::clock::now() - acknowledged_at < acknowledged_for)
      return send(c);
    held.push_back(&c);
    ask_for_replicas();
  }
  void send(call& c) {
    sent.push_back(&c);
    link->post(c.wire(), c.commands());
  }

  /// Asks how many replicas have what was written, with one WAIT behind all calls that they must have.
  ///
  /// Since Redis 7.2 a WAIT waits for the writes of its own connection alone. But an answer may rest on what
  /// another one has written: that of a `seen`, or of a copy whose first attempt was lost with its
  /// connection. So a short-lived key, the mark, is written before it: replicas that have the mark have all
  /// before it.
  /// @param is_marked  whether a mark is behind all calls that were answered
  void ask_for_replicas(bool is_marked = false) {
    if (home.url_.wait_replicas == 0) return;
    const auto last = std::find(sent.rbegin(), sent.rend(), nullptr);
    const auto newest = std::find_if(sent.rbegin(), last, [](call* c) { return c->asked().on_replicas; });
    const bool is_asked = last != sent.rend();
    if (newest == last && (is_asked || (unacknowledged.empty() && held.empty()))) return;
    if (newest != last)
      mark_behind(**newest);
    else if (is_marked)
      link->post(home.wait_, 1);
    else
      mark_behind(held.empty() ? *unacknowledged.back() : *held.back());
    sent.push_back(nullptr);
    asked_at = call::clock::now();
  }
  /// A mark in the slot of a call, and a WAIT.
  void mark_behind(const call& c) {
    const std::string key = home.url_.prefix + ":{" + tag_of_slot(c.asked().destination.key) + "}:wait";
    link->post(marks.emplace_back(encode({"SET", key, "", "PX", "1000"}) + home.wait_), 2);
  }

  void answered(std::vector<reply> replies) override {
    call* const c = sent.front();
    sent.pop_front();
    if (c == nullptr) {
      if (replies.size() > 1) marks.pop_front();
      return home.replicas_told(*this, replies);
    }
    home.answered(*this, *c, std::move(replies));
  }
  void failed(const failure& why) override { home.lost(*this, why); }

  dispatcher& home;
  endpoint where;
  std::unique_ptr<connection> link{};
  std::deque<call*> sent{};             ///< null: a WAIT, with or without a mark
  std::deque<std::string> marks{};      ///< that were sent, with their WAITs
  std::vector<call*> unacknowledged{};  ///< answered; a WAIT that covers them has been sent
  std::vector<call*> held{};            ///< to be sent if the WAIT that has been sent finds enough replicas
  call::clock::time_point asked_at{};   ///< when the last WAIT was sent
  call::clock::time_point acknowledged_at{};  ///< by a WAIT that was sent then; 0: it found too few replicas
  backoff pauses{};
  bool has_answered = false;    ///< a call, over this link
  bool lacks_replicas = false;  ///< as of the last WAIT
  bool renew = false;           ///< it has lost its role; by now its name may resolve to another server
};

}  // namespace everseen::redis
