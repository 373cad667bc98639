#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/support/kafka_wire.hpp"

namespace everseen::test {

/// What Kafka's brokers guarantee about transactions (KIP-98, KIP-447), and no more: the part that
/// librdkafka's mock cluster lacks, and on which "each event once" hangs.
///
///  1. A transactional id belongs to one producer: who begins with it (InitProducerId) gets the next epoch,
///  and
///     what its predecessor left open is aborted. All that comes with an older epoch is refused: records,
///     partitions, offsets, the end. A zombie changes nothing any more.
///  2. Records of a transaction are seen by readers of committed messages when it is committed, all at once;
///     those of an aborted one never. Records of a partition that was not added to the transaction are
///     refused.
///  3. Offsets sent into a transaction (TxnOffsetCommit) count for the group when it is committed; until then
///     who asks for them is told to wait. They are refused from who is not a member of the group's
///     generation: so nobody commits the offsets of partitions that the group has given to others.
///  4. A producer's batches are numbered for each partition: one that is sent again is there once, one that
///     would leave a gap is refused.
///  5. Who was told nothing about a commit may ask again, and is told that it is done.
///  6. A transaction that stays open for longer than its timeout is aborted, and its producer fenced.
///
/// Without sockets; the caller says what time it is. Left out: readers are not held up by an open
/// transaction, so the order of committed records is that of commits; and a producer with no transactional id
/// is not of interest. Threads: one at a time.
class kafka_transactions {
 public:
  using error = kafka_wire::error;
  using clock = std::chrono::steady_clock;
  using partition = std::pair<std::string, std::int32_t>;

  struct producer {
    std::int64_t id = -1;
    std::int16_t epoch = -1;
    friend bool operator==(const producer&, const producer&) = default;
  };
  struct record {
    std::string key, value;
    std::int32_t partition = 0;
  };
  /// Records as a producer sends them.
  struct batch {
    producer from{};
    std::int32_t first_sequence = 0;
    std::vector<record> records{};
  };
  /// Who sends offsets.
  struct member {
    std::string group, id;
    std::int32_t generation = -1;
  };

  /// @param known  what the producer believes to be, if it wants no more than its next epoch (KIP-360)
  std::pair<error, producer> init(const std::string& transactional_id, std::chrono::milliseconds timeout,
                                  std::optional<producer> known);
  error add_partition(const std::string& transactional_id, producer p, const partition& what,
                      clock::time_point now);
  error add_group(const std::string& transactional_id, producer p, const std::string& of_group,
                  clock::time_point now);
  error produce(const std::string& transactional_id, const partition& to, const batch& what);
  error send_offset(const std::string& transactional_id, producer p, const member& who, const partition& of,
                    std::int64_t at);
  error end(const std::string& transactional_id, producer p, bool commits);
  /// Aborts what is open for too long.
  void expire(clock::time_point now);

  // what the group's coordinator knows
  void joined(const member& who);
  void left(const std::string& of_group, const std::string& id);
  void committed(const std::string& of_group, const partition& of, std::int64_t at);
  /// Where a group goes on: nothing if nobody committed anything.
  [[nodiscard]] std::optional<std::int64_t> offset(const std::string& of_group, const partition& of) const;
  /// Whether a transaction that is open may change that.
  [[nodiscard]] bool is_unstable(const std::string& of_group, const partition& of) const;

  [[nodiscard]] std::int32_t generation(const std::string& of_group) const;

  /// What readers of committed messages see.
  [[nodiscard]] std::vector<record> read_committed(const std::string& topic) const;

  struct counts {
    int commits = 0, aborts = 0;
    int refused = 0;  ///< requests of who was fenced, or is no member
  };
  [[nodiscard]] const counts& so_far() const noexcept { return counts_; }

 private:
  using group_partition = std::pair<std::string, partition>;

  struct transaction {
    producer owner{};
    std::chrono::milliseconds timeout{};
    std::optional<clock::time_point> open_since{};
    std::optional<bool> last_committed{};  // how the last one ended
    std::set<partition> partitions{};
    std::set<std::string> groups{};
    std::map<std::string, std::vector<record>> records{};  // by topic
    std::map<group_partition, std::int64_t> offsets{};
    std::map<partition, std::int32_t> next_sequence{};  // of this epoch
  };
  struct group {
    std::int32_t generation = -1;
    std::set<std::string> members{};
  };

  [[nodiscard]] error check(const std::string& transactional_id, producer p);
  [[nodiscard]] error check_member(const member& who);
  error refuse(error why);
  void close(transaction& t, bool commits);
  static void take_epoch(transaction& t);

  std::map<std::string, transaction> by_id_{};
  std::map<std::string, group> groups_{};
  std::map<group_partition, std::int64_t> offsets_{};
  std::map<std::string, std::vector<record>> topics_{};
  std::int64_t producers_ = 1'000;
  counts counts_{};
};

}  // namespace everseen::test
