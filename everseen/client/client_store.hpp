#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/client/batch_sender.hpp"
#include "everseen/client/server_link.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/store/port/stored_filter.hpp"
#include "everseen/wire/request_parser.hpp"

namespace everseen::client {

/// The filters of a running `everseen serve`: doc/operations.md, "As a store".
///
/// Any number of processes share them, and no process has their bits. Jobs, links and rebuilds belong to the
/// store of the server; they are refused here, with advice.
class client_store final : public store {
 public:
  /// Does not connect yet.    @throws parameter_error  as server_link
  explicit client_store(redis::redis_url url);

  [[nodiscard]] store_traits traits() const override {
    return {.is_remote = true, .batches_wait = true, .offers_jobs = false};
  }
  /// Filters are hashed by siphash unless the request says otherwise, as a server may be open to strangers.
  /// All but small filters get several partitions, so that the server can judge for many clients in parallel.
  [[nodiscard]] spec plan(const spec_request& request) const override;
  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s,
                                        std::optional<std::chrono::milliseconds> life = {}) override;
  std::shared_ptr<stored_filter> open(std::string_view name, access mode) override;
  [[nodiscard]] bool exists(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> list() const override;
  [[nodiscard]] filter_facts facts(std::string_view name) const override;
  void expire_at(std::string_view name, std::optional<event_time> when) override;
  void drop(std::string_view name) override;
  void rename(std::string_view from, std::string_view new_name, namesake there) override;
  void reset(std::string_view name) override;
  void remove_expired() override {}  // the server does
  [[nodiscard]] std::vector<std::string> jobs(std::string_view name) const override;
  void link(std::string_view older, std::string_view newer,
            std::optional<std::chrono::milliseconds> life) override;
  void unlink(std::string_view newer) override;
  void end_job(std::string_view name, std::string_view job) override;
  [[nodiscard]] std::vector<server_report> reports() const override;
  std::shared_ptr<retry_policy> wait_with(std::shared_ptr<retry_policy> p) override {
    return link_->wait_with(std::move(p));
  }
  std::unique_ptr<rebuild> begin_rebuild(std::string_view name, const spec& s,
                                         std::span<const partition_state> base) override;
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;

 private:
  const std::shared_ptr<const server_link> link_;
};

/// A filter that commit() sends to the server in chunks. Until then all its bits are in this process.
class client_restore final : public filter_admin::restore {
 public:
  /// @throws name_taken  a filter of this name exists
  client_restore(std::shared_ptr<const server_link> link, std::string_view name, const spec& s);

  std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer) override;
  void commit() override;

 private:
  struct held_segment {
    announced_filter::segment segment;
    std::vector<std::byte> bits;
  };

  /// Where the next chunk begins, and the most bits in it.
  struct chunk_position {
    std::int64_t iterator = 1;
    std::size_t in_segment = 0;
    std::size_t bytes = image::max_chunk_bits_bytes;
  };

  void send_chunks(content_id content);
  void send_chunk(content_id content, const held_segment& s, chunk_position& next);

  const std::shared_ptr<const server_link> link_;
  const std::string name_;
  const spec spec_;
  std::vector<partition_state> order_;  // to refuse what is out of order
  std::vector<held_segment> segments_{};
};

/// A filter of an `everseen serve`, which hashes and judges; this process sends keys and receives verdicts.
///
///     add ──> parts of a few thousand keys ──> one command each, several in flight ──> one digit per key
///
/// If an answer is lost, the part is sent again under its number in a session, and the server repeats its
/// first answer. A server that was restarted meanwhile cannot do so: the keys of the part, and all later
/// ones, are then `unknown`.
///
/// It refers to the filter by its name and its fingerprint: if another filter has taken the name, batches
/// fail.
class client_filter final : public stored_filter {
 public:
  /// @param s  without the seed, unless the user may know it
  client_filter(std::shared_ptr<const server_link> link, std::string name, spec s, std::string fingerprint,
                access mode);

  [[nodiscard]] const spec& get_spec() const noexcept override { return spec_; }
  [[nodiscard]] bool wants_keys() const noexcept override { return true; }
  [[nodiscard]] std::size_t longest_key() const noexcept override {
    return wire::request_limits{}.argument_bytes;
  }
  [[nodiscard]] std::uint32_t batch_partitions() const noexcept override { return 1; }
  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  /// @throws backend_error  the user has no right to copy filters
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  void must_fit(const sibling_source& siblings) const override;
  /// Sends the siblings as one filter beside this one, which the server merges and drops. Until then all
  /// their bits are in this process.
  void merge(const sibling_source& siblings) override;
  void sync() override;
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::optional<std::string_view> description) override;
  [[nodiscard]] batch_path path() const override;

 private:
  batch_result judge(std::span<const partition_batch> batches, bool adds) const;
  [[nodiscard]] std::optional<batch_failure> judge_all(std::span<const partition_batch> batches,
                                                       bool adds) const;
  void must_take_siblings() const;
  [[nodiscard]] remote_state known_state(std::uint32_t partition) const;
  [[nodiscard]] redis::reply next_chunk(std::uint32_t partition, std::int64_t iterator,
                                        std::size_t& bytes) const;

  std::shared_ptr<const server_link> link_;
  const std::string name_;
  const spec spec_;
  const std::string fingerprint_;
  const access mode_;
};

}  // namespace everseen::client
