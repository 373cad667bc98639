#pragma once

#include <memory>
#include <string>

#include "everseen/jobs/port/source.hpp"
#include "everseen/jobs/redis/redis_stream_url.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen {

/// A Redis stream, read as a consumer of a group. A lane is a consumer, as `clicks/group/worker-1`; a
/// position is an id (redis_stream_group.hpp).
///
/// The entries that a consumer has pending, and those delivered to it later, ascend in id: so the ledger of
/// its lane knows which entries were judged. That requires one worker at a time for each consumer, which a
/// lease enforces: a key beside the stream that each reading renews. A worker that is silent for
/// `claim_after` loses the lease. Others then read its pending entries, as that consumer and so in its lane.
/// If it was only slow, it gets its lane back afterwards. The group must be everseen's own: the pending
/// entries of other programs are taken over, too, and XCLAIM must not move entries between consumers.
///
/// Entries are acknowledged (XACK) when they are settled. Entries that were trimmed before they were read
/// are an error, unless gap=skip; the server must know the group's lag (Redis 7, and no XDEL). An outage is
/// retried for the URL's retry_for. Threads: as for source.
class redis_stream_source : public source {
 public:
  /// Opens no connection.
  /// @param server  that has the stream
  /// @throws parameter_error  no group; or independent servers, of which only one has the stream
  redis_stream_source(const redis_stream_url& url, const redis::redis_url& server);
  ~redis_stream_source() override;

  /// @throws parameter_error  there is no such stream    @throws backend_error  another worker has the name
  void begin(const std::map<std::string, checkpoint, std::less<>>& reached) override;
  [[nodiscard]] state next(source_batch& into, std::chrono::milliseconds wait) override;
  [[nodiscard]] checkpoint reached(const source_batch& batch) override;
  void settled(std::span<const checkpoint> settlements) override;
  [[nodiscard]] ownership ownership_of(std::string_view lane, std::uint64_t generation) const override;
  void keep_alive() override;
  void wait_with(const std::shared_ptr<retry_policy>& p) override;
  void finish() override;
  [[nodiscard]] std::optional<std::uint64_t> lag() const override;
  [[nodiscard]] std::string place_of(std::string_view lane, std::uint64_t position) const override;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

/// The host name; `worker` if the machine has none.
[[nodiscard]] std::string machine_name();

}  // namespace everseen
