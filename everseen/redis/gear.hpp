#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/partition.hpp"
#include "everseen/core/partition_keys.hpp"
#include "everseen/redis/redis_url.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/session.hpp"

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

/// A segment on its way to its full length, before it is published.
struct lengthening {
  segment_id id;
  std::uint64_t epoch = 0;  ///< that it was planned in
  std::uint64_t bytes = 0;  ///< to be reached now
};

/// A partition's next list of segments.
struct publication {
  std::uint32_t partition = 0;
  std::uint64_t epoch = 0;  ///< that it follows
  std::uint64_t next_epoch = 0;
  std::string manifest;
  segment_id added;
  std::uint64_t bytes = 0;  ///< length of the added segment
  std::vector<segment_id> expired;
  std::string ends_at;  ///< when the added segment is to expire, milliseconds since 1970; empty: never
};

/// Until it is published nobody else would ever find a segment, so it has a time limit.
using partition_keys::unpublished_life_ms;

/// What an answer meant.
struct meaning {
  enum class kind : std::uint8_t {
    done,       ///< of a question about keys: the verdicts in `text` are final
    again,      ///< not done yet: ask once more
    stale,      ///< the partition has changed since it was looked at; nothing was changed
    held,       ///< somebody else holds the partition (lease.hpp) for `left`; nothing was changed
    claimed,    ///< the lane was claimed further by somebody else, or by this very call before
    gone,       ///< its state, which is the `key`, is not there
    unmade,     ///< of a segment to be published: it is not there, or not as long as it was made
    damaged,    ///< `key` is not what it must be, and `text` says what is wrong
    forbidden,  ///< the server does not allow what this gear needs; nothing was changed
    disowned,   ///< the same, but an attempt before, whose answer was lost, may have added the keys
    refused,    ///< the server answered with an error, which is the `text`
    lost,       ///< no answer; `text` says why
  };

  kind what = kind::done;
  /// A character a key, from the first on: `0` fresh, `1` seen, `2` late, `3` no room. The rest is to be
  /// asked again.
  std::string text{};
  bool wants_growth = false;          ///< the key behind the last verdict found no room
  std::string key{};                  ///< of damage
  std::uint64_t length = 0;           ///< of a segment that was lengthened
  std::chrono::milliseconds left{0};  ///< until the lease ends, unless it is renewed
};

/// How keys reach a server: the commands that ask what a partition_task wants to know.
///
/// All gears give the same verdicts over the same keys of the server, so clients may use different ones on
/// one filter. A gear serves one partition_task and may remember what it has asked. Each question is put by
/// the first function of a pair and its answer given to the second, until that says something else than
/// `again`. Threads: one at a time.
class gear {
 public:
  virtual ~gear() = default;

  /// Whether judging makes the segments that keys need. Else they are made before, by what follows.
  [[nodiscard]] virtual bool makes_segments() const noexcept { return false; }
  /// Whether keys of several slices may be added by one call.
  [[nodiscard]] virtual bool takes_slices() const noexcept { return false; }
  /// Keys judged in one call: a few milliseconds of the server's time.
  [[nodiscard]] virtual std::size_t keys_a_call() const noexcept { return 1000; }

  [[nodiscard]] virtual request judge(const judging& q) = 0;
  [[nodiscard]] virtual meaning judged(const judging& q, const answer& a) = 0;

  /// Whether a server tells this gear what it answered to another one.
  [[nodiscard]] virtual bool recalls() const noexcept { return false; }
  /// Asks for the verdicts that a question of another gear got. Where it got none, it never will, so its keys
  /// may be asked about anew.    @pre recalls() and q.adding
  [[nodiscard]] virtual request recall(const judging& q);
  [[nodiscard]] virtual meaning recalled(const judging& q, const answer& a);

  /// Makes a segment that is not published yet at least so long, filling up with zeros; never changes what is
  /// there.
  [[nodiscard]] virtual request lengthen(const lengthening& l) = 0;
  [[nodiscard]] virtual meaning lengthened(const lengthening& l, const answer& a) = 0;

  /// Replaces the list of segments, if the epoch is still the one that the next list follows.
  [[nodiscard]] virtual request publish(const publication& p) = 0;
  [[nodiscard]] virtual meaning published(const publication& p, const answer& a) = 0;
};

/// @param client  names this connection's batches, so that one which is sent twice is answered alike
[[nodiscard]] std::unique_ptr<gear> make_gear(gear_kind kind, const remote_filter& f,
                                              std::string_view client);

/// Whether this reply says that the server will not run scripts for us, ever: an ACL without them, or
/// commands that were renamed away.
[[nodiscard]] bool forbids_scripts(const reply& r) noexcept;

}  // namespace everseen::redis
