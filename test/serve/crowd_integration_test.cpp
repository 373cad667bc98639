// Many clients for a long time, most of them quiet, slow or rude: each answer is right, and the server has
// afterwards what it had before. The soak has ten thousand connections for an hour.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "test/serve/replies.hpp"
#include "test/serve/serving.hpp"
#include "test/support/loopback.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/sanitizer.hpp"

namespace everseen::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

std::uint64_t from_environment(const char* name, std::uint64_t usual) {
  const char* const text = std::getenv(name);
  return text == nullptr ? usual : std::stoull(text);
}

/// What the kernel says about a process.
class process_figures {
 public:
  /// @param client  of the server
  explicit process_figures(raw_client& client) {
    const std::string text = ask(client, "INFO server").text;
    constexpr std::string_view name = "process_id:";
    folder_ = "/proc/" + std::to_string(std::stoull(text.substr(text.find(name) + name.size())));
  }

  [[nodiscard]] std::size_t descriptors() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_ + "/fd"), {}));
  }
  [[nodiscard]] std::uint64_t resident_bytes() const {
    std::ifstream file(folder_ + "/statm");
    std::uint64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }

 private:
  std::string folder_;
};

/// Whether the memory of a server is its own, not a sanitizer's.
constexpr bool is_measured = !test::is_sanitized;

/// By how much the memory of a server may vary from round to round, as connections come and go in another
/// order. In each round a fifth of them are new, so a leak of 100 bytes per connection takes as much in some
/// fifty rounds.
std::uint64_t variation(std::size_t connections) {
  return (std::uint64_t{4} << 20) + 512 * connections;
}

/// A connection, and what is still to be received on it.
class visitor {
 public:
  enum class speaks : std::uint8_t { resp, http };

  visitor(std::uint16_t port, speaks protocol) : port_(port), protocol_(protocol) {}

  /// @param number  of its events
  void connect(int events, std::uint32_t number) {
    socket_.emplace(connect_to(port_));
    send_at_once(socket_->get());
    epoll_event e{EPOLLIN, {.u32 = number}};
    if (::epoll_ctl(events, EPOLL_CTL_ADD, socket_->get(), &e) != 0) throw std::runtime_error("epoll");
    received_.clear();
    awaited_.clear();
    must_end_ = has_ended_ = false;
  }

