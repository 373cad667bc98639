#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/transport/failure.hpp"
#include "everseen/redis/transport/session.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

/// A request on its way to its answer: which of its commands have replies, and what is to be sent for the
/// others.
///
/// A command that was refused was not run, so it may be sent again even if its request is not repeatable. Of
/// such a request only the refused commands are.
///
/// A request with a transaction is one thing. If EXEC was refused, or says that a part was, then nothing ran
/// and all of it is sent again; else it ran, and is answered by whatever was replied. While its slot moves it
/// goes nowhere until one server has all its keys.
class job {
 public:
  using clock = std::chrono::steady_clock;

  /// @param pinned  the server it must go to, whatever its route says
  /// @param r  must live as long as the job
  explicit job(const request& r, std::optional<endpoint> pinned = {});

  [[nodiscard]] const request& asked() const noexcept { return request_; }
  [[nodiscard]] const std::optional<endpoint>& pinned() const noexcept { return pinned_; }

  /// What to send now, and how many replies that brings.
  [[nodiscard]] std::string_view wire() const noexcept;
  [[nodiscard]] std::size_t commands() const noexcept;

  /// Takes the replies to wire().
  /// @return the first refusal among them; nothing if the job is done
  std::optional<refusal> take(std::vector<reply> replies, const endpoint& from);
  /// The next wire() goes to a server that has the key but not the slot.
  void ask_for_permission();
  /// The connection ended with wire() on its way: all of it will be sent again.
  /// @pre asked().repeatable, or nothing of it was sent
  void start_over();

  /// @pre take() returned nothing
  [[nodiscard]] std::vector<reply> take_replies() { return std::move(replies_); }
  /// Whether it may have written what replicas are to have: then it waits for them.
  /// @pre take() returned nothing
  [[nodiscard]] bool waits_for_replicas() const;

  /// How long ago it first was refused or lost.    @pre trouble_since
  [[nodiscard]] std::chrono::milliseconds in_trouble_for() const;
  /// It gets no answer.
  [[nodiscard]] outage ended_by(const failure& why) const;

  const clock::time_point begun = clock::now();
  std::optional<clock::time_point> trouble_since{};  ///< when it was first refused or lost
  bool may_have_run = false;  ///< some of it: an answer to it may have been lost, or was not all there is
  unsigned redirections = 0;

 private:
  bool look_at_transaction(std::span<const std::string_view> commands, const endpoint& from, refusal& first,
                           std::vector<bool>& refused) const;
  void choose_again(std::span<const std::string_view> commands, const std::vector<bool>& refused);

  const request& request_;
  std::optional<endpoint> pinned_;
  std::vector<reply> replies_{};     // one for each command of the request
  std::vector<std::size_t> todo_{};  // which commands wire() sends; empty: all
  std::string rewritten_{};          // wire(), if not the request's own
  std::vector<bool> permission_{};   // which replies are to an ASKING in front; empty: none
};

}  // namespace everseen::redis
