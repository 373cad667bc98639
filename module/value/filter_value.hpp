#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "everseen/core/format/announced_filter.hpp"
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

/// A filter as one value of a Redis key: what it was created with, how full it is, and its bits.
///
/// A partition without a window, in the server's memory. All that a call does follows from the value and the
/// keys, so a server replicates calls as they came, and a replica gets the same bits.
/// Threads: the server's main thread; children that the server forks read; any thread may free it.
class filter_value : private segments {
 public:
  /// @pre s.partitions == 1, and there is no window    @throws parameter_error  as validate(spec)
  explicit filter_value(const spec& s);
  /// The announced segments, with zeroed bits: chunks follow.
  /// @throws format_error  it has several partitions, or segments that its spec excludes
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
  [[nodiscard]] std::uint64_t bit_bytes() const noexcept { return state().bytes(); }
  /// Everything of it in memory.
  [[nodiscard]] std::size_t memory() const noexcept;
  [[nodiscard]] std::size_t allocations() const noexcept { return parts_.size() + 1; }

  /// The sizes of the layers that adding these keys would begin, if all that are not seen are fresh.
  /// Cost: a look-up of the keys, where fewer have room in the newest layer.
  [[nodiscard]] std::vector<std::uint64_t> layers_for(std::span<const digest> keys) const;
  /// Allocates them, so that the next add() cannot fail for want of memory.
  /// @throws storage_error  memory is short; nothing has changed
  void prepare(std::span<const std::uint64_t> layers);

  /// Judges the keys and adds the fresh ones. Keys without room stay `unknown`. Ends the server if it has not
  /// a few bytes.
  /// @pre prepare() got their layers_for()    @pre out.size() == keys.size()
  void add(std::span<const digest> keys, std::span<verdict> out);
  void check(std::span<const digest> keys, std::span<verdict> out) const;

  /// Its segments, ascending, and the number that the chunks of a copy share.
  [[nodiscard]] announced_filter announced() const;
  /// The bits of a segment.    @param index  in announced()
  [[nodiscard]] std::span<std::byte> bits(std::size_t index) noexcept;
  [[nodiscard]] std::span<const std::byte> bits(std::size_t index) const noexcept;

  void move_with(api::defrag_state* state) noexcept;

 private:
  struct part {
    segment_id id;
    std::uint64_t bytes;
    server_memory bits;
  };

  [[nodiscard]] std::byte* at(const segment_id& id) const noexcept override;
  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override;
  void drop_before(std::uint32_t partition, window::slice_index oldest) override;
  void note_keys(const segment_id& id, std::uint64_t keys) noexcept override;

  const spec spec_;
  const hasher hash_;
  copy_id copy_{};
  std::vector<part> parts_{};              // ascending by id
  std::vector<server_memory> prepared_{};  // for the next layers, in order
  partition judge_;
};

}  // namespace everseen::redis_module