  /// Requests are short and their answers are awaited, so the socket has room.
  void send(std::string_view bytes) {
    if (::send(socket_->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
        static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("the server accepts no more");
  }
  void await(std::string answer) { awaited_ = std::move(answer); }
  void await_end() { must_end_ = true; }

  /// Takes what has arrived. A wrong answer is a failure of the test.
  void receive() {
    std::array<char, 4096> some;
    for (ssize_t got = 1; got > 0;) {
      got = ::recv(socket_->get(), some.data(), some.size(), MSG_DONTWAIT);
      if (got > 0) received_.append(some.data(), static_cast<std::size_t>(got));
      if (got == 0 || (got < 0 && errno == ECONNRESET)) has_ended_ = true;
    }
    if (awaited_.empty() && received_.empty()) return;
    if (protocol_ == speaks::http ? take_http() : take_resp()) awaited_.clear();
  }

  /// By a reset: the kernel forgets the connection immediately, so that its port can be used again.
  void leave() {
    const linger none{1, 0};
    ::setsockopt(socket_->get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
    socket_.reset();
  }

  [[nodiscard]] bool is_here() const noexcept { return socket_.has_value(); }
  [[nodiscard]] bool waits() const noexcept { return !awaited_.empty() || (must_end_ && !has_ended_); }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
  [[nodiscard]] speaks protocol() const noexcept { return protocol_; }

 private:
  bool take_resp() {
    const std::size_t compared = std::min(awaited_.size(), received_.size());
    EXPECT_EQ(received_, awaited_.substr(0, compared));
    if (received_.size() < awaited_.size()) return false;
    received_.clear();
    return true;
  }

  bool take_http() {
    const std::size_t head = received_.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    constexpr std::string_view length = "\r\nContent-Length: ";
    const std::size_t position = received_.find(length);
    if (position > head) throw std::runtime_error("an answer without a length: " + received_);
    const std::size_t size = head + 4 + std::stoul(received_.substr(position + length.size()));
    if (received_.size() < size) return false;
    EXPECT_TRUE(received_.size() == size && received_.starts_with("HTTP/1.1 200 ") &&
                received_.find(awaited_) > head && received_.find(awaited_) < size)
        << received_ << " is no answer with " << awaited_;
    received_.clear();
    return true;
  }

  std::uint16_t port_;
  speaks protocol_;
  std::optional<descriptor> socket_{};
  std::string received_{};
  std::string awaited_{};
  bool must_end_ = false;
  bool has_ended_ = false;
};

/// All clients. One in five speaks HTTP.
class crowd {
 public:
  crowd(std::size_t size, std::uint16_t port, std::uint16_t http_port) {
    for (std::size_t i = 0; i < size; ++i)
      speaks_http(i) ? all_.emplace_back(http_port, visitor::speaks::http)
                     : all_.emplace_back(port, visitor::speaks::resp);
    return_all();
  }

  /// Most clients ask something, as chance decides; some of them leave.
  /// @pre the filter `round` is empty
  void round() {
    std::vector<std::pair<std::size_t, std::string>> rests;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (is_silent(i)) continue;
      visitor& v = all_[i];
      switch (random_() % 16) {
        case 0:  // does not wait for the answer
          v.send(about_steady_keys(i).request);
          v.leave();
          break;
        case 1:  // leaves in the middle of a request
          v.send(begin_of(about_steady_keys(i).request));
          v.leave();
          break;
        case 2:  // says good-bye
          ask(v, good_bye(i));
          v.await_end();
          break;
        case 3:
        case 4:
        case 5: {  // sends the rest when all others have been answered
          const question q = question_of(i);
          const std::string begin = begin_of(q.request);
          v.send(begin);
          v.await(q.answer);
          rests.emplace_back(i, q.request.substr(begin.size()));
          break;
        }
        case 6:
        case 7:
        case 8:
          break;  // has nothing to ask
        default:
          ask(v, question_of(i));
      }
    }
    wait_for_answers();
    for (const auto& [i, rest] : rests) {
      all_[i].send(rest);
      ++waiting_;
    }
    wait_for_answers();
  }

  /// Those who have left, or were sent away, connect again.
  void return_all() {
    take_events(0);
    for (std::uint32_t i = 0; i < all_.size(); ++i) {
      if (all_[i].is_here()) continue;
      all_[i].connect(events_.get(), i);
      if (is_silent(i)) all_[i].send("*3\r\n$9\r\nBF.EXISTS\r\n$6\r\nst");
      ++arrivals_;
    }
  }

  void leave() {
    for (visitor& v : all_) v.leave();
  }

  /// How often clients have connected again.
  [[nodiscard]] std::size_t returns() const noexcept { return arrivals_ - all_.size(); }
  /// On how many connections the server has not waited any longer for the rest of a request.
  [[nodiscard]] std::size_t given_up() const noexcept { return given_up_; }

 private:
  /// A request, and its whole answer; over HTTP, a part of the body.
  struct question {
    std::string request;
    std::string answer;
  };

  static bool speaks_http(std::size_t i) noexcept { return i % 5 == 4; }
  /// Begins a request and never ends it.
  static bool is_silent(std::size_t i) noexcept { return i % 100 == 7; }

  /// The filter `steady` has the even numbers.
  question about_steady_keys(std::size_t i) {
    const std::size_t even = 2 * i, odd = even + 1;
    if (!speaks_http(i))
      return {encoded({"BF.MEXISTS", "steady", std::to_string(even), std::to_string(odd)}),
              "*2\r\n:1\r\n:0\r\n"};
    const bool is_odd = random_() % 2 == 0;
    return {"GET /api/v1/filters/steady/keys/" + std::to_string(is_odd ? odd : even) +
                " HTTP/1.1\r\nHost: localhost\r\n\r\n",
            is_odd ? "\"fresh\"" : "\"seen\""};
  }

  question question_of(std::size_t i) {
    question q = about_steady_keys(i);
    if (speaks_http(i) || random_() % 2 == 0) return q;
    const std::string key = std::to_string(i), other = "other " + key;
    q.request += encoded({"BF.ADD", "round", key}) + encoded({"BF.MADD", "round", key, other, other});
    q.answer += ":1\r\n*3\r\n:0\r\n:1\r\n:0\r\n";
    return q;
  }

  static question good_bye(std::size_t i) {
    if (!speaks_http(i)) return {encoded({"QUIT"}), "+OK\r\n"};
    return {"GET /api/v1/filters/steady/keys/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "\"fresh\""};
  }

  std::string begin_of(const std::string& request) {
    return request.substr(0, 1 + random_() % (request.size() - 1));
  }

  void ask(visitor& v, const question& q) {
    v.send(q.request);
    v.await(q.answer);
    ++waiting_;
  }

  void wait_for_answers() {
    while (waiting_ > 0)
      if (!take_events(600'000)) throw std::runtime_error("no answer for ten minutes");
  }

  /// @return false  there were none within the time
  bool take_events(int time_limit_ms) {
    std::array<epoll_event, 256> ready;
    const int count =
        ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), time_limit_ms);
    for (int i = 0; i < count; ++i) take(ready[static_cast<std::size_t>(i)].data.u32);
    return count > 0;
  }

  void take(std::uint32_t i) {
    visitor& v = all_[i];
    const bool did_wait = v.waits();
    v.receive();
    if (did_wait && !v.waits()) --waiting_;
    if (!v.has_ended()) return;
    if (v.waits()) throw std::runtime_error("a connection ended before the answer");
    given_up_ += is_silent(i);
    v.leave();
  }

  descriptor events_{::epoll_create1(EPOLL_CLOEXEC)};
  std::vector<visitor> all_{};
  std::size_t waiting_ = 0;  // for answers or the end, except those whose request is incomplete
  std::mt19937 random_{1};
  std::size_t arrivals_ = 0;
  std::size_t given_up_ = 0;
};

/// For as many descriptors, in this process and in those that it starts.
bool allows_descriptors(std::size_t count) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= count) return true;
  limit.rlim_cur = count;
  limit.rlim_max = std::max<rlim_t>(limit.rlim_max, count);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Promise: a connection takes some KB of memory, and however many come and go, they take no more (operations,
// Limits).
TEST(Crowd, IsAnsweredAndLeavesNothingBehind) {
  const std::size_t size = from_environment("EVERSEEN_SERVE_CONNECTIONS", 400);
  const std::chrono::seconds length(from_environment("EVERSEEN_SERVE_SECONDS", 3));
  if (!allows_descriptors(size + 100)) GTEST_SKIP() << "a process may not have " << size << " descriptors";
  const serving server("mem:", {"--http", "127.0.0.1:0", "--max-connections", std::to_string(2 * size)});
  raw_client owner(server.path());
  const auto tell = [&](const std::vector<std::string>& words, const std::string& answer) {
    EXPECT_EQ(owner.ask(encoded(words), answer.size()), answer) << words[0];
  };
  const std::string capacity = std::to_string(4 * size);
  tell({"BF.RESERVE", "steady", "0.000000000001", capacity}, "+OK\r\n");
  for (std::size_t i = 0; i < size; ++i) tell({"BF.ADD", "steady", std::to_string(2 * i)}, ":1\r\n");

  const process_figures process(owner);
  const std::size_t descriptors = process.descriptors();
  const std::uint64_t alone = process.resident_bytes();
  const auto number = [](const std::string& text) { return static_cast<std::uint16_t>(std::stoul(text)); };
  crowd all(size, number(server.port()), number(server.port("for HTTP on 127.0.0.1:")));
  std::uint64_t usual = 0, most = 0;
  std::size_t rounds = 0;
  constexpr std::size_t rounds_to_warm_up = 10;
  const auto end = clock::now() + length;
  for (; rounds <= rounds_to_warm_up || clock::now() < end; ++rounds) {
    tell({"BF.RESERVE", "round", "0.000000000001", capacity}, "+OK\r\n");
    all.round();
    tell({"DEL", "round"}, ":1\r\n");
    wait_until([&] { return all.return_all(), process.descriptors() == descriptors + size; },
               "one descriptor per connection");
    (rounds < rounds_to_warm_up ? usual : most) =
        std::max(rounds < rounds_to_warm_up ? usual : most, process.resident_bytes());
    if (is_measured) {
      ASSERT_LE(most, usual + variation(size)) << "in round " << rounds;
    }
  }
  if (is_measured) {
    EXPECT_LE(usual, alone + 22'000 * size + variation(size));
  }
  all.leave();
  wait_until([&] { return process.descriptors() == descriptors; }, "all clients have left");
  std::cout << rounds << " rounds, " << all.returns() << " connections more, " << all.given_up()
            << " given up, resident MB: " << alone / 1'000'000 << " alone, " << usual / 1'000'000
            << ", at most " << most / 1'000'000 << " later, " << process.resident_bytes() / 1'000'000
            << " at the end\n";
}

}  // namespace
}  // namespace everseen::test
