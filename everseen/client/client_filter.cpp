#include "everseen/client/client_filter.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "everseen/client/batch_sender.hpp"
#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen::client {

using repeat = server_link::repeat;

client_filter::client_filter(std::shared_ptr<const server_link> link, std::string name, spec s,
                             std::string fingerprint, access mode)
    : link_(std::move(link)),
      name_(std::move(name)),
      spec_(std::move(s)),
      fingerprint_(std::move(fingerprint)),
      mode_(mode) {}

batch_result client_filter::add(std::span<const partition_batch> batches) {
  if (mode_ == access::read)
    return unanswered(batches, batch_failure::cause::storage,
                      "the filter was opened for reading; open it for writing to add keys");
  return judge(batches, true);
}

batch_result client_filter::check(std::span<const partition_batch> batches) const {
  return judge(batches, false);
}

batch_result client_filter::judge(std::span<const partition_batch> batches, bool adds) const {
  for (const partition_batch& batch : batches) std::ranges::fill(batch.out, verdict::unknown);
  std::optional<batch_failure> failure;
  try {
    failure = judge_all(batches, adds);
  } catch (...) {  // the system has run out of memory or descriptors
    failure = batch_failure::from_current_exception();
  }
  return answered(batches, std::move(failure));
}

std::optional<batch_failure> client_filter::judge_all(std::span<const partition_batch> batches,
                                                      bool adds) const {
  std::optional<batch_failure> first;
  const key_question q{adds, name_, fingerprint_, spec_.window.has_value()};
  for (const partition_batch& batch : batches) {
    EVERSEEN_ASSERT(batch.keys.size() == batch.out.size());
    auto why = batch_sender(*link_, q, batch).send();
    if (!why) continue;
    if (why->ends_batch()) return why;
    if (!first) first = std::move(why);
  }
  return first;
}

remote_state client_filter::known_state(std::uint32_t partition) const {
  remote_state current = link_->state_of(name_, partition);
  if (current.fingerprint == fingerprint_) return current;
  throw storage_error(
      quoted_name(name_) + ": the filter was dropped, and another one has its name; open it again", 0, name_);
}

partition_state client_filter::state(std::uint32_t partition) const {
  partition_state all;
  for (const auto& [id, layer] : known_state(partition).filter.segments) restore_layer(all, id, layer);
  return all;
}

/// A long reply is cheap for the server, but must arrive whole. If it does not, the same bits are asked for
/// in a short one, and the next ones in longer ones again.
/// @param bytes  to ask for; afterwards, those to ask for next
redis::reply client_filter::next_chunk(std::uint32_t partition, std::int64_t iterator,
                                       std::size_t& bytes) const {
  const auto ask = [&](repeat again) {
    redis::reply chunk = link_->ask({"EVERSEEN.DUMP", name_, fingerprint_, std::to_string(partition),
                                     std::to_string(iterator), std::to_string(bytes)},
                                    name_, again);
    bytes = std::min(2 * bytes, image::max_chunk_bits_bytes);
    return chunk;
  };
  if (bytes > redis::piece_bytes) try {
      return ask(repeat::no);
    } catch (const backend_error&) {
      bytes = redis::piece_bytes;
    }
  return ask(repeat::yes);
}

void client_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  if (fingerprint_of(spec_) != fingerprint_)  // the server has left the seed out
    throw parameter_error("the bits of " + quoted_name(name_) +
                          " say nothing without its secret seed, which everseen serve shows to users with "
                          "the right 'admin' alone");
  std::int64_t iterator = 1;
  std::size_t chunk_bytes = image::max_chunk_bits_bytes;
  const announced_filter current = known_state(partition).filter;
  for (const announced_filter::segment& s : current.segments) {
    std::vector<std::byte> bits;
    bits.reserve(s.layer.shape.bytes);
    while (bits.size() < s.layer.shape.bytes) {
      const redis::reply chunk = next_chunk(partition, iterator, chunk_bytes);
      const redis::reply bytes = chunk[1];
      const auto piece = image::without_chunk_trailer(std::as_bytes(std::span(bytes.text())), current.content,
                                                      s, bits.size());
      if (piece.empty() || piece.size() > s.layer.shape.bytes - bits.size())
        throw format_error(quoted_name(name_) + " grew or was emptied while it was copied; copy it again");
      bits.insert(bits.end(), piece.begin(), piece.end());
      iterator += static_cast<std::int64_t>(piece.size());
    }
    visit(s.id, s.layer, bits);
  }
}

void client_filter::sync() {
  link_->ask({"SAVE"}, name_, repeat::yes);
}

std::unique_ptr<ledger> client_filter::open_ledger(std::string_view job,
                                                   std::optional<std::string_view> description) {
  if (!description) return nullptr;
  throw not_over_a_server("the job " + quoted_name(job));
}

batch_path client_filter::path() const {
  const std::string server = redis::to_string(link_->url().endpoints.front());
  return {"everseen serve", std::vector<std::string>(spec_.partitions, server), {}};
}

}  // namespace everseen::client
