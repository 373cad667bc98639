#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/redis/wire/reply.hpp"

namespace everseen::redis {

/// One of the 16384 shares of all keys that a cluster distributes.
using slot_number = std::uint16_t;

/// The slot of a key: CRC16 of the whole key, or of the text in its first {...} if that is not empty.
[[nodiscard]] slot_number slot_of(std::string_view key) noexcept;
/// A text that in {...} puts other keys into the slot of this one: mostly the one in its own {...}, or the
/// key. If it has a brace that would end the text early, a number that happens to be in the same slot (about
/// 1 ms).
[[nodiscard]] std::string tag_of_slot(std::string_view key);

/// Which master of a cluster owns which slot, as far as is known.
class slot_map {
 public:
  static constexpr std::size_t slots = 16384;

  /// Nothing is known.
  slot_map();

  /// From the reply to CLUSTER SLOTS.
  /// @param asked  the server that replied: if it does not know its own address, it omits that
  /// @return nothing if this is not a reply of CLUSTER SLOTS, or if it names no master
  [[nodiscard]] static std::optional<slot_map> from_reply(const reply& r, const endpoint& asked);

  /// The master of a slot; null if none is known.
  [[nodiscard]] const endpoint* owner(slot_number slot) const noexcept;
  /// One slot has moved.
  void assign(slot_number slot, const endpoint& master);

  [[nodiscard]] bool empty() const noexcept { return masters_.empty(); }
  /// In the order of their first slots.
  [[nodiscard]] const std::vector<endpoint>& masters() const noexcept { return masters_; }
  /// Masters and replicas: the servers that may be asked about the cluster.
  [[nodiscard]] const std::vector<endpoint>& members() const noexcept { return members_; }

 private:
  static constexpr std::uint16_t nobody = 0xffff;

  [[nodiscard]] std::uint16_t index_of(const endpoint& master);
  bool read_range(const reply& range, const endpoint& asked);

  std::vector<endpoint> masters_{};
  std::vector<endpoint> members_{};
  std::vector<std::uint16_t> owner_;  // of a slot: an index of masters_, or nobody
};

}  // namespace everseen::redis
