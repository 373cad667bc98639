#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/ledger.hpp"
#include "everseen/store/patience.hpp"

namespace everseen {

/// One record as a source gives it, and its position among those of its lane.
struct source_record {
  std::string_view bytes;  ///< readable for block_reader::padding bytes beyond its end
  std::uint64_t position = 0;
  std::string_view key{};  ///< what the source files it under, as Kafka does; empty if nothing
};

/// Records of one lane, in order.
struct source_batch {
  std::string lane{};  ///< a stream of ordered records: a partition of a topic, as `clicks/3`, or a file
  std::vector<source_record> records{};
  std::uint64_t next = 0;  ///< where to go on after them: what is settled once they are
  std::uint64_t turn = 0;  ///< grows each time this worker gets the lane, or gets it again
  bool begins = false;     ///< the first of its turn
  bool unended = false;    ///< one record, whose end has not come: it may be longer another time
  std::shared_ptr<const void> memory{};  ///< keeps the bytes
};

/// Where a job's records come from. Lanes are dealt with side by side, each in its order.
///
/// Threads: next() and keep_up() by one thread at a time; the others by any one other thread beside it.
class source {
 public:
  virtual ~source() = default;

  /// Begins, once. It need not read again what was settled before by this job; where it does, the job passes
  /// over what the ledger has settled.
  /// @param reached  what the job's ledger knows; a source that keeps its own account may go by that
  /// @throws parameter_error  the source is another one than the job has read from
  /// @throws storage_error, backend_error
  virtual void begin(const std::map<std::string, checkpoint, std::less<>>& reached) = 0;

  enum class state : std::uint8_t { records, nothing_yet, ended };
  /// The next records of whichever lane has some.
  /// @param wait  for how long, if there are none
  /// @throws storage_error, backend_error  it cannot be read any more, and trying again inside did not help
  [[nodiscard]] virtual state next(source_batch& into, std::chrono::milliseconds wait) = 0;

  /// Called by the thread that reads while it waits for room: says that this worker is alive, where a source
  /// would give its lanes to others, and takes note of those it lost.    @throws  as next()
  virtual void keep_up() {}

  /// What is to be put down in the ledger once everything of the lane before `next` has had its effect.
  [[nodiscard]] virtual checkpoint reached(const source_batch& batch) = 0;

  /// What is to be put down before a batch is claimed, once everything before it has had its effect: how to
  /// tell its records again, where their positions alone do not. Nothing: they do.
  [[nodiscard]] virtual std::optional<checkpoint> known_before(const source_batch& /*batch*/) const {
    return {};
  }

  /// What the ledger has of a lane that begins, which another process may have put down meanwhile.
  /// @throws parameter_error  that one has read another source by the same name
  virtual void must_be_of(const checkpoint& /*known*/) const {}

  /// What the user should be told of a lane that begins, and that the ledger knows nothing of.
  /// @return nothing, if that is as it should be
  [[nodiscard]] virtual std::string doubt_about(std::string_view /*lane*/) const { return {}; }

  /// These are in the ledger now: a source that keeps its own account puts them down, at once or with later
  /// ones; finish() at the latest.
  virtual void settled(std::span<const checkpoint> /*put_down*/) {}

  enum class tenure : std::uint8_t {
    ours,     ///< to be claimed and settled
    leaving,  ///< goes to another worker once what was claimed is settled: claim nothing more
    gone      ///< another worker may have it, or this one has got it again: that is another turn
  };
  /// What this worker may do with the batches of a lane that it read in one turn. Once a lane is not `ours`,
  /// it will not be again in that turn: a new one reads again what is not settled.
  [[nodiscard]] virtual tenure tenure_of(std::string_view /*lane*/, std::uint64_t /*turn*/) const {
    return tenure::ours;
  }

  /// Where a record stands, for people to read, as in "line 3 of clicks.csv".
  [[nodiscard]] virtual std::string place_of(std::string_view lane, std::uint64_t position) const {
    return "the record at " + std::to_string(position) + " of " + std::string(lane);
  }

  /// This batch will be neither claimed nor settled: nobody is to wait for it.
  virtual void abandoned(const source_batch& /*batch*/) {}

  /// Lets `p` decide how long a server that is away is waited for, as stored_filter::wait_with; sources that
  /// have no such server, or whose limit is their own, do nothing.    @pre no call is under way
  virtual void wait_with(const std::shared_ptr<patience>& /*p*/) {}

  /// Puts down all that is settled, and leaves. Nothing is read after that.
  virtual void finish() = 0;

  /// Records that wait to be read, of all lanes, as far as the source knows.
  [[nodiscard]] virtual std::optional<std::uint64_t> lag() const { return {}; }
};

}  // namespace everseen
