#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/transport/byte_stream.hpp"
#include "everseen/redis/transport/session.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

/// Commands on their way to their replies. All of them are sent again if one of them was refused: either the
/// request is repeatable, or there is only one command, which a server that refuses it has not run.
class job {
 public:
  using clock = std::chrono::steady_clock;

  /// All commands of a request.
  /// @param r  must live as long as the job
  /// @param pinned  the server it must go to, whatever its route says
  explicit job(const request& r, std::optional<endpoint> pinned = {});
  /// Some of its commands.    @pre r.repeatable, or commands == 1
  job(const request& r, std::string_view wire, std::size_t commands);

  [[nodiscard]] const request& asked() const noexcept { return request_; }
  [[nodiscard]] const std::optional<endpoint>& pinned() const noexcept { return pinned_; }

  /// What to send now, and how many replies that brings.
  [[nodiscard]] std::string_view wire() const noexcept;
  [[nodiscard]] std::size_t commands() const noexcept;

  /// Takes the replies to wire().
  /// @return the first refusal among them; nothing if the job is done. After `no_script` wire() has the text
  std::optional<refusal> take(std::vector<reply> replies, const endpoint& from);
  /// The next wire() goes to a server that has the key but not the slot.
  void ask_for_permission();
  /// The connection has ended: whatever server comes next is asked without that.
  void forget_permission() noexcept { asking_.clear(); }

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
  answer outcome{};  ///< once it is settled

 private:
  const request& request_;
  std::string_view wire_;
  std::size_t commands_;
  std::optional<endpoint> pinned_{};
  std::vector<reply> replies_{};
  std::string text_{};    // wire_, once a server did not know the script that it calls by name
  std::string asking_{};  // wire_ with an ASKING in front of each command; empty: to be sent without
};

}  // namespace everseen::redis
