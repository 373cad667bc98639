#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "test/support/kafka/kafka_client.hpp"
#include "test/support/places.hpp"
#include "test/support/program.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/samples/click_stream.hpp"

namespace everseen::test {

/// How one of kafka_workers works.
struct manner_of_work {
  std::string of_source{};                        ///< the rest of its URL
  std::chrono::milliseconds silence{2'000};       ///< the longest that the group tolerates
  std::chrono::milliseconds asks_every{300};      ///< for new partitions
  std::optional<std::string> transactional_id{};  ///< that of this worker; nothing: its own
  std::string stops_at{};                         ///< it stops itself at this fault point, as in put:2
};

/// Workers of one job that copy the fresh clicks of a topic to another by transactions, and the known answer.
///
/// Clicks are produced part by part, so that a test does something to the workers or to the brokers while
/// there is work. Threads: one.
class kafka_workers {
 public:
  /// @param brokers  host:port,host:port    @param job  unique on these brokers
  /// @param transaction_limit  what a worker may leave open when it dies hides what follows for as long
  kafka_workers(std::string brokers, std::string job, int partitions,
                std::chrono::milliseconds transaction_limit = std::chrono::seconds(4))
      : brokers_(std::move(brokers)),
        job_(std::move(job)),
        partitions_(partitions),
        transaction_limit_(transaction_limit),
        kafka_(brokers_) {
    kafka_.create_topic("clicks-" + job_, partitions);
    kafka_.create_topic("fresh-" + job_, 2);
  }

  /// The next clicks, in turn to each partition.
  void produce(std::size_t count) {
    std::vector<std::vector<kafka_client::message>> parts(static_cast<std::size_t>(partitions_));
    for (const std::size_t end = produced_ + count; produced_ < end; ++produced_)
      parts[produced_ % parts.size()].push_back({clicks_.lines.at(produced_)});
    for (std::size_t p = 0; p < parts.size(); ++p)
      kafka_.produce("clicks-" + job_, static_cast<std::int32_t>(p), parts[p]);
  }
  void add_partitions(int total) {
    kafka_.add_partitions("clicks-" + job_, total);
    partitions_ = total;
  }

  /// Starts a worker, or starts it again.
  void start(const std::string& worker, const manner_of_work& manner = {}) {
    running& one = running_[worker];
    one.command = command(worker, manner);
    program_setup setup;
    if (!manner.stops_at.empty()) setup.environment["EVERSEEN_STOP_AT"] = manner.stops_at;
    one.program = std::make_unique<running_program>(one.command, setup);
  }
  void wait_until_stopped(const std::string& worker) {
    if (!running_.at(worker).program->waits_to_stop()) throw std::runtime_error(worker + " has not stopped");
  }
  void send(const std::string& worker, int signal) { running_.at(worker).program->send(signal); }
  /// Waits for its end.
  program_result end_of(const std::string& worker) {
    program_result ended = running_.at(worker).program->wait();
    running_.erase(worker);
    return ended;
  }
  program_result end(const std::string& worker, int signal) {
    send(worker, signal);
    return end_of(worker);
  }
  /// How often a worker was started again, as its supervisor does: its group had left it behind, or Kafka had
  /// aborted its transaction. On a busy machine it may be silent for too long.
  [[nodiscard]] int restarts() const noexcept { return restarts_; }
  /// What the last one said that was started again.
  [[nodiscard]] const std::string& last_words() const noexcept { return last_words_; }

  /// Waits until the group has settled that many of the clicks.
  void wait_until_settled(std::size_t count) {
    wait_for([&] { return settled() >= count; }, job_ + " has settled " + std::to_string(count));
  }
  void wait_until_all_are_settled() { wait_until_settled(produced_); }
  void wait_for_members(int count) {
    wait_for([&] { return kafka_.members(job_) == count; },
             job_ + " has " + std::to_string(count) + " workers");
  }
  [[nodiscard]] std::size_t settled() const {
    std::int64_t sum = 0;
    for (const auto& [partition, offset] : kafka_.committed(job_, "clicks-" + job_)) sum += offset;
    return static_cast<std::size_t>(sum);
  }

