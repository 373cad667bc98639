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

#include "everseen/store/port/ledger.hpp"
#include "everseen/store/port/retry_policy.hpp"

struct rd_kafka_headers_s;

namespace everseen {

/// What a broker keeps of a record beside its bytes. A sink of the same kind puts it out as it came in.
struct record_envelope {
  /// False: a tombstone of Kafka, or an entry without the wanted field. `bytes` is empty then, and the record
  /// is another one than an empty one.
  bool has_value = true;
  std::optional<std::string_view> key{};            ///< of Kafka; may be empty
  std::optional<std::chrono::milliseconds> time{};  ///< since the epoch, by the broker's own record of it
  /// Of Kafka, in librdkafka's own form: only that keeps names with a zero byte. Null: none.
  const rd_kafka_headers_s* headers = nullptr;
  std::span<const std::string_view> fields{};  ///< of an entry of a Redis stream: name, value, ...

  /// The value of the last header of this name; nothing: there is none, or it has none.
  [[nodiscard]] std::optional<std::string_view> header(const std::string& name) const;
};

/// One record as a source gives it, and its position in its lane.
struct source_record {
  std::string_view bytes;  ///< as field_reader::read needs it
  std::uint64_t position = 0;
  const record_envelope* envelope = nullptr;  ///< null: from a file, which has records and nothing else

  [[nodiscard]] bool has_value() const noexcept { return envelope == nullptr || envelope->has_value; }
};

/// Records of one lane, in order. There may be none: a batch without records moves its lane past what is no
/// record, and is settled as any other.
struct source_batch {
  std::string lane{};  ///< a stream of ordered records: a partition of a topic, as `clicks/3`, or a file
  std::vector<source_record> records{};
  std::uint64_t next = 0;  ///< where to continue after them: the settled position once they are settled
  /// Increases each time this worker gets the lane, also if it gets it back, as the generation of a Kafka
  /// group does.
  std::uint64_t generation = 0;
  bool begins = false;  ///< the first of its generation
  /// The source is read to here, and no further: settle it soon, as other workers may wait for that.
  bool ends = false;
  bool unended = false;                  ///< one record without a separator: it may be longer next time
  std::shared_ptr<const void> memory{};  ///< owns the bytes and the envelopes
};

/// The source of a job's records. Lanes are independent; each is processed in order.
///
/// Threads: next() and keep_alive() by one thread at a time; the others by one other thread in parallel.
class source {
 public:
  virtual ~source() = default;

  /// Called once, at the start. The source may resume after what this job has settled; if it starts earlier,
  /// the job skips what the ledger has settled.
  /// @param reached  the ledger's checkpoints; a source with its own record of progress may use that instead
  /// @throws parameter_error  the source is not the one that the job has read
  /// @throws storage_error, backend_error
  virtual void begin(const std::map<std::string, checkpoint, std::less<>>& reached) = 0;

  enum class state : std::uint8_t { records, nothing_yet, ended };
  /// The next records of any lane that has some. May be called again after `ended`: a lane that was lost
  /// since and came back begins again.
  /// @param wait  the longest wait if there are none
  /// @throws storage_error, backend_error  it can no longer be read, and internal retries did not help
  [[nodiscard]] virtual state next(source_batch& into, std::chrono::milliseconds wait) = 0;

  /// Called by the reading thread while it waits for room, and after the end until all is settled: keeps this
  /// worker's lanes alive if the source would give them to others, and handles those it lost.    @throws  as
  /// next()
  virtual void keep_alive() {}

  /// The checkpoint for the ledger once everything of the lane before `next` has had its effect.
  [[nodiscard]] virtual checkpoint reached(const source_batch& batch) = 0;

  /// The checkpoint to write before a batch is claimed, once everything before it has had its effect: it
  /// identifies the batch's records again if positions alone do not. Nothing: they do.
  [[nodiscard]] virtual std::optional<checkpoint> known_before(const source_batch& /*batch*/) const {
    return {};
  }

  /// Checks the ledger's checkpoint of a lane that begins; another process may have written it in the
  /// meantime.
  /// @throws parameter_error  that process has read another source of the same name
  virtual void must_be_of(const checkpoint& /*known*/) const {}

  /// A warning for the user about a lane that begins and has no checkpoint in the ledger.
  /// @return empty if there is nothing to warn of
  [[nodiscard]] virtual std::string warning_about(std::string_view /*lane*/) const { return {}; }

  /// The ledger has these checkpoints now. A source with its own record of progress stores them, immediately
  /// or with later ones; finish() at the latest.
  virtual void settled(std::span<const checkpoint> /*settlements*/) {}

  enum class ownership : std::uint8_t {
    ours,     ///< claim and settle
    leaving,  ///< moves to another worker once what was claimed is settled: claim nothing more
    gone      ///< another worker may have it, or this one got it back, in another generation
  };
  /// What this worker may do with the batches that it read from a lane in one generation. A lane that is no
  /// longer `ours` stays so for that generation: a new generation reads again what is not settled.
  [[nodiscard]] virtual ownership ownership_of(std::string_view /*lane*/,
                                               std::uint64_t /*generation*/) const {
    return ownership::ours;
  }

  /// The location of a record, for people, as in "line 3 of clicks.csv".
  [[nodiscard]] virtual std::string place_of(std::string_view lane, std::uint64_t position) const {
    return "the record at " + std::to_string(position) + " of " + std::string(lane);
  }

  /// This batch will be neither claimed nor settled: nothing should wait for it.
  virtual void abandoned(const source_batch& /*batch*/) {}

  /// Lets `p` decide how long to wait for an unavailable server, as store::wait_with. Sources
  /// without such a server, or with their own limit, do nothing.    @pre no call is in progress
  virtual void wait_with(const std::shared_ptr<retry_policy>& /*p*/) {}

  /// Stores all settled progress, and leaves. Nothing is read after that.
  virtual void finish() = 0;

  /// Records that wait to be read, of all lanes, as far as the source knows.
  [[nodiscard]] virtual std::optional<std::uint64_t> lag() const { return {}; }
};

}  // namespace everseen
