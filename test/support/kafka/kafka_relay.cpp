#include "test/support/kafka/kafka_relay.hpp"

#include <array>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include <poll.h>

#include "test/support/kafka/kafka_requests.hpp"
#include "test/support/loopback.hpp"
#include "test/support/poll_loop.hpp"

namespace everseen::test {

namespace {

using clock = kafka_transactions::clock;

/// One end of a connection, with incomplete input and unsent output.
class peer {
 public:
  explicit peer(int fd) : fd_(fd) { send_at_once(fd); }

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] bool has_more_to_send() const noexcept { return !out_.empty(); }

  /// @return false  the other side has closed
  bool read() {
    std::array<char, 65536> bytes;
    for (;;) {
      const ssize_t got = ::recv(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got <= 0) return got < 0 && errno == EAGAIN;
      in_.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }
  /// The next complete message, without its length.
  std::optional<std::string> take() {
    constexpr std::size_t header = 4;
    if (in_.size() < header) return {};
    const auto length = static_cast<std::size_t>(kafka_wire::reader(in_).int32());
    if (in_.size() < header + length) return {};
    std::string message = in_.substr(header, length);
    in_.erase(0, header + length);
    return message;
  }
  void send(const std::string& message) { out_ += kafka_wire::framed(message); }
  bool flush() {
    while (!out_.empty()) {
      const ssize_t sent = ::send(fd(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN;
      out_.erase(0, static_cast<std::size_t>(sent));
    }
    return true;
  }

 private:
  descriptor fd_;
  std::string in_{}, out_{};
};

struct connection {
  connection(int c, int b, std::uint16_t port) : client(c), broker(b), broker_port(port) {}
  peer client, broker;
  std::uint16_t broker_port;
  std::map<std::int32_t, kafka_request> asked{};  // requests that the broker has to answer, by correlation
};

/// The other side gets an error (RST) instead of an end (FIN) when this socket is closed.
void reset_at_close(int fd) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/// Waits until a mock has noticed every connection to it that is closed by now. The mock checks all
/// connections on one thread, so a later connection is answered after that.
void wait_until_noticed(std::uint16_t broker_port) {
  const int s = connect_to(broker_port);
  if (s < 0) return;  // a broker that is down
  peer witness(s);
  const timeval timeout{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  witness.send(kafka_wire::writer()
                   .int16(static_cast<std::int16_t>(kafka_wire::api::api_versions))
                   .int16(0)
                   .int32(0)
                   .string("")
                   .text());
  witness.flush();
  std::array<char, 1> first;
  (void)::recv(s, first.data(), first.size(), 0);
}

/// The mock aborts if a member sends JoinGroup or SyncGroup while an earlier one of the same member waits for
/// its answer. Kafka allows that, and it happens when the connection is cut and the member reconnects on
/// another. Such a request waits until the mock has noticed the cut; while the earlier connection lives, it
/// gets the answer to join again.
class group_gate {
 public:
  [[nodiscard]] bool lets_through(const kafka_request& asked, const connection& by) {
    const auto who = member_that_waits(asked);
    if (!who) return true;
    if (const auto before = waiting_.find(*who); before != waiting_.end() && before->second.by == nullptr) {
      wait_until_noticed(before->second.broker_port);
      waiting_.erase(before);
    }
    return waiting_.try_emplace(*who, asking{&by, by.broker_port}).second;
  }
  void answered(const kafka_request& asked) {
    if (const auto who = member_that_waits(asked)) waiting_.erase(*who);
  }
  void closed(const connection& which) {
    for (auto& [who, each] : waiting_)
      if (each.by == &which) {
        each.by = nullptr;
        // The mock does not read from a connection while a member waits there: it would miss the end of it.
        reset_at_close(which.broker.fd());
      }
  }

 private:
  struct asking {
    const connection* by;  // null: it has been closed
    std::uint16_t broker_port;
  };
  std::map<std::pair<std::string, std::string>, asking> waiting_{};
};

struct broker_port {
  explicit broker_port(std::uint16_t of) : real(of), advertised(listener.port) {}
  listening_socket listener{};
  std::uint16_t real;
  std::uint16_t advertised;
};

std::vector<std::uint16_t> ports_of(const std::string& brokers) {
  std::vector<std::uint16_t> ports;
  for (std::size_t at = 0; (at = brokers.find(':', at)) != std::string::npos;)
    ports.push_back(static_cast<std::uint16_t>(std::stoi(brokers.substr(++at))));
  return ports;
}

}  // namespace

class kafka_relay::impl : public poll_loop {
 public:
  explicit impl(kafka_cluster& cluster) {
    for (const auto& [what, newest] : versions_spoken())
      cluster.offer_up_to(static_cast<std::int16_t>(what), newest);
    for (const std::uint16_t port : ports_of(cluster.brokers())) brokers.emplace_back(port);
    start([this] { work(); });
  }
  ~impl() { stop(); }

  // The mutex guards everything but the connections.
  std::list<broker_port> brokers{};
  kafka_transactions transactions{};
  clock::time_point away_until{};
  std::map<kafka_wire::api, int> answers_to_lose{};

 private:
  void work();
  [[nodiscard]] std::vector<pollfd> interests() const;
  void accept(broker_port& of);
  bool serve(connection& c);
  bool take_request(connection& c, const std::string& message);
  void take_answer(connection& c, std::string message);
  [[nodiscard]] port_map ports() const;

  std::list<connection> connections_{};
  group_gate gate_{};
};

std::vector<pollfd> kafka_relay::impl::interests() const {
  std::vector<pollfd> all{news()};
  for (const broker_port& each : brokers) all.push_back({each.listener.fd.get(), POLLIN, 0});
  for (const connection& c : connections_)
    for (const peer* each : {&c.client, &c.broker})
      all.push_back({each->fd(), static_cast<short>(POLLIN | (each->has_more_to_send() ? POLLOUT : 0)), 0});
  return all;
}

void kafka_relay::impl::work() {
  constexpr int timeouts_are_looked_at_ms = 100;
  for (;;) {
    auto events = interests();
    if (!wait_for(events, timeouts_are_looked_at_ms)) return;
    const std::lock_guard lock(mutex);
    transactions.expire(clock::now());
    const bool away = clock::now() < away_until;
    for (auto c = connections_.begin(); c != connections_.end();) {
      const bool goes_on = !away && serve(*c);
      if (!goes_on) gate_.closed(*c);
      c = goes_on ? std::next(c) : connections_.erase(c);
    }
    std::size_t at = 1;
    for (broker_port& each : brokers)
      if (events[at++].revents != 0) accept(each);
  }
}

void kafka_relay::impl::accept(broker_port& of) {
  const int client = ::accept4(of.listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int broker = clock::now() < away_until ? -1 : connect_to(of.real);
  if (broker < 0)
    ::close(client);
  else
    connections_.emplace_back(client, broker, of.real);
}

/// @return false  the connection has ended
bool kafka_relay::impl::serve(connection& c) {
  if (!c.client.read() || !c.broker.read()) return false;
  while (const auto message = c.client.take())
    if (!take_request(c, *message)) return false;
  while (auto message = c.broker.take()) take_answer(c, std::move(*message));
  return c.client.flush() && c.broker.flush();
}

/// @return false  it was executed, and its answer is lost with the connection
bool kafka_relay::impl::take_request(connection& c, const std::string& message) {
  kafka_request asked = parse_kafka_request(message);
  const auto answer = answer_transaction(transactions, asked, clock::now());
  if (!answer && !gate_.lets_through(asked, c)) {
    c.client.send(join_again_later(asked));
    return true;
  }
  if (!answer) {
    c.broker.send(message);
    c.asked.insert_or_assign(asked.correlation, std::move(asked));
    return true;
  }
  if (const auto lost = answers_to_lose.find(asked.what); lost != answers_to_lose.end() && lost->second > 0) {
    --lost->second;
    return false;
  }
  c.client.send(*answer);
  return true;
}

void kafka_relay::impl::take_answer(connection& c, std::string message) {
  const auto correlation = kafka_wire::reader(message).int32();
  if (const auto asked = c.asked.extract(correlation)) {
    gate_.answered(asked.mapped());
    amend_answer(message, asked.mapped(), transactions, ports());
  }
  c.client.send(message);
}

port_map kafka_relay::impl::ports() const {
  port_map all;
  for (const broker_port& each : brokers) all[each.real] = each.advertised;
  return all;
}

kafka_relay::kafka_relay(kafka_cluster& cluster) : impl_(std::make_unique<impl>(cluster)) {}
kafka_relay::~kafka_relay() = default;

std::string kafka_relay::brokers() const {
  std::string all;
  for (const broker_port& each : impl_->brokers)
    all += (all.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(each.listener.port);
  return all;
}

std::string kafka_relay::url(std::string_view topic, std::string_view rest) const {
  return "kafka://" + brokers() + '/' + std::string(topic) + std::string(rest);
}

void kafka_relay::advertise(std::uint16_t port, int broker) {
  impl_->tell([&] { std::next(impl_->brokers.begin(), broker)->advertised = port; });
}

std::vector<kafka_transactions::record> kafka_relay::read_committed(const std::string& topic) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->transactions.read_committed(topic);
}

std::map<std::int32_t, std::int64_t> kafka_relay::committed(const std::string& group,
                                                            const std::string& topic,
                                                            std::int32_t partitions) const {
  const std::lock_guard lock(impl_->mutex);
  std::map<std::int32_t, std::int64_t> found;
  for (std::int32_t i = 0; i < partitions; ++i)
    if (const auto at = impl_->transactions.offset(group, {topic, i})) found[i] = *at;
  return found;
}

kafka_transactions::counts kafka_relay::so_far() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->transactions.so_far();
}

std::int32_t kafka_relay::generation(const std::string& group) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->transactions.generation(group);
}

void kafka_relay::lose_network(std::chrono::milliseconds how_long) {
  impl_->tell([&] { impl_->away_until = clock::now() + how_long; });
}

void kafka_relay::lose_answers(kafka_wire::api what, int count) {
  impl_->tell([&] { impl_->answers_to_lose[what] += count; });
}

}  // namespace everseen::test
