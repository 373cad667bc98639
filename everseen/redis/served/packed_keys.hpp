#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/image.hpp"
#include "everseen/core/format/lane_record.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/core/spec/window.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen::redis {

class lane_claim;

/// Keys of one partition that one command of the module judges: their digests, 16 bytes each, and their
/// slices.
///
/// Each call is atomic, and safe to send again after its answer was lost: the server remembers the answer by
/// the call's sequence, and a claim detects that its lane has advanced.
struct packed_keys {
  std::uint32_t partition = 0;
  bool adding = false;
  lane_claim* claim = nullptr;  ///< the keys are added as events of a job
  /// When adding, identifies the call: the same for every attempt, higher than those of earlier calls.
  std::string sequence{};
  /// The slice of all keys; the oldest one if they have several.
  window::slice_index slice = window::timeless;
  /// For each key, its slice minus `slice`; empty: all are of that one.
  std::string offsets{};
  std::span<const digest> digests{};
  std::size_t first = 0;  ///< the index of the first key in the batch
};

/// The number of keys in one call: some milliseconds of the server's time.
inline constexpr std::size_t packed_keys_a_call = 16'384;

/// The next keys of a batch that one call can hold: all, unless their slices differ by more than a byte
/// distinguishes.
///
/// Keys keep their order, so the division into calls changes no verdict. A key that is late because of an
/// earlier key of the batch counts as of the slice before the window, so late keys of any age share a call.
class key_divider {
 public:
  /// @param times  as partition_batch    @param moves  the keys are added, so each may move the window
  key_divider(const spec& s, std::span<const event_time> times, bool moves) noexcept
      : window_(s.window), times_(times), moves_(moves) {}

  /// Fills in the slice and the offsets of the keys from `from` on.
  /// @param most  @pre > 0    @return how many keys
  std::size_t divide(std::size_t from, std::size_t most, packed_keys& into);

 private:
  [[nodiscard]] window::slice_index slice_of(std::size_t key,
                                             std::optional<window::slice_index> newest) const;

  std::optional<window_spec> window_;
  std::span<const event_time> times_;
  bool moves_;
  std::optional<window::slice_index> newest_{};  // of the keys so far
};

/// The result of a call.
struct packed_answer {
  enum class kind : std::uint8_t {
    done,     ///< `verdicts` are the answer
    sealed,   ///< nothing was added; `successor` takes the keys
    claimed,  ///< another client has claimed more of the lane, or this very call did before
    ended,    ///< the job of the claim has ended
    failed,   ///< as `failure` says; nothing is known of the keys
  };
  kind outcome = kind::failed;
  /// A character per key: `0` fresh, `1` seen, `2` late, `3` no room. Of a claim, up to the first `3`.
  std::string verdicts{};
  /// Also of a look-up that was answered: the value is sealed.
  std::optional<image::filter_id> successor{};
  std::optional<batch_failure> failure{};
};

/// The module's commands for keys: EVERSEEN.ADDPACKED, EVERSEEN.CHECKPACKED and EVERSEEN.CLAIMPACKED
/// (doc/module.md). Threads: any; a claim is used by one.
class packed_commands {
 public:
  /// @param f  must outlive this
  /// @param client  identifies this connection's batches, so that a batch that is sent twice gets one answer
  /// @param keeps_answers  how long servers remember their answers
  packed_commands(const filter_identity& f, std::string client, std::chrono::milliseconds keeps_answers);

  [[nodiscard]] const filter_identity& filter() const noexcept { return *filter_; }
  [[nodiscard]] request ask(const packed_keys& q) const;
  /// Also updates the record of a claim.
  [[nodiscard]] packed_answer answered(const packed_keys& q, const answer& a) const;

 private:
  [[nodiscard]] request claim(const packed_keys& q) const;
  /// Of the value that is meant: that of the filter, and the number of the partition.
  [[nodiscard]] std::string fingerprint(std::uint32_t partition) const {
    return fingerprint_ + '/' + std::to_string(partition);
  }

  const filter_identity* filter_;
  std::string fingerprint_;  // of the filter
  std::string client_;
  std::chrono::milliseconds keeps_answers_;
};

/// Whether all servers that answer have the module.    @throws backend_error  none answers
[[nodiscard]] bool have_module(server_connections& connections);
/// For filters that servers judge. A server that does not say whether it has the module is taken to have it.
/// @throws parameter_error  one lacks it; the message says what else can be done
/// @throws backend_error    none answers
void require_module(server_connections& connections);

/// The data of a claim besides its keys, and the changes that an answer makes to the lane's record.
///
/// The record is the client's copy of what the partition remembers. Each call names its head, so a call made
/// from a stale copy is refused; each answer updates the copy. Threads: one at a time.
class lane_claim {
 public:
  /// @param job  its id
  /// @param settled  as lane_progress::settled    @param record  outlives this
  lane_claim(std::string job, std::string lane, const claim_batch& batch, std::uint64_t settled,
             lane_record& record)
      : job_(std::move(job)), lane_(std::move(lane)), batch_(batch), settled_(settled), record_(record) {}

  [[nodiscard]] const std::string& job() const noexcept { return job_; }
  [[nodiscard]] const std::string& lane() const noexcept { return lane_; }
  /// Where in the record a call begins.
  struct link {
    std::string head{};               ///< that the record must have
    std::size_t forgotten_bytes = 0;  ///< of the record, which are removed: the head, and what is settled
  };
  [[nodiscard]] link first_link() const;

  [[nodiscard]] std::string positions(const packed_keys& q) const;

  /// The counters of a call's events: the different names, and for each event its places in this list, 4
  /// bytes each, big-endian.
  struct counting {
    std::vector<std::string_view> names{};
    std::string places{};
  };
  [[nodiscard]] counting counts(const packed_keys& q);
  [[nodiscard]] std::size_t counts_per_event() const noexcept { return batch_.counts.per_event; }

  /// Updates the record after an answer.    @param verdicts  one character per event, up to the last judged
  void take(const packed_keys& q, std::string_view verdicts);

 private:
  std::string job_;
  std::string lane_;
  const claim_batch batch_;
  std::uint64_t settled_;
  lane_record& record_;
  std::vector<std::uint32_t> renumbered_{};
};

}  // namespace everseen::redis
