#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "everseen/redis/transport/byte_stream.hpp"
#include "everseen/redis/transport/call.hpp"
#include "everseen/redis/transport/connection.hpp"
#include "everseen/redis/transport/event_loop.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/redis/wire/slot_map.hpp"

namespace everseen::redis {

/// Sends requests to servers and collects their answers, through outages and redirections.
///
///     place ──> server ──answered──> complete
///       ^         │ failed, refused        (an outage after retry_for is also an answer)
///       └─ wake ──┴──> parked
///
/// A call is always in exactly one place: sent to a server, held back there for its replicas, parked until a
/// time, or unplaced until the slots of the cluster are known.
///
/// With `wait=N` in the URL, a request with `on_replicas` counts as answered only when N replicas have what
/// its answer rests on. One WAIT after all calls of a connection covers them all. If too few replicas have
/// it, the WAIT is repeated over the same connection for as long as an outage may last; no call is sent twice
/// for that. If the connection ends meanwhile, the answers of its calls count as lost.
///
/// The master keeps what it has written, so a batch that is not acknowledged leaves keys behind. Therefore
/// such calls are held back until a preceding WAIT finds enough replicas, unless one did so within the last
/// second.
class dispatcher {
 public:
  explicit dispatcher(const redis_url& url);
  ~dispatcher();
  dispatcher(const dispatcher&) = delete;
  dispatcher& operator=(const dispatcher&) = delete;

  [[nodiscard]] std::vector<answer> run(std::span<const request> requests);
  [[nodiscard]] std::vector<answer> run_on_masters(const request& r);
  [[nodiscard]] tl::expected<endpoint, outage> server_of(const route& destination);

  [[nodiscard]] const redis_url& url() const noexcept { return url_; }

  /// Lets `p` decide how long an outage may last; null: `retry_for` decides.
  void wait_with(std::shared_ptr<retry_policy> p) noexcept { retry_policy_ = std::move(p); }
  /// server_connections::keeps_answers().
  [[nodiscard]] std::chrono::milliseconds keeps_answers() const noexcept;
  /// As server_connections::lost_answers.
  [[nodiscard]] std::uint64_t lost_answers() const noexcept { return lost_answers_; }

 private:
  struct server;
  using clock = call::clock;
  using pause = std::chrono::nanoseconds;

  // A batch of calls.
  void complete(std::span<call> calls);
  void abandon() noexcept;
  void note_silence();
  void complete(call& c, answer a);

  // The way of a call.
  void place(call& c);
  const endpoint* owner_of(const route& destination) const;
  server& server_at(const endpoint& e);
  void answered(server& sender, call& c, std::vector<reply> replies);
  void follow(server& sender, call& c, const refusal& r);
  void lost(server& sender, const failure& why);
  void trouble(call& c, const failure& why, pause p);
  [[nodiscard]] bool may_be_forgotten(const call& c) const;
  [[nodiscard]] bool tries_again(const call& c, const failure& why);
  void conclude(const server& sender, call& c);
  [[nodiscard]] bool lacks_replicas() const;
  void park(call& c, pause p);
  void wake();
  void set_alarm(clock::time_point deadline);

  // What must be on replicas.
  void replicas_told(server& sender, std::span<const reply> replies);
  void wait_for_replicas(call& c, std::vector<call*>& among, const failure& why);
  void waits_refused(server& sender, const reply& r);

  // Where the slots of a cluster are.
  [[nodiscard]] bool is_cluster() const noexcept { return url_.shape == redis_url::topology::cluster; }
  answer learn_map();
  void refresh_map();
  void ask_next_candidate();
  void read_map(std::vector<reply> replies);
  void map_known();
  void map_unknown();
  void fail_overdue();
  std::vector<endpoint> map_candidates() const;

  redis_url url_;
  const std::string wait_;  // the WAIT that asks for the replicas of the URL
  std::optional<tls_context> tls_{};
  std::shared_ptr<retry_policy> retry_policy_{};
  std::uint64_t lost_answers_ = 0;
  bool in_trouble_ = false;  // retry_policy_ was asked since the last answer
  event_loop loop_{};
  std::map<endpoint, std::unique_ptr<server>> servers_;

  std::size_t open_ = 0;
  std::vector<std::pair<clock::time_point, call*>> parked_{};
  clock::time_point alarm_at_{};
  timer alarm_{loop_};
  timer silence_{loop_};

  slot_map slots_{};
  bool map_is_old_ = true;
  clock::time_point map_read_{};
  request map_request_;
  std::optional<call> map_call_{};      // the request for the map, while it is in flight
  std::vector<endpoint> candidates_{};  // servers that were not asked for the map yet, the best last
  failure map_failure_{};               // of the last server that was asked
  std::vector<call*> unplaced_{};
};

}  // namespace everseen::redis
