#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/partition/partition.hpp"

#include "module/server/api.hpp"

namespace everseen::redis_module {

namespace api = module_api;

/// Zeroed memory of the server, which counts it. A large piece is not touched before it is used.
class server_memory {
 public:
  /// @throws storage_error  the server has not as much
  explicit server_memory(std::size_t bytes);
  /// What the server read from an RDB.
  explicit server_memory(char* loaded) noexcept;
  server_memory(server_memory&& other) noexcept;
  server_memory& operator=(server_memory&& other) noexcept;
  ~server_memory();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  /// The server may move it while it defragments its memory.
  void move_with(api::defrag_state* state) noexcept;

 private:
  std::byte* data_ = nullptr;
};

/// Keys of a call, with their slices.
struct slice_batch {
  std::span<const digest> digests;
  std::span<verdict> out;                        ///< as many as digests; `unknown`: no room
  window::slice_index slice = window::timeless;  ///< of all keys, if there are no offsets
  std::string_view offsets{};                    ///< a byte per key: its slice minus `slice`
};

using successor_id = std::array<std::uint8_t, 16>;

/// A filter, or one partition of a large one, as the value of a Redis key: what it was created with, how full
/// it is, and its bits.
///
/// All that a call does follows from the value and the arguments, so a server replicates calls as they came,
/// and a replica gets the same bits.
/// Threads: the server's main thread; children that the server forks read; any thread may free it.
class filter_value : private segments {
 public:
  /// A filter of one partition.    @pre s.partitions == 1
  explicit filter_value(const spec& s);
  /// The announced segments, with zeroed bits: chunks follow.
  /// @throws format_error  it has segments of other partitions, or that its spec excludes
  /// @throws storage_error  memory is short
  explicit filter_value(const announced_filter& header);
  /// The announced segments with these bits.    @pre as many, of these sizes
  /// @throws format_error  as above
  filter_value(const announced_filter& header, std::vector<server_memory> bits);
  /// A copy of all of it.    @throws storage_error  memory is short
  filter_value(const filter_value& other);
  filter_value& operator=(const filter_value&) = delete;
  ~filter_value() override;

  [[nodiscard]] const spec& get_spec() const noexcept { return spec_; }
  [[nodiscard]] const partition_state& state() const noexcept { return judge_.state(); }
  [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// The fingerprint of its filter, and its number, as in `9f0c...4e/3`.
  [[nodiscard]] const std::string& fingerprint() const noexcept { return fingerprint_; }
  [[nodiscard]] content_id content() const noexcept { return content_; }
  /// Set once the value accepts no more keys.
  [[nodiscard]] const std::optional<successor_id>& successor() const noexcept { return successor_; }
  /// Whether it has RedisBloom's type: its chunks and its encoding are RedisBloom's.
  [[nodiscard]] bool is_redisbloom() const noexcept { return is_redisbloom_; }
  [[nodiscard]] std::uint64_t bit_bytes() const noexcept { return state().bytes(); }
  /// Everything of it in memory.
  [[nodiscard]] std::size_t memory() const noexcept;
  [[nodiscard]] std::size_t allocations() const noexcept { return parts_.size() + 1; }

  /// The sizes of the layers that adding these keys would begin, if all that are not seen are fresh; no
  /// fewer. Cost: a look-up of the keys, where fewer have room in the newest layer of a slice.
  [[nodiscard]] std::vector<std::uint64_t> layers_for(const slice_batch& keys) const;
  /// The same of extend().
  [[nodiscard]] std::vector<std::uint64_t> layers_to_extend(window::slice_index slice) const;
  /// Allocates them, so that the next add() or extend() cannot fail for want of memory.
  /// @throws storage_error  memory is short; nothing has changed
  void prepare(std::span<const std::uint64_t> layers);

  /// What happens to the keys after one without room.
  enum class no_room : std::uint8_t {
    skips,  ///< they are judged
    ends,   ///< none of them is added; they may be `seen` or `unknown`
  };
  /// Judges the keys and adds the fresh ones. Keys without room stay `unknown`. Ends the server if it has not
  /// a few bytes.
  /// @pre prepare() got their layers_for(), unless that was empty    @pre times fall into the slices
  /// @return whether anything changed
  bool add(const slice_batch& keys, no_room then = no_room::skips);
  void check(const slice_batch& keys) const;
  /// Whether it keeps its error rate with all keys of these filters.
  /// @throws full_error  it does not    @throws parameter_error  they are no siblings
  void must_take(std::span<const filter_value* const> siblings) const;
  /// The sizes of the layers that merge() would begin.
  [[nodiscard]] std::vector<std::uint64_t> layers_to_merge(
      std::span<const filter_value* const> siblings) const;
  /// Adds all keys of filters of the same spec: partition::merge.
  /// @pre prepare() got the layers_to_merge(); must_take(), or the master has decided
  /// @return whether anything changed
  bool merge(std::span<const filter_value* const> siblings);
  /// Moves the window as keys of this slice would. A late slice moves nothing.    @pre as add()
  /// @return whether anything changed
  bool extend(window::slice_index slice);
  /// Ends the adding of keys.
  void seal(const successor_id& successor) noexcept { successor_ = successor; }
  /// Removes every key. The value has this content from then on, so that chunks of the old one are refused.
  void clear(content_id content);

  /// Its segments, ascending, and the content that its chunks name.
  [[nodiscard]] announced_filter announced() const;
  /// The bits of a segment.    @param index  in announced()
  [[nodiscard]] std::span<std::byte> bits(std::size_t index) noexcept;
  [[nodiscard]] std::span<const std::byte> bits(std::size_t index) const noexcept;
  /// Of a segment by its id; empty: there is none.
  [[nodiscard]] std::span<std::byte> bits_of(const segment_id& id) noexcept;

  /// As partition::count_at_least: a segment has the bits of this number of keys.
  void count_at_least(const segment_id& id, std::uint64_t keys) noexcept;

  void move_with(api::defrag_state* state) noexcept;

 private:
  struct part {
    segment_id id;
    std::uint64_t bytes;
    server_memory bits;
  };
  struct prepared {
    std::uint64_t bytes;
    server_memory bits;
  };

  [[nodiscard]] std::byte* at(const segment_id& id) const noexcept override;
  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override;
  void drop_before(std::uint32_t partition, window::slice_index oldest) override;
  void note_keys(const segment_id& id, std::uint64_t keys) noexcept override;

  const spec spec_;
  const hasher hash_;
  const std::uint32_t number_ = 0;
  const bool is_redisbloom_ = false;
  const std::string fingerprint_ = fingerprint_of(spec_) + '/' + std::to_string(number_);
  std::optional<successor_id> successor_{};
  content_id content_{};
  std::vector<part> parts_{};         // ascending by id
  std::vector<prepared> prepared_{};  // for the next layers
  std::uint64_t changes_ = 0;         // of the list of segments
  partition judge_;
};

}  // namespace everseen::redis_module
