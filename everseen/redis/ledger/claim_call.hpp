#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/lane_record.hpp"
#include "everseen/redis/served/gear.hpp"
#include "everseen/store/ledger.hpp"

namespace everseen::redis {

/// What a claim names beside its keys, and what it makes of the answer: the part that is the same for both
/// gears.
///
/// The record of the lane is the client's copy of what the partition remembers. Each call names its head, so
/// that one which was made from an old copy is refused; after each answer the copy is made to match.
/// Threads: one at a time.
class claim_call {
 public:
  /// @param job      its id    @param batch  outlives this
  /// @param settled  as origin::settled
  claim_call(std::string job, std::string lane, const claim_batch& batch, std::uint64_t settled,
             lane_record& record)
      : job_(std::move(job)), lane_(std::move(lane)), batch_(batch), settled_(settled), record_(record) {}

  [[nodiscard]] const std::string& job() const noexcept { return job_; }
  [[nodiscard]] const std::string& lane() const noexcept { return lane_; }
  /// What a call goes on from.
  struct link {
    std::string head;             ///< that the record must have
    std::size_t forgotten_bytes;  ///< of the record, which go: the head, and what is settled
  };
  /// Of a call that is sent now.
  [[nodiscard]] link first_link() const;
  /// Of one that is sent behind a call, before that is answered.
  [[nodiscard]] link link_behind(const judging& q) const;

  [[nodiscard]] std::string positions(const judging& q) const;

  /// What events of a call are counted by: the names that occur among them, and for each event places in
  /// these, 4 bytes each, big-endian.
  struct counting {
    std::vector<std::string_view> names{};
    std::string places{};
  };
  [[nodiscard]] counting counts(const judging& q);
  [[nodiscard]] std::size_t counts_per_event() const noexcept { return batch_.counts.per_event; }

  /// Makes the record match an answer.    @param verdicts  a character an event, up to the last judged
  void take(const judging& q, std::string_view verdicts);

 private:
  std::string job_;
  std::string lane_;
  const claim_batch& batch_;
  std::uint64_t settled_;
  lane_record& record_;
  std::vector<std::uint32_t> renumbered_{};
};

}  // namespace everseen::redis
