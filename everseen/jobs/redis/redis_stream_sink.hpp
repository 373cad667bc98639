#pragma once

#include <functional>
#include <memory>
#include <string>

#include "everseen/jobs/port/sink.hpp"
#include "everseen/jobs/redis/redis_stream_url.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen {

/// A Redis stream that gets each fresh record once, even across crashes: an entry of another Redis stream
/// with all its fields, any other record, or every record if the URL has `field`, as the value of one field.
/// Ids are new.
///
/// The script that appends records also moves a cursor next to the stream, by lane, and appends nothing at or
/// before it. So putting a batch again appends only the missing entries. The entries of a batch are planned
/// first (redis_stream_scripts.hpp). So each is in the stream once, even if a server crashes in the middle of
/// a call, replays half of it, and then runs the retry.
///
/// The cursor is the hash {STREAM}:everseen:MARK. Remove it together with the stream. It must not outlive
/// the ledger: the cursor would make events that a new ledger calls fresh look appended.
/// Retries through an outage for the URL's retry_for, or as wait_with() says. Cost: a round trip for 1000
/// records. Threads: as for sink.
class redis_stream_sink : public sink {
 public:
  /// Identifies the ledger that this sink belongs to; unique for all time.
  using mark = std::function<std::string()>;

  /// Opens no connection.
  /// @param owner  asked when the first record is put
  /// @throws parameter_error  options of a source; or independent servers, of which only one has the stream
  redis_stream_sink(const redis_stream_url& url, const redis::redis_url& server, mark owner);
  ~redis_stream_sink() override;

  void begin(std::string_view note) override;
  void put(const judged_batch& batch) override;
  [[nodiscard]] std::string commit(std::span<const checkpoint> reached) override;
  void wait_with(const std::shared_ptr<retry_policy>& p) override;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen
