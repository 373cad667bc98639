#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/client/server_link.hpp"
#include "everseen/core/format/announced_filter.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::client {

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

}  // namespace everseen::client
