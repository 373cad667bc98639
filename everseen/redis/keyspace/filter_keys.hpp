#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/format/redis_keys.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/core/partition/segments.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/reply.hpp"

namespace everseen::redis {

/// The keys of a filter, all named by its id: doc/format.md, "Names". Only the index contains the filter's
/// name, so renaming moves no keys.
///
/// The part in braces is the hash tag: all keys of one partition are in one cluster slot, so that one script
/// may access them all.
class filter_keys {
 public:
  filter_keys(std::string prefix, const image::filter_id& id)
      : prefix_(std::move(prefix)), id_(to_text(id)) {}

  /// The keys of a filter that is one value of the module, under a key that its users chose: it has neither a
  /// header nor other partitions.
  [[nodiscard]] static filter_keys of_value(std::string key) {
    filter_keys keys;
    keys.value_ = std::move(key);
    return keys;
  }
  [[nodiscard]] bool is_value() const noexcept { return !value_.empty(); }

  /// 32 hexadecimal digits.
  [[nodiscard]] static std::string to_text(const image::filter_id& id) { return filter_names::to_text(id); }
  [[nodiscard]] static std::optional<image::filter_id> parse_id(std::string_view digits) {
    return filter_names::parse_id(digits);
  }

  /// Hash: filter names and their ids. No filter's header has this name.
  [[nodiscard]] static std::string index(const std::string& prefix) { return filter_names::index(prefix); }
  /// In the same cluster slot: the links, and the sign that names exist.
  [[nodiscard]] static std::string links(const std::string& prefix) { return filter_names::links(prefix); }
  [[nodiscard]] static std::string sign(const std::string& prefix) { return index(prefix) + ":sign"; }

  /// Each of several independent servers keeps its own identity here.
  [[nodiscard]] static std::string server(const std::string& prefix) { return prefix + ":{server}"; }

  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] std::string header() const {
    return is_value() ? value_ : filter_names::header(prefix_, id_);
  }
  /// The state of a partition besides bits and journal.
  [[nodiscard]] std::string state(std::uint32_t partition) const {
    return is_value() ? value_ : filter_names::state(prefix_, id_, partition);
  }
  [[nodiscard]] std::string segment(const segment_id& s) const {
    return partition_keys::segment(state(s.partition), s);
  }
  /// A client's last batch and its answer; expires.
  [[nodiscard]] std::string token(std::uint32_t partition, std::string_view client) const {
    return partition_keys::token(state(partition), client);
  }
  /// A part of the journal.
  [[nodiscard]] std::string chunk(std::uint32_t partition, std::uint64_t number) const {
    return state(partition) + ":j" + std::to_string(number);
  }
  /// Data that a client hands over for its n-th call, before the call; expires.
  [[nodiscard]] std::string staged(std::uint32_t partition, std::string_view client, std::uint64_t n) const {
    return state(partition) + ":s" + std::string(client) + "." + std::to_string(n);
  }

 private:
  filter_keys() = default;

  std::string prefix_;
  std::string id_;
  std::string value_;  // empty unless it is one value
};

/// The properties of a filter that are independent of its name and known to all its users. They never change.
struct filter_identity {
  filter_keys keys;
  everseen::spec spec;
  image::filter_id id{};
};

/// The keys of a filter's jobs: doc/format.md, "Jobs".
///
/// All except these two contain a random id of the job. What remains of an ended job is therefore never taken
/// for a later job of the same name.
class job_keys {
 public:
  /// @param id  random_name()
  job_keys(const filter_keys& filter, std::string id) : filter_(filter), id_(std::move(id)) {}

  /// Hash: job names; each value is the job's id, a space and its description. In the slot of the header.
  [[nodiscard]] static std::string list(const filter_keys& filter) { return filter.header() + ":jobs"; }
  /// Hash: ids of jobs that were ended and are being removed. In the slot of the header.
  [[nodiscard]] static std::string gone(const filter_keys& filter) { return filter.header() + ":gone"; }

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// Hash: the furthest checkpoint of each lane. In the slot of the list.
  [[nodiscard]] std::string checkpoints() const { return filter_.header() + ":c" + id_; }
  /// Hash: the record of each lane; after a zero byte, the value of each counter.
  [[nodiscard]] std::string lanes(std::uint32_t partition) const {
    return partition_keys::lane_records(filter_.state(partition), id_);
  }
  /// A field of a partition's state; without it, the job cannot claim events there.
  [[nodiscard]] std::string field() const { return partition_keys::job_field(id_); }

 private:
  filter_keys filter_;
  std::string id_;
};

/// The id of a filter as fields hold it: its 16 bytes.
[[nodiscard]] std::string bytes_of(const image::filter_id& id);
/// @param key  that holds them    @throws format_error  they are something else
[[nodiscard]] image::filter_id id_in(std::string_view bytes, const std::string& key);
/// The same of a field that may be missing.    @throws  as above
[[nodiscard]] std::optional<image::filter_id> id_in_field(const reply& field, const std::string& key);

/// The list of a partition's segments, as stored in its state. The number of keys in each is stored beside
/// it.
[[nodiscard]] std::string encode_manifest(const filter_identity& f, std::uint32_t partition,
                                          const partition_state& s);
/// @throws format_error  it is damaged, or belongs to another filter or partition
[[nodiscard]] image::manifest decode_manifest(const filter_identity& f, std::uint32_t partition,
                                              std::string_view bytes);

}  // namespace everseen::redis
