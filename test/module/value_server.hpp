#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/core/spec/window.hpp"

#include "test/module/server_facts.hpp"
#include "test/support/random_digests.hpp"

namespace everseen::redis_module {

/// An error rate at which no test meets a false positive.
inline constexpr double never_wrong = 1e-12;

/// A batch of one partition, as a client packs it.
struct packed_keys {
  std::vector<digest> digests{};
  window::slice_index slice = window::timeless;
  std::vector<window::slice_index> slices{};  ///< of each key; empty: all are in `slice`

  [[nodiscard]] std::string bytes() const {
    return {reinterpret_cast<const char*>(digests.data()), digests.size() * sizeof(digest)};
  }
  [[nodiscard]] std::string offsets() const {
    std::string all;
    for (const window::slice_index each : slices) all += static_cast<char>(each - slice);
    return all;
  }
};

/// A value of one partition at a server, made by the header of its chunks, and a client of it.
class stored_partition {
 public:
  stored_partition(const redis_server& server, std::string key, spec_request request,
                   std::uint32_t number = 0)
      : server_(&server), key_(std::move(key)) {
    request.seed = request.seed.value_or(hash_seed{});
    f_.spec = make_spec(request);
    f_.partition = number;
    f_.content = image::dumped_content(f_.spec);
    made_ = run({"EVERSEEN.LOADCHUNK", key_, "1", header()});
  }

  [[nodiscard]] const std::string& made() const noexcept { return made_; }  ///< the reply
  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] const spec& get_spec() const noexcept { return f_.spec; }
  [[nodiscard]] std::string header() const {
    const std::vector<std::byte> bytes = image::encode_chunk_header(f_);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::string run(const std::vector<std::string>& words) const {
    return test::raw_command(server_->unix_path(), words);
  }
  std::string add(const packed_keys& keys) { return run(adding(keys, ++sequence_)); }
  [[nodiscard]] std::string add_again(const packed_keys& keys) const { return run(adding(keys, sequence_)); }
  [[nodiscard]] std::string check(const packed_keys& keys) const {
    return run({"EVERSEEN.CHECKPACKED", key_, std::to_string(keys.slice), keys.bytes(), keys.offsets()});
  }
  [[nodiscard]] std::vector<std::string> adding(const packed_keys& keys, std::uint64_t sequence) const {
    std::string digits = std::to_string(sequence);
    digits.insert(0, 20 - digits.size(), '0');
    return {"EVERSEEN.ADDPACKED", key_,          key_ + ":t:me", std::to_string(keys.slice), digits, "600000",
            keys.bytes(),         keys.offsets()};
  }
  /// The value as STATE shows it.
  [[nodiscard]] announced_filter state() const {
    // An array of three, of which the first is the header: its length is in the manifest, so it is cut there.
    std::string header = run({"BF.SCANDUMP", key_, "0"});
    header.erase(0, 2);  // the iterator, 1
    return image::decode_chunk_header(std::as_bytes(std::span(header)));
  }
  /// Digests of this partition.
  [[nodiscard]] std::vector<digest> take(test::random_digests& random, std::size_t count) const {
    std::vector<digest> all;
    while (all.size() < count)
      if (const digest d = random(); partition_of(d, f_.spec.partitions) == f_.partition) all.push_back(d);
    return all;
  }

 private:
  const redis_server* server_;
  std::string key_;
  announced_filter f_{};
  std::string made_;
  std::uint64_t sequence_ = 0;
};

}  // namespace everseen::redis_module
