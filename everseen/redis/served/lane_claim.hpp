#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/lane_record.hpp"
#include "everseen/redis/served/packed_keys.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen::redis {

/// The data of a claim besides its keys, and the changes that an answer makes to the lane's record.
///
/// The record is the client's copy of what the partition remembers. Each call names its head, so a call made
/// from a stale copy is refused; each answer updates the copy. Threads: one at a time.
class lane_claim {
 public:
  /// @param job  its id
  /// @param settled  as origin::settled    @param record  outlives this
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
