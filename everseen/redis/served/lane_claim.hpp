#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/lane_record.hpp"
#include "everseen/redis/served/command_set.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen::redis {

/// What a claim names beside its keys, and what the answer changes in the lane's record.
///
/// The record is the client's copy of what the partition remembers. Each call names its head, so a call that
/// was made from an old copy is refused; after each answer the copy is made to match. Threads: one at a time.
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
  /// Of a call that is sent now.
  [[nodiscard]] link first_link() const;
  /// Of one that is sent behind a call, before that is answered.
  [[nodiscard]] link link_behind(const judge_call& q) const;

  [[nodiscard]] std::string positions(const judge_call& q) const;

  /// What events of a call are counted by: the names that occur among them, and for each event places in
  /// these, 4 bytes each, big-endian.
  struct counting {
    std::vector<std::string_view> names{};
    std::string places{};
  };
  [[nodiscard]] counting counts(const judge_call& q);
  [[nodiscard]] std::size_t counts_per_event() const noexcept { return batch_.counts.per_event; }

  /// Makes the record match an answer.    @param verdicts  a character an event, up to the last judged
  void take(const judge_call& q, std::string_view verdicts);

 private:
  std::string job_;
  std::string lane_;
  const claim_batch batch_;
  std::uint64_t settled_;
  lane_record& record_;
  std::vector<std::uint32_t> renumbered_{};
};

}  // namespace everseen::redis
