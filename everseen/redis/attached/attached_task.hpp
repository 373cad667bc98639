#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/attached/located_keys.hpp"
#include "everseen/redis/keyspace/attachment.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/script/sequence.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// What all tasks of an attached filter share.
struct attached_names {
  attachment to;
  std::string own;  ///< begins the names of the keys that everseen keeps for it
  std::chrono::milliseconds keeps_answers = answers_kept;
};

/// The keys of one string, or chain of strings, on their way through a server: a state machine that knows
/// what to ask next, for drive().
///
/// By script: one call for up to 1000 keys, atomic, and remembered by the server, so that it may be sent
/// again. Of a chain, whose every string is looked into for every key, a call has the fewer keys the more
/// strings there are: each takes a server some 5 ms. Without scripts: a BITFIELD for each key, pipelined,
/// each atomic; one whose answer is lost leaves its keys `unknown`, one that is refused leaves its own key
/// so. A chain needs scripts: to read the cursor, look and add are one step there. Invariant: the verdicts
/// written so far are final, those of the other keys are `unknown`.
class attached_task {
 public:
  enum class purpose : std::uint8_t { add, check };

  /// By which commands keys are judged.
  struct commands {
    std::string client;        ///< names the connection's batches
    bool by_script = true;     ///< or by BITFIELD
    bool may_change = false;   ///< to BITFIELD, where scripts are forbidden
    std::uint64_t newest = 0;  ///< string of a chain, as far as is known
  };

  /// @param out  of the whole batch: located_keys::origin says where a key stands in it
  attached_task(const attached_names& f, purpose what, located_keys keys, std::span<verdict> out, commands c);

  [[nodiscard]] bool done() const noexcept {
    return failure_.has_value() || held_ || from_ == keys_.origin.size();
  }
  /// The next thing to ask.    @pre !done()
  [[nodiscard]] request next();
  /// Draws the consequences of the answer.
  void take(const answer& a);

  /// Whether the next thing to ask may add keys.    @pre !done()
  [[nodiscard]] bool adds_next() const noexcept {
    return purpose_ == purpose::add && (commands_.by_script || has_looked_);
  }
  /// Where all that it asks goes.
  [[nodiscard]] route place() const { return {keys_.place.key, keys_.place.instance}; }
  /// Whether another program is about to begin the newest string, by the last answer. The caller waits, and
  /// then lets the task go on, or give up.
  [[nodiscard]] bool held() const noexcept { return held_; }
  /// Asks once more.    @pre held()
  void go_on() noexcept { held_ = false; }
  /// Fails, because the string was not begun.    @pre held()
  void give_up_waiting();
  /// What was learned on the way: whether scripts are allowed, and the newest string.
  [[nodiscard]] const commands& learned() const noexcept { return commands_; }
  [[nodiscard]] const std::optional<batch_failure>& failure() const noexcept { return failure_; }

 private:
  [[nodiscard]] std::size_t count() const noexcept;
  [[nodiscard]] bool grows() const noexcept { return names_.to.shape == attachment::form::growing; }
  [[nodiscard]] std::span<const std::uint64_t> positions_of(std::size_t first, std::size_t keys) const;

  [[nodiscard]] std::vector<std::string> script_keys() const;
  [[nodiscard]] std::vector<std::string> script_arguments() const;
  [[nodiscard]] request ask_script();
  [[nodiscard]] std::uint64_t last_position(std::size_t first, std::size_t keys) const;
  [[nodiscard]] request ask_length() const;
  [[nodiscard]] request ask_to_write() const;
  [[nodiscard]] request ask_to_read() const;
  void take_script(const reply& r);
  void take_length(const answer& a);
  void take_bits(const answer& a);
  void take_verdicts(std::string_view verdicts);
  void take_newest(std::string_view number);
  void take_fault(std::string_view fault);
  void judge_key(std::size_t key, bool seen);
  void fail(batch_failure::cause why, std::string message);
  void refused(const reply& r);
  void wrong_string(char how, const std::string& key);

  const attached_names& names_;
  purpose purpose_;
  located_keys keys_;
  std::span<verdict> out_;
  commands commands_;
  std::size_t from_ = 0;     // keys before have their verdict
  std::string sequence_{};   // names the call under way
  bool has_looked_ = false;  // without scripts: the string is what was attached
  bool held_ = false;
  std::string_view reading_ = "BITFIELD_RO";
  int moved_ = 0;  // times in a row that the cursor was elsewhere
  std::optional<batch_failure> failure_{};
};

}  // namespace everseen::redis