  /// The fault after a last worker has read what others left, and all have ended; empty: every fresh click is
  /// in the other topic once.
  std::string fault_at_the_end() {
    produce(clicks_.lines.size() - produced_);
    start("last", {.of_source = "&until=end"});
    wait_for([&] { return !running_.contains("last"); }, "the last worker has ended");
    while (!running_.empty()) end(running_.begin()->first, SIGTERM);
    // What a dead worker left open hides what follows it until its time limit.
    const auto patience =
        std::chrono::steady_clock::now() +
        std::max<std::chrono::milliseconds>(4 * transaction_limit_, std::chrono::minutes(2));
    for (;;) {
      std::string text;
      for (const auto& each : kafka_.read("fresh-" + job_)) (text += each.value) += '\n';
      const std::string fault = fault_of_lines(clicks_, text, false);
      if (fault.empty() || std::chrono::steady_clock::now() > patience) return fault;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }

 private:
  struct running {
    std::vector<std::string> command{};
    std::unique_ptr<running_program> program{};
  };

  /// As a supervisor does.    @throws std::runtime_error  a worker has ended with another error
  void look_after_those_that_ended() {
    for (auto each = running_.begin(); each != running_.end();) {
      auto& [name, worker] = *each;
      if (!worker.program->has_ended()) {
        ++each;
        continue;
      }
      const program_result ended = worker.program->wait();
      if (ended.exit_code == 0) {
        each = running_.erase(each);
        continue;
      }
      if (ended.err.find("nothing is lost: start it again") == std::string::npos)
        throw std::runtime_error(name + " has ended: " + ended.err);
      worker.program = std::make_unique<running_program>(worker.command);
      ++restarts_;
      last_words_ = ended.err;
    }
  }
  template <typename Condition>
  void wait_for(Condition holds, const std::string& condition) {
    const auto supervised = [&] {
      look_after_those_that_ended();
      return holds();
    };
    wait_until(supervised, condition);
  }

  [[nodiscard]] std::vector<std::string> command(const std::string& worker,
                                                 const manner_of_work& manner) const {
    const std::string limit = std::to_string(manner.silence.count());
    const std::string source = "kafka://" + brokers_ + "/clicks-" + job_ + "?group=" + job_ +
                               "&session.timeout.ms=" + limit + "&max.poll.interval.ms=" + limit +
                               "&heartbeat.interval.ms=100&fetch.wait.max.ms=20"
                               "&max.partition.fetch.bytes=2000&topic.metadata.refresh.interval.ms=" +
                               std::to_string(manner.asks_every.count()) + manner.of_source;
    const std::string sink = "kafka://" + brokers_ + "/fresh-" + job_ + "?transactional.id=" + job_ + '-' +
                             manner.transactional_id.value_or(worker) +
                             "&transaction.timeout.ms=" + std::to_string(transaction_limit_.count());
    return {manner.stops_at.empty() ? everseen_program() : dying_program(),
            "stream",
            "--quiet",
            "--store",
            store_.url(),
            "--filter",
            job_,
            "--job",
            job_,
            "--worker",
            worker,
            "--error-rate",
            "1e-12",
            "--key-json",
            "/id",
            "--settle-every",
            "10ms",
            "--from",
            source,
            "--to",
            sink};
  }

  std::string brokers_;
  std::string job_;
  int partitions_;
  std::chrono::milliseconds transaction_limit_;
  kafka_client kafka_;
  redis_server store_{};
  click_stream clicks_ = make_clicks(1, 6'000);
  std::size_t produced_ = 0;
  std::map<std::string, running> running_{};
  int restarts_ = 0;
  std::string last_words_{};
};

}  // namespace everseen::test
