#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/image.hpp"
#include "everseen/core/predecessor.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

/// That one filter asks another one first.
struct stored_link {
  std::string newer;
  image::filter_id id{};  ///< of the newer one: a link is gone with it, whoever gets its name
  predecessor older;
};

/// The links under a prefix of which a filter is one that its clients judge: doc/format.md, "Links".
///
/// One hash beside the index, so that the rule that a filter has one link at most is kept by one step. What
/// is over does not count, and goes when another one is put down.
///
/// All functions throw backend_error, and format_error where the hash is something else.
class link_hash {
 public:
  explicit link_hash(const std::string& prefix)
      : at_{filter_keys::links(prefix), 0}, index_(filter_keys::index(prefix)) {}

  /// Those that are not over.
  [[nodiscard]] std::vector<stored_link> all(session& with) const;
  /// @param id  of the newer one
  [[nodiscard]] std::optional<predecessor> asked_first(session& with, const image::filter_id& id) const;
  /// Puts a link down, in the place of one between the same two.
  /// @param named  the newer one is a filter that its clients judge, and must still have its name
  /// @return false  it has not, or one of the filters has another link
  [[nodiscard]] bool put(session& with, const stored_link& link, bool named) const;
  /// Another filter's of that name stays.
  void forget(session& with, std::string_view newer, const image::filter_id& id) const;

  /// By whose clock links end: that of the server with this key.
  [[nodiscard]] const std::string& key() const noexcept { return at_.key; }

 private:
  route at_;
  std::string index_;
};

}  // namespace everseen::redis
