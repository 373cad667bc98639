#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/partition.hpp"
#include "everseen/redis/served/remote_partition.hpp"
#include "everseen/redis/transport/session.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen::redis {

/// Keys of one partition, and what they are to be compared with.
struct judging {
  struct target {
    segment_id id;
    layer_state layer;  ///< its count is that of the moment the partition was looked at
  };

  std::uint32_t partition = 0;
  std::uint64_t epoch = 0;  ///< that the targets belong to
  bool adding = false;
  window::slice_index slice = window::timeless;  ///< of all keys; the oldest, where they are of several
  /// Of each key, where they are of several; else empty. Of one that is late it is any that is late.
  std::vector<window::slice_index> slices{};
  /// When adding, names the keys: the same for every attempt, higher than that of any question before.
  std::string sequence{};
  std::span<const digest> digests;
  std::size_t first = 0;  ///< the place of the first of them in the batch
  /// When adding, those to write come last, one a slice. Empty for a gear that makes segments: it finds
  /// them, too.
  std::vector<target> targets{};
  std::size_t written = 0;  ///< of the targets
};

/// What an answer meant.
struct meaning {
  enum class kind : std::uint8_t {
    done,     ///< of a question about keys: the verdicts in `text` are final
    again,    ///< not done yet: ask once more
    stale,    ///< the partition has changed since it was looked at; nothing was changed
    claimed,  ///< the lane was claimed further by somebody else, or by this very call before; or its job
              ///< ended
    gone,     ///< its state, which is the `key`, is not there
    damaged,  ///< `key` is not what it must be, and `text` says what is wrong
    denied,   ///< the server lacks what the gear needs, or does not allow it; `text` says what to do
    refused,  ///< the server answered with an error, which is the `text`
    lost,     ///< no answer; `text` says why
  };

  kind what = kind::done;
  /// A character a key, from the first on: `0` fresh, `1` seen, `2` late, `3` no room. The rest is to be
  /// asked again.
  std::string text{};
  bool wants_growth = false;  ///< the key behind the last verdict found no room
  std::string key{};          ///< of damage
};

/// How keys reach a server: the command that asks about them.
///
/// Both gears, scripts and the module, give the same verdicts over the same keys of the server, so clients
/// may use different ones on one filter. A gear serves one partition_task. judge() puts the question and
/// judged() is given its answer, until that says something else than `again`. Threads: one at a time.
class gear {
 public:
  virtual ~gear() = default;

  /// Whether judging makes the segments that keys need. Else they are made before, by the script `grow`.
  [[nodiscard]] virtual bool makes_segments() const noexcept = 0;
  /// Keys judged in one call: a few milliseconds of the server's time.
  [[nodiscard]] virtual std::size_t keys_a_call() const noexcept = 0;

  [[nodiscard]] virtual request judge(const judging& q) = 0;
  [[nodiscard]] virtual meaning judged(const judging& q, const answer& a) = 0;
};

/// @param client  names this connection's batches, so that one which is sent twice is answered alike
/// @param keeps_answers  how long servers remember what they answered
/// @pre kind is script or module
[[nodiscard]] std::unique_ptr<gear> make_gear(gear_kind kind, const filter_identity& f,
                                              std::string_view client,
                                              std::chrono::milliseconds keeps_answers);

/// Whether all servers have the module, as far as they answer.
[[nodiscard]] bool have_module(session& with);

/// The gear of a filter, decided once, when it is opened: the module where all servers have it, else scripts;
/// or what the URL says.
///
/// A server that does not answer has no say, nor one that denies the question where the URL asks for the
/// module. If it turns out not to have what was chosen, its batches get an error that says so.
/// Cost: an exchange with all servers.
/// @throws parameter_error  the URL asks for what the servers lack, or for what attached filters alone have
/// @throws backend_error    a server allows neither of both, or none answers
[[nodiscard]] gear_kind choose_gear(session& with, const redis_url& url);

}  // namespace everseen::redis
