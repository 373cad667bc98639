#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/served/remote_partition.hpp"
#include "everseen/redis/transport/session.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen::redis {

class lane_claim;

/// Keys of one partition and the segments that they are compared with.
struct judge_call {
  struct target {
    segment_id id;
    layer_state layer;  ///< its count is that of the moment the partition was read
  };

  std::uint32_t partition = 0;
  std::uint64_t epoch = 0;  ///< of the state that the targets are from
  bool adding = false;
  lane_claim* claim = nullptr;  ///< the keys are added as events of a job
  /// The slice of all keys; the oldest one if they have several.
  window::slice_index slice = window::timeless;
  /// The slice of each added key, if they have several or are late; else empty. A late key may name any late
  /// slice.
  std::vector<window::slice_index> slices{};
  /// When adding, identifies the call: the same for every attempt, higher than those of earlier calls.
  std::string sequence{};
  std::span<const digest> digests;
  std::size_t first = 0;  ///< the index of the first key in the batch
  /// For scripts. When adding, the segments to write come last, one per slice. The module finds them itself.
  std::vector<target> targets{};
  std::size_t written = 0;  ///< of the targets
};

/// A segment that scripts create, and the state of the partition afterwards.
struct growth_call {
  std::uint64_t epoch = 0;  ///< of the state that it was planned for
  segment_id segment;
  std::uint64_t bytes = 0;
  remote_partition next;
  std::vector<segment_id> expired{};
};

/// The result of an answer.
struct call_result {
  enum class kind : std::uint8_t {
    done,     ///< `text` is the answer
    stale,    ///< the partition has changed since it was read; nothing was changed
    claimed,  ///< another client has claimed more of the lane, or this very call did before
    ended,    ///< the job of the claim has ended
    failed,   ///< as `failure` says
  };

  kind what = kind::done;
  /// For a judge_call, one character per key, from the first on: `0` fresh, `1` seen, `2` late, `3` no room.
  /// Send the remaining keys again.
  std::string text{};
  bool wants_growth = false;  ///< the key after the last verdict found no room
  std::optional<batch_failure> failure{};

  /// No answer, or an error that cannot be handled.
  [[nodiscard]] static call_result failed(std::string message);
  /// A key has the wrong type or content.
  [[nodiscard]] static call_result damaged(const std::string& key, const std::string& what);
  /// The server's error about a key.
  [[nodiscard]] static call_result refused(const std::string& key, const reply& error);
  /// The filter was dropped or rebuilt: its state is missing.
  [[nodiscard]] static call_result gone(const std::string& state);
};

/// The commands by which servers judge keys: those of the module (doc/module.md), or scripts.
///
/// Both judge by the same keys of the server and differ at most in false positives within a batch, so clients
/// may use different ones on one filter. Each call is atomic, and safe to send again after its answer was
/// lost: the server remembers the answer by the call's sequence, and a claim detects that its lane has
/// advanced.
///
/// Threads: one at a time.
class command_set {
 public:
  /// @param client  identifies this connection's batches, so that a batch that is sent twice gets one answer
  /// @param keeps_answers  how long servers remember their answers
  /// @pre kind is script or module
  command_set(const filter_identity& f, command_kind kind, std::string client,
              std::chrono::milliseconds keeps_answers);

  [[nodiscard]] const filter_identity& filter() const noexcept { return *filter_; }
  /// Whether judging creates the segments that keys need. If not, grow() creates them first.
  [[nodiscard]] bool makes_segments() const noexcept { return kind_ == command_kind::module; }
  /// The number of keys in one judge_call: some milliseconds of the server's time.
  [[nodiscard]] std::size_t keys_a_call(bool are_claimed) const noexcept;

  [[nodiscard]] request judge(const judge_call& q) const;
  [[nodiscard]] call_result judged(const judge_call& q, const answer& a);

  /// Creates part of a segment by a script, for judging by scripts and for moving a window.
  [[nodiscard]] request grow(const growth_call& g) const;
  /// `done` with `K`: the segment is complete and listed; with `D1`: it is too long; otherwise another step
  /// is needed.
  [[nodiscard]] call_result grown(const growth_call& g, const answer& a);

 private:
  /// KEYS and ARGV of a script. The first key is the state.
  struct script_words {
    std::vector<std::string> keys;
    std::vector<std::string> arguments;
  };

  [[nodiscard]] request judge_by_module(const judge_call& q) const;
  [[nodiscard]] call_result judged_by_module(const judge_call& q, const answer& a) const;

  [[nodiscard]] request judge_by_scripts(const judge_call& q) const;
  [[nodiscard]] call_result judged_by_scripts(const judge_call& q, const answer& a);
  [[nodiscard]] call_result verdicts_of_script(const judge_call& part, const reply& r);
  [[nodiscard]] script_words words_of(const judge_call& part, const std::string& head,
                                      std::size_t forgotten_bytes) const;
  void append_keys(script_words& w, const judge_call& q) const;
  [[nodiscard]] call_result understand(const std::string& state, const std::string& key, const reply& r);

  const filter_identity* filter_;
  command_kind kind_;
  std::string client_;
  std::chrono::milliseconds keeps_answers_;
};

/// A command that shows whether the server has the module, and the check of its answer. An older module,
/// whose calls take one slice, does not count.
[[nodiscard]] std::string module_question();
[[nodiscard]] bool says_module(const reply& r) noexcept;

/// Whether all servers that answer have the module.    @throws backend_error  none answers
[[nodiscard]] bool have_module(session& with);

/// The commands for a filter, chosen when it is opened: the module if all servers have it, else scripts; or
/// as commands= of the URL says.
///
/// A server that does not answer is ignored, and so is one that denies the question if the URL asks for the
/// module. If it turns out to lack the commands, its batches get an error that says so. Cost: one round trip
/// to all servers.
/// @throws parameter_error  the URL asks for commands that the servers lack, or that only attached filters
///   use
/// @throws backend_error    a server allows neither, or none answers
[[nodiscard]] command_kind choose_commands(session& with, const redis_url& url);

}  // namespace everseen::redis
