#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/dedup/dedup.hpp"
#include "everseen/dedup/record/bad_record.hpp"
#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/dedup/record/event_rule.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/filter/scatter.hpp"

namespace everseen {

/// A block of records on its way through the pipeline: first its bytes, then its digests by partition, then
/// its verdicts, at last the records to write. Memory is reused from block to block.
///
/// Threads: one at a time.
class keyed_block {
 public:
  keyed_block(const filter& known_keys, const dedup_options& options);

  /// To read the next block into.
  [[nodiscard]] block& bytes() noexcept { return bytes_; }
  [[nodiscard]] const block& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t records() const noexcept { return ends_.size(); }

  /// Finds the records, hashes their keys and sorts these by partition.
  /// @param read_at  the time of the block, if a clock gives it
  /// @return one batch per partition; all verdicts are `unknown`. Valid until the next call.
  [[nodiscard]] std::span<const partition_batch> sort(event_time read_at);

  /// The record at which the run must end, if there is one; it and the records behind it are not part of the
  /// block. Its position is in the block.
  [[nodiscard]] const std::optional<bad_record>& unreadable() const noexcept { return unreadable_; }

  /// Takes the verdicts from the batches.
  void gather() noexcept { sorted_.gather(); }
  /// Index of the first record with this verdict.
  [[nodiscard]] std::optional<std::size_t> first(verdict v) const noexcept;

  /// Records that have no key, and are passed or dropped.
  struct keyless {
    std::uint64_t without_key = 0;
    std::uint64_t malformed = 0;  // cannot be read at all
    std::optional<bad_record> first{};
  };
  [[nodiscard]] const keyless& without_key() const noexcept { return keyless_; }
  /// Moves the wanted records together, in place.
  [[nodiscard]] std::string_view keep_wanted() noexcept;
  /// How many there were.
  [[nodiscard]] std::size_t kept() const noexcept { return kept_; }

 private:
  [[nodiscard]] std::span<const partition_batch> hash_records(std::uint32_t partitions);
  void hash_fields();
  void read_record(std::size_t i, std::string_view record);
  [[nodiscard]] bad_record describe_fault(std::size_t i, std::string_view record, record_fault why,
                                          std::optional<std::string_view> key) const;
  [[nodiscard]] bool hash_key(std::string_view key);
  [[nodiscard]] event_time latest_believed() const noexcept;
  [[nodiscard]] std::span<const event_time> times() const noexcept;
  [[nodiscard]] bool is_wanted(verdict v) const noexcept { return wanted_[static_cast<std::size_t>(v)]; }

  const filter& known_keys_;
  const dedup_options& options_;
  event_rule rule_;
  const bool every_record_is_key_;  // so every record has a key
  const bool wants_keys_;           // the filter needs the keys themselves
  std::array<bool, 4> wanted_{};    // by verdict
  block bytes_;
  event_time read_at_{};
  event_time latest_believed_{};
  scatter sorted_;
  std::vector<std::uint32_t> ends_;
  std::vector<std::uint32_t> keyed_;   // indexes of the records that have a key, unless all have one
  std::vector<std::uint32_t> passed_;  // and of those without one that go out
  std::vector<digest> digests_;
  kept_keys keys_;  // empty unless wants_keys_
  std::vector<event_time> times_;
  std::vector<verdict> verdicts_;
  std::optional<bad_record> unreadable_;
  keyless keyless_;
  std::size_t kept_ = 0;
};

/// Lets the blocks of a stream pass one at a time and in order, whichever threads hold them.
///
/// Block n passes after block n - 1 has left. A row of turnstiles makes a wavefront: while one thread takes
/// block 8 through the last partitions, another already takes block 9 through the first.
class turnstile {
 public:
  void wait(std::uint64_t number) const noexcept {
    for (std::uint64_t turn; (turn = next_.load(std::memory_order_acquire)) != number;) next_.wait(turn);
  }
  void leave(std::uint64_t number) noexcept {
    next_.store(number + 1, std::memory_order_release);
    next_.notify_all();
  }

 private:
  alignas(64) std::atomic<std::uint64_t> next_{0};
};

}  // namespace everseen
