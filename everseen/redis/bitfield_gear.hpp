#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/gear.hpp"
#include "everseen/redis/transaction.hpp"

namespace everseen::redis {

/// Without scripts: the bits of all keys in BITFIELD commands, whose answers are the old bits.
///
/// What a script checks before it changes something, a transaction cannot; a fence (fence.hpp) makes it do
/// nothing in another epoch than the one it was planned for. So writes of different epochs never overlap, and
/// what a script promises for a batch holds here for the keys of a transaction.
///
///     look ──> write ──> give back
///
/// - look: count, lengths, and the older segments, which nobody writes to in this epoch; near the end of a
///   layer, and where it refuses more keys than it has room for, also the newest one, so that exactly as many
///   are added.
/// - write: one transaction. It counts all its keys, looks once more at segments of other slices that
///   somebody may be writing to, and sets the bits.
/// - give back: corrects the count by the keys that were there already; in this epoch only, since another one
///   may have begun to count anew.
///
/// What differs from scripts: a reply that is lost while writing leaves its keys `unknown`, for nothing can
/// tell whether they were added. Until a client gives back, and for ever if it dies or the partition changes
/// before, the count is too high by at most one batch: meanwhile the layer grows, or is full, that much
/// earlier. Clients that reach a layer's end at the same moment may overfill it by at most one batch each.
class bitfield_gear final : public gear {
 public:
  explicit bitfield_gear(const remote_filter& f) : filter_(f) {}

  request judge(const judging& q) override;
  meaning judged(const judging& q, const answer& a) override;
  request lengthen(const lengthening& l) override;
  meaning lengthened(const lengthening& l, const answer& a) override;
  request publish(const publication& p) override;
  meaning published(const publication& p, const answer& a) override;

 private:
  enum class step : std::uint8_t { look, write, give_back };

  [[nodiscard]] request ask_to_look(const judging& q);
  [[nodiscard]] request ask_to_write(const judging& q);
  [[nodiscard]] request ask_to_give_back(const judging& q) const;
  meaning take_look(const judging& q, const reply& r);
  meaning take_written(const judging& q, const reply& r);
  meaning decide(const judging& q);
  meaning settle();

  [[nodiscard]] std::uint64_t room(const judging& q) const noexcept;
  [[nodiscard]] bool looks_at_newest() const noexcept;
  [[nodiscard]] std::string state_key(std::uint32_t partition) const;
  [[nodiscard]] std::string segment_key(const segment_id& id) const;
  [[nodiscard]] transaction guarded(std::uint32_t partition, std::uint64_t epoch) const;
  [[nodiscard]] meaning wrong_segment(const segment_id& id) const;

  const remote_filter& filter_;
  step step_ = step::look;
  std::string_view reading_ = "BITFIELD_RO";  // which a replica and a server without memory allow, too
  bool newest_too_ = false;                   // the look must take in the segment to write
  std::uint64_t count_ = 0;                   // keys of the segment to write, by the last answer
  std::string verdicts_{};                    // so far, of all keys of the question; `?` where open
  std::vector<std::size_t> written_{};        // which keys the transaction writes
  std::size_t end_ = 0;                       // keys that will have a verdict when it is done
  std::uint64_t surplus_ = 0;                 // keys counted too many
};

}  // namespace everseen::redis
