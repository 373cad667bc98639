#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "everseen/redis/dispatcher.hpp"

namespace everseen::redis {

/// One server of a dispatcher, with the jobs that are on their way to it.
struct dispatcher::server final : connection::user {
  server(dispatcher& d, endpoint e) : home(d), where(std::move(e)) {}

  void take(job& j) {
    if (renew && sent.empty()) link.reset();
    if (!link && j.asked().continues)
      return home.trouble(j, {"the connection to redis at " + to_string(where) + " has ended"}, {});
    if (!link) {
      renew = false;
      link = std::make_unique<connection>(home.loop_, where, home.url_, home.tls_ ? &*home.tls_ : nullptr,
                                          *this);
    }
    sent.push_back(&j);
    link->post(j.wire(), j.commands());
  }

  void answered(std::vector<reply> replies) override {
    job& j = *sent.front();
    sent.pop_front();
    home.answered(*this, j, std::move(replies));
  }
  void failed(const failure& why) override { home.lost(*this, why); }

  dispatcher& home;
  endpoint where;
  std::unique_ptr<connection> link{};
  std::deque<job*> sent{};
  backoff pauses{};
  bool renew = false;  ///< it has lost its role; the name may lead to another server when asked again
};

template <typename Work>
void dispatcher::guarded(Work work) {
  try {
    work();
  } catch (...) {
    abandon();
    throw;
  }
}

}  // namespace everseen::redis
