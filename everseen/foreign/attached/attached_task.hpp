#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/foreign/attached/attached_scripts.hpp"
#include "everseen/foreign/attached/attachment.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::foreign {

/// The keys of a batch whose bits are in one string, or one chain of strings, of an attached filter.
struct located_keys {
  bitmap_place place;                      ///< of a growing filter its oldest string
  std::vector<std::uint32_t> origin{};     ///< where each key stood in the batch
  std::vector<std::uint64_t> positions{};  ///< of its bits as SETBIT numbers them, one a probe, key after key
};

/// The keys by string, in their order.
/// @throws parameter_error  the funnel of the filter cannot read a key
[[nodiscard]] std::vector<located_keys> locate(const attachment& a, std::span<const std::string_view> keys);

/// The common data of all tasks of an attached filter.
struct attached_names {
  attachment target;
  std::string own;  ///< begins the names of the keys that everseen keeps for it
};

/// The keys of one string, or chain of strings, on their way through a server: a state machine for drive()
/// that produces the next request.
///
/// With scripts: one atomic call for up to 1000 keys. The server remembers its answer, so the call can be
/// sent again. In a chain, every key is looked up in every string, so calls for longer chains have fewer
/// keys; each call takes a server about 5 ms. Without scripts: one atomic BITFIELD per key, pipelined; if an
/// answer is lost, its keys stay `unknown`, and if one is refused, its own key does. A chain needs scripts,
/// which read the cursor, look up and add in one step. Invariant: the verdicts written so far are final,
/// those of the other keys are `unknown`.
class attached_task {
 public:
  enum class purpose : std::uint8_t { add, check };

  /// The commands that judge keys.
  struct commands {
    std::string client;        ///< names the connection's batches
    bool by_script = true;     ///< or by BITFIELD
    bool may_change = false;   ///< to BITFIELD, where scripts are forbidden
    std::uint64_t newest = 0;  ///< string of a chain, as far as is known
    std::chrono::milliseconds keeps_answers = redis::answers_kept;
  };

  /// @param out  for the whole batch: located_keys::origin has each key's place in it
  attached_task(const attached_names& f, purpose intent, located_keys keys, std::span<verdict> out,
                commands c);

  [[nodiscard]] bool done() const noexcept {
    return failure_.has_value() || held_ || from_ == keys_.origin.size();
  }
  /// The next request.    @pre !done()
  [[nodiscard]] redis::request next();
  /// Processes the answer.
  void take(const redis::answer& a);

  /// Whether the next request may add keys.    @pre !done()
  [[nodiscard]] bool adds_next() const noexcept {
    return purpose_ == purpose::add && (commands_.by_script || has_looked_);
  }
  /// The route of all its requests.
  [[nodiscard]] redis::route place() const { return {keys_.place.key, keys_.place.instance}; }
  /// Whether, by the last answer, another program is about to begin the newest string. The caller waits, and
  /// then lets the task continue or give up.
  [[nodiscard]] bool held() const noexcept { return held_; }
  /// Sends the request again.    @pre held()
  void resume() noexcept { held_ = false; }
  /// Fails, because the string was not begun.    @pre held()
  void give_up_waiting();
  /// What the answers showed: whether scripts are allowed, and the newest string.
  [[nodiscard]] const commands& learned() const noexcept { return commands_; }
  [[nodiscard]] const std::optional<batch_failure>& failure() const noexcept { return failure_; }

 private:
  [[nodiscard]] std::size_t count() const noexcept;
  [[nodiscard]] bool grows() const noexcept { return names_.target.shape == attachment::form::growing; }
  [[nodiscard]] std::span<const std::uint64_t> positions_of(std::size_t first, std::size_t keys) const;

  [[nodiscard]] std::vector<std::string> script_keys() const;
  [[nodiscard]] std::vector<std::string> script_arguments() const;
  [[nodiscard]] redis::request ask_script();
  [[nodiscard]] std::uint64_t last_position(std::size_t first, std::size_t keys) const;
  [[nodiscard]] redis::request ask_length() const;
  [[nodiscard]] redis::request ask_to_write() const;
  [[nodiscard]] redis::request ask_to_read() const;
  void take_script(const redis::reply& r);
  void take_length(const redis::answer& a);
  void take_bits(const redis::answer& a);
  void take_verdicts(std::string_view verdicts);
  void take_newest(std::string_view number);
  void take_fault(std::string_view fault);
  void judge_key(std::size_t key, bool seen);
  void fail(batch_failure::cause why, std::string message);
  void refused(const redis::reply& r);
  void wrong_string(char fault, const std::string& key);

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

}  // namespace everseen::foreign
