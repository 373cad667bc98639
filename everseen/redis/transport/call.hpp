#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/transport/byte_stream.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

/// Commands that wait for their replies. If a server refuses one of them, all of them are sent again: either
/// the request is repeatable, or there is only one command, and a refused command was not run.
class call {
 public:
  using clock = std::chrono::steady_clock;

  /// All commands of a request.
  /// @param r  must live as long as the call
  /// @param pinned  the server that it must go to, regardless of its route
  explicit call(const request& r, std::optional<endpoint> pinned = {});
  /// Some of its commands.    @pre r.repeatable, or commands == 1
  call(const request& r, std::string_view wire, std::size_t commands);

  [[nodiscard]] const request& asked() const noexcept { return request_; }
  [[nodiscard]] const std::optional<endpoint>& pinned() const noexcept { return pinned_; }

  /// What to send now, and the number of replies to it.
  [[nodiscard]] std::string_view wire() const noexcept;
  [[nodiscard]] std::size_t commands() const noexcept;

  /// Takes the replies to wire().
  /// @return the first refusal among them; nothing if the call is done. After `no_script`, wire() has the
  /// text of the script
  std::optional<refusal> process_replies(std::vector<reply> replies, const endpoint& from);
  /// The next wire() is for a server that has received keys of a migrating slot (ASKING). Only the commands
  /// that were refused go there: the keys of the others have not moved yet, and there they would seem to be
  /// missing.
  void ask_for_permission();
  /// The connection has ended: the next wire() is without ASKING.
  void forget_permission() noexcept { asking_.clear(); }

  /// @pre process_replies() returned nothing
  [[nodiscard]] std::vector<reply> take_replies() { return std::move(replies_); }
  /// Whether it may have written something that replicas must have.
  /// @pre process_replies() returned nothing
  [[nodiscard]] bool waits_for_replicas() const;

  /// @pre trouble_since
  [[nodiscard]] std::chrono::milliseconds in_trouble_for() const;
  /// The outage to report if it gets no answer.
  [[nodiscard]] outage ended_by(const failure& why) const;

  const clock::time_point begun = clock::now();
  /// When it was first refused or lost, or when a server that gave no answer fell silent.
  std::optional<clock::time_point> trouble_since{};
  bool may_have_run = false;  ///< in whole or in part
  unsigned redirections = 0;
  answer outcome{};  ///< once it is complete

 private:
  const request& request_;
  std::string_view wire_;
  std::size_t commands_;
  std::optional<endpoint> pinned_{};
  std::vector<reply> replies_{};
  std::string text_{};                  // replaces wire_ once a server did not know its script
  std::vector<std::size_t> refused_{};  // commands, by the last process_replies()
  std::string asking_{};  // these commands with an ASKING in front of each; empty: wire_ is to be sent
};

/// Sends the requests of all tasks together and passes on the answers, until all tasks are done. Every batch
/// reaches its servers this way, for filters of our own (partition_task) and of others (attached_task).
///
/// Cost: one exchange for each step of the longest task. Threads: one per vector of tasks.
template <typename Task>
void drive(server_connections& connections, std::vector<Task>& tasks) {
  std::vector<Task*> waiting;
  std::vector<request> requests;
  for (;;) {
    waiting.clear();
    requests.clear();
    for (Task& task : tasks) {
      if (task.done()) continue;
      const bool adds = task.adds_next();
      waiting.push_back(&task);
      requests.push_back(task.next());
      requests.back().on_replicas = adds;
    }
    if (waiting.empty()) return;
    const std::vector<answer> answers = connections.exchange(requests);
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->take(answers[i]);
  }
}

}  // namespace everseen::redis
