#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/core/lane_record.hpp"
#include "everseen/core/partition.hpp"
#include "everseen/store/ledger.hpp"

// What the ledgers over servers do alike, whoever judges.
namespace everseen::redis {

/// A source as the client of a job knows it.
struct known_lane {
  std::string name;
  std::vector<std::optional<lane_record>> records;  ///< by partition; nothing where it is to be read
  std::vector<std::string> answered;  ///< by partition, the head of the record when the server last answered
};

/// Threads: any number find lanes, but what a lane holds is its one claimer's.
class known_lanes {
 public:
  explicit known_lanes(std::uint32_t partitions) : partitions_(partitions) {}

  /// Lives as long as this.
  [[nodiscard]] known_lane& operator[](std::string_view source);

 private:
  const std::uint32_t partitions_;
  std::mutex lock_;
  std::map<std::string, std::unique_ptr<known_lane>, std::less<>> all_;
};

/// Somebody else claims the same lane and wins every race: then something is broken.
inline constexpr int most_looks = 1000;
[[nodiscard]] backend_error claimed_by_others(const std::string& source);

/// Whether a server has less of a lane than it answered for. Heads sort as positions do, and a record never
/// goes back by itself.
[[nodiscard]] inline bool has_forgotten(const known_lane& in, std::uint32_t partition) {
  return in.records[partition]->head() < in.answered[partition];
}
/// @param key  of the partition
[[nodiscard]] format_error has_forgotten_events(const std::string& key, const std::string& source);

/// The keys of those events of a batch that its record has judged, and calls fresh.
///
/// They are added once more: a server that was killed while it wrote may have kept the record and not the
/// keys. That changes nothing where they are.
struct fresh_replays {
  fresh_replays(const claim_batch& of, const lane_record& record);

  std::vector<digest> digests{};
  std::vector<event_time> times{};  ///< one a digest, where there is a window
};

/// Gives the events that were judged before their verdicts, and leaves the others in `left`. As positions
/// ascend, those are the first ones.
/// @param slices  of the partition, of the moment when the record was read, or later
/// @param is_ours  an answer to this very claim was lost, so it may be what judged them
void answer_those_judged(claim_batch& left, const lane_record& record, const spec& s,
                         std::span<const slice_state> slices, bool is_ours);

}  // namespace everseen::redis
