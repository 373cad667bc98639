#include "test/support/cutting_proxy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>

#include "test/support/loopback.hpp"
#include "test/support/poll_loop.hpp"

namespace everseen::test {

namespace {

/// One direction of one connection: bytes that were read and not written yet.
struct pipe_half {
  int source, target;
  cutting_proxy::direction towards;
  std::vector<char> waiting{};
  std::size_t left = SIZE_MAX;  // bytes that pass before the connection is cut

  [[nodiscard]] bool is_full() const noexcept { return !waiting.empty(); }
};

struct pair {
  pair(int c, int s) : client(c), server(s) {}
  descriptor client, server;
  std::array<pipe_half, 2> halves{{{client.get(), server.get(), cutting_proxy::direction::to_server},
                                   {server.get(), client.get(), cutting_proxy::direction::to_client}}};
};

}  // namespace

class cutting_proxy::impl : public poll_loop {
 public:
  explicit impl(std::uint16_t port) : server_port(port) {
    start([this] { work(); });
  }
  ~impl() { stop(); }

  [[nodiscard]] std::uint16_t port() const noexcept { return listener_.port; }

  std::uint16_t server_port;
  std::optional<std::pair<direction, std::size_t>> cut{};  // the direction, and how many bytes still pass
  std::optional<std::pair<direction, std::size_t>> cut_every{};  // the same, of each new connection
  std::chrono::milliseconds delay{0};
  std::optional<std::pair<direction, std::size_t>> hold{};  // the same, for a hold
  std::array<std::size_t, 2> passed{};                      // by direction
  bool holds = false;                                       // and something waits
  bool refuses = false;
  bool refuses_when_cut = false;
  std::size_t connections = 0;

 private:
  void work();
  std::vector<pollfd> interests() const;
  void accept_one();
  bool serve(pair& p, const std::vector<pollfd>& events, std::size_t offset);
  bool read(pipe_half& half);
  bool write(pipe_half& half);
  /// Whether it has bytes that wait for release().    @pre  the mutex is held
  [[nodiscard]] bool is_held(const pipe_half& half) const noexcept {
    return half.is_full() && hold && hold->first == half.towards && hold->second == 0;
  }

