#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/client/batch_sender.hpp"
#include "everseen/client/server_link.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/store/port/stored_filter.hpp"

namespace everseen::client {

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
  [[nodiscard]] std::uint32_t batch_partitions() const noexcept override { return 1; }
  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  /// @throws backend_error  the user has no right to copy filters
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  void sync() override;
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::optional<std::string_view> description) override;
  [[nodiscard]] batch_path path() const override;

 private:
  batch_result judge(std::span<const partition_batch> batches, bool adds) const;
  [[nodiscard]] std::optional<batch_failure> judge_all(std::span<const partition_batch> batches,
                                                       bool adds) const;
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
