#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "everseen/redis/transport/dispatcher.hpp"

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
  void ask_for_replicas() {
    if (home.url_.wait_replicas == 0) return;
    const auto last = std::find(sent.rbegin(), sent.rend(), nullptr);
    const bool wanted = std::any_of(sent.rbegin(), last, [](call* c) { return c->asked().on_replicas; });
    const bool is_asked = last != sent.rend();
    if (!wanted && (is_asked || (unacknowledged.empty() && held.empty()))) return;
    sent.push_back(nullptr);
    link->post(home.wait_, 1);
  }

  void answered(std::vector<reply> replies) override {
    call* const c = sent.front();
    sent.pop_front();
    if (c == nullptr) return home.replicas_told(*this, replies.front());
    home.answered(*this, *c, std::move(replies));
  }
  void failed(const failure& why) override { home.lost(*this, why); }

  dispatcher& home;
  endpoint where;
  std::unique_ptr<connection> link{};
  std::deque<call*> sent{};             ///< null: a WAIT
  std::vector<call*> unacknowledged{};  ///< answered; a WAIT that covers them has been sent
  std::vector<call*> held{};            ///< to be sent if the WAIT that has been sent finds enough replicas
  call::clock::time_point acknowledged_at{};  ///< by the last WAIT; 0: it found too few replicas
  backoff pauses{};
  bool has_answered = false;    ///< a call, over this link
  bool lacks_replicas = false;  ///< as of the last WAIT
  bool renew = false;           ///< it has lost its role; by now its name may resolve to another server
};

}  // namespace everseen::redis
