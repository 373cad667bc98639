#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/redis/filter/generations.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// A filter of everseen's own, in whichever generation is in place: a rebuild seals a generation, which then
/// names its successor.
///
///     keys ──> generation in place ──sealed──> its successor, which asks the sealed one until the rebuild is
///     done
///
/// Adds and look-ups continue from one generation to the next. All other functions refer to the generation
/// that was opened, and fail once another one is in place. Threads: any number.
class followed_filter final : public stored_filter {
 public:
  /// @throws storage_error  it was dropped    @throws backend_error, format_error
  followed_filter(std::shared_ptr<connection_pool> pool, std::string name, const filter_identity& f,
                  access mode);

  /// Of the generation that was opened: batches are divided by its partitions.
  [[nodiscard]] const spec& get_spec() const noexcept override { return generations_.opened()->get_spec(); }
  /// During a rebuild, keys of the previous generation are `seen`, and are nevertheless added to the new one.
  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  /// @throws storage_error  the filter was rebuilt since it was opened; the same holds for visit_segments
  ///   and open_ledger
  /// @throws format_error   a part of it is lost or damaged
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  /// @throws storage_error  it is being rebuilt
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  /// Of the generation that was opened, as merge.
  void must_fit(const sibling_source& siblings) const override;
  /// @throws storage_error  the filter was rebuilt since it was opened
  void merge(const sibling_source& siblings) override;
  void sync() override {}
  /// Of the generation in place. During a rebuild, `asks_first` names this same filter: its previous
  /// generation.
  [[nodiscard]] batch_path path() const override;
  /// @throws parameter_error  it is being rebuilt
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::optional<std::string_view> description) override;

 private:
  using keys = std::span<const partition_batch>;

  [[nodiscard]] std::optional<format_error> damage_of(const generation& in) const;
  void tell_damage_from_drop(const generation& in, batch_failure& failure) const;
  batch_result judge(keys batches, bool sealed_judges, const generation::judging& judge) const;
  template <typename Judge>
  batch_result guarded(keys batches, Judge judge_all) const;
  [[nodiscard]] sealable_filter& opened() const;
  template <typename Call>
  auto in_opened(Call call) const;

  const generations generations_;
};

// Steps 3 and 4 of a rebuild (filter_rebuild.hpp), after the decision that one filter succeeds another
// (filter_header.hpp). Any client can do each step, any number of times.

enum class placing : std::uint8_t {
  done,
  unnamed,  ///< no name leads to either: the filter was dropped, or rebuilt once more
  unmade,   ///< the successor was never completed, or lost a part before; the old one stays in use
};
/// Lets the names of the old filter lead to its successor.
/// @throws storage_error  the old one is gone    @throws backend_error, format_error
[[nodiscard]] placing put_in_place(server_connections& connections, const filter_identity& old,
                                   const image::filter_id& id);

enum class sealing : bool { no, yes };
/// The filters that a filter asks, beginning with its predecessor.
/// @param seal  ends all their journals; only then may anything be added to the filter
/// @throws storage_error, backend_error, format_error
[[nodiscard]] std::vector<filter_identity> asked_before(server_connections& connections,
                                                        const filter_identity& f, sealing seal);

}  // namespace everseen::redis
