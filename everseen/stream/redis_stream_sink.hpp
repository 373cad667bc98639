#pragma once

#include <functional>
#include <memory>
#include <string>

#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/stream/redis_stream_url.hpp"
#include "everseen/stream/sink.hpp"

namespace everseen {

/// A Redis stream that gets each record which goes out as an entry of one field, once, whatever crashes: the
/// script that appends them also moves a cursor beside the stream, by lane, and appends nothing at or before
/// it. So a batch that is put again is appended where it was not. Which entries a batch will have is planned
/// before (redis_stream_scripts.hpp): so it is in the stream once, too, where a server runs half of a call
/// that it was killed in, and then the retry.
///
/// The cursor is the hash {STREAM}:everseen:MARK; whoever removes the stream for good removes it, too. It
/// must end with what the ledger knows, or events that a new ledger calls fresh would be taken for appended.
/// An outage is ridden out for the URL's retry_for, or as wait_with() says. Cost: a round trip for 1000
/// records. Threads: as sink has it.
class redis_stream_sink : public sink {
 public:
  /// Which ledger this goes with: no other, before or after, has the same.
  using mark = std::function<std::string()>;

  /// Connects to nothing.
  /// @param of  asked when the first record is put
  /// @throws parameter_error  options of a source, or independent servers, of which a stream has one
  redis_stream_sink(const redis_stream_url& url, const redis::redis_url& server, mark of);
  ~redis_stream_sink() override;

  void begin(std::string_view note) override;
  void put(const judged_batch& batch) override;
  [[nodiscard]] std::string commit(std::span<const checkpoint> reached) override;
  void wait_with(const std::shared_ptr<patience>& p) override;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen
