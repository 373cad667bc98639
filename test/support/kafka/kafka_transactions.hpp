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

#include "test/support/kafka/kafka_wire.hpp"

namespace everseen::test {

/// Kafka's guarantees for transactions (KIP-98, KIP-447), and no more: the part that librdkafka's mock
/// cluster lacks, and on which "each event once" depends.
///
///  1. A transactional id belongs to one producer: a producer that begins with it (InitProducerId) gets the
///     next epoch, and its predecessor's open transaction is aborted. All requests with an older epoch are
///     refused: records, partitions, offsets, the end. A zombie cannot change anything.
///  2. Records of a transaction become visible to readers of committed messages atomically, when it is
///     committed; those of an aborted one never. Records of a partition that was not added to the
///     transaction are refused.
///  3. Offsets sent into a transaction (TxnOffsetCommit) count for the group when it is committed; until
///     then, requests for them are told to wait. They are refused if the sender is not a member of the
///     group's generation: so no worker commits the offsets of partitions that the group has given to
///     others.
///  4. A producer's batches are numbered for each partition: a retried batch is stored once, and a batch
///     that would leave a gap is refused.
///  5. A producer that got no answer to a commit may retry, and gets a success.
///  6. A transaction that stays open for longer than its timeout is aborted, and its producer fenced.
///
/// It has no sockets; the caller passes the time. Left out: an open transaction does not hold up readers, so
/// committed records are in the order of their commits; and producers without a transactional id. Threads:
/// one at a time.
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
  /// The sender of offsets.
  struct member {
    std::string group, id;
    std::int32_t generation = -1;
  };

  /// @param known  the producer's own belief, if it only wants its next epoch (KIP-360)
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
  /// Aborts transactions that have timed out.
  void expire(clock::time_point now);

  // the state of the group's coordinator
  void joined(const member& who);
  void left(const std::string& of_group, const std::string& id);
  void committed(const std::string& of_group, const partition& of, std::int64_t at);
  /// A group's committed offset; nothing if there is none.
  [[nodiscard]] std::optional<std::int64_t> offset(const std::string& of_group, const partition& of) const;
  /// Whether an open transaction may change it.
  [[nodiscard]] bool is_unstable(const std::string& of_group, const partition& of) const;

  [[nodiscard]] std::int32_t generation(const std::string& of_group) const;

  /// The records that readers of committed messages see.
  [[nodiscard]] std::vector<record> read_committed(const std::string& topic) const;

  struct counts {
    int commits = 0, aborts = 0;
    int refused = 0;  ///< requests of fenced producers or of non-members
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