  listening_socket listener_{};
  std::list<pair> pairs_{};
};

std::vector<pollfd> cutting_proxy::impl::interests() const {
  std::vector<pollfd> all{news(), {listener_.fd.get(), POLLIN, 0}};
  const std::lock_guard lock(mutex);
  for (const pair& p : pairs_)
    for (const pipe_half& half : p.halves) {
      all.push_back({half.source, static_cast<short>(half.is_full() ? 0 : POLLIN), 0});
      all.push_back({half.target, static_cast<short>(half.is_full() && !is_held(half) ? POLLOUT : 0), 0});
    }
  return all;
}

void cutting_proxy::impl::work() {
  for (;;) {
    auto events = interests();
    if (!wait_for(events, -1)) return;
    {
      const std::lock_guard lock(mutex);
      if (refuses) pairs_.clear(), events.resize(2);
    }
    std::size_t offset = 2;
    for (auto p = pairs_.begin(); p != pairs_.end(); offset += 4)
      p = serve(*p, events, offset) ? std::next(p) : pairs_.erase(p);
    if (events[1].revents != 0) accept_one();
  }
}

void cutting_proxy::impl::accept_one() {
  const int client = ::accept4(listener_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const std::lock_guard lock(mutex);
  ++connections;
  const int server = refuses ? -1 : connect_to(server_port);
  if (server < 0) {
    ::close(client);
    return;
  }
  send_at_once(client);
  send_at_once(server);
  pairs_.emplace_back(client, server);
  if (cut_every) pairs_.back().halves[static_cast<std::size_t>(cut_every->first)].left = cut_every->second;
}

/// @return false  the connection has ended
bool cutting_proxy::impl::serve(pair& p, const std::vector<pollfd>& events, std::size_t offset) {
  for (std::size_t i = 0; i < 2; ++i) {
    pipe_half& half = p.halves[i];
    const bool readable = events[offset + 2 * i].revents != 0;
    const bool writable = events[offset + 2 * i + 1].revents != 0;
    if (half.is_full() ? writable && !write(half) : readable && !read(half)) return false;
  }
  return true;
}

bool cutting_proxy::impl::read(pipe_half& half) {
  std::array<char, 65536> bytes;
  const ssize_t got = ::recv(half.source, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got <= 0) return got < 0 && errno == EAGAIN;
  std::chrono::milliseconds wait{0};
  {
    const std::lock_guard lock(mutex);
    wait = delay;
  }
  if (wait.count() > 0) std::this_thread::sleep_for(wait);
  half.waiting.assign(bytes.data(), bytes.data() + got);
  return write(half);
}

bool cutting_proxy::impl::write(pipe_half& half) {
  const std::lock_guard lock(mutex);
  const bool counts = cut && cut->first == half.towards;
  std::size_t pass = std::min(counts ? cut->second : SIZE_MAX, std::min(half.left, half.waiting.size()));
  if (hold && hold->first == half.towards) {
    pass = std::min(pass, hold->second);
    if (pass == 0 && is_held(half)) {
      holds = true;
      return true;
    }
  }
  const ssize_t sent =
      pass == 0 ? 0 : ::send(half.target, half.waiting.data(), pass, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN;
  half.waiting.erase(half.waiting.begin(), half.waiting.begin() + sent);
  passed[static_cast<std::size_t>(half.towards)] += static_cast<std::size_t>(sent);
  if (hold && hold->first == half.towards) {
    hold->second -= static_cast<std::size_t>(sent);
    holds = is_held(half);
  }
  if (half.left != SIZE_MAX) half.left -= static_cast<std::size_t>(sent);
  if (half.left == 0) return false;
  if (!counts) return true;
  cut->second -= static_cast<std::size_t>(sent);
  if (cut->second > 0) return true;
  cut.reset();
  refuses = refuses || refuses_when_cut;
  return false;
}

cutting_proxy::cutting_proxy(std::uint16_t server_port) : impl_(std::make_unique<impl>(server_port)) {}
cutting_proxy::~cutting_proxy() = default;

std::uint16_t cutting_proxy::port() const noexcept {
  return impl_->port();
}
std::string cutting_proxy::url(const std::string& rest) const {
  return "redis://127.0.0.1:" + std::to_string(port()) + rest;
}
void cutting_proxy::cut_after(direction d, std::size_t bytes) {
  impl_->tell([&] { impl_->cut = {d, bytes}, impl_->refuses_when_cut = false; });
}
void cutting_proxy::cut_for_long_after(direction d, std::size_t bytes) {
  impl_->tell([&] { impl_->cut = {d, bytes}, impl_->refuses_when_cut = true; });
}
void cutting_proxy::cut_every(direction d, std::size_t bytes) {
  impl_->tell([&] {
    impl_->cut_every.reset();
    if (bytes > 0) impl_->cut_every = {d, bytes};
  });
}
bool cutting_proxy::has_cut() const {
  const std::lock_guard lock(impl_->mutex);
  return !impl_->cut;
}
void cutting_proxy::hold_after(direction d, std::size_t bytes) {
  impl_->tell([&] { impl_->hold = {d, bytes}, impl_->holds = false; });
}
bool cutting_proxy::holds() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->holds;
}
void cutting_proxy::release() {
  impl_->tell([&] { impl_->hold.reset(), impl_->holds = false; });
}
std::size_t cutting_proxy::passed(direction d) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->passed[static_cast<std::size_t>(d)];
}
void cutting_proxy::delay(std::chrono::milliseconds duration) {
  impl_->tell([&] { impl_->delay = duration; });
}
void cutting_proxy::refuse(bool on) {
  impl_->tell([&] { impl_->refuses = on; });
}
void cutting_proxy::lead_to(std::uint16_t server_port) {
  impl_->tell([&] { impl_->server_port = server_port; });
}
std::size_t cutting_proxy::connections() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->connections;
}

}  // namespace everseen::test
