#pragma once

#include <memory>
#include <optional>
#include <string>

#include "everseen/cli/dedup/dedup_arguments.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::cli {

/// The filter of one run of dedup: opened, or created for the size of the input.
class dedup_filter {
 public:
  /// Creates nothing before everything else on the command line was validated. Prints on standard error the
  /// warnings of `create` about the store of a new filter, and a note if an old filter of the name has
  /// expired.
  /// @throws parameter_error  the options contradict the existing filter    @throws as open_or_create
  dedup_filter(const dedup_arguments& given, const block_reader& input);

  [[nodiscard]] filter& operator*() noexcept { return *seen_; }
  [[nodiscard]] filter* operator->() noexcept { return &*seen_; }

  [[nodiscard]] store& home() noexcept { return *home_; }
  /// Whether the filter outlives the run.
  [[nodiscard]] bool is_kept() const noexcept { return kept_; }
  /// Whether it is on servers.
  [[nodiscard]] bool is_remote() const { return home_->traits().is_remote; }
  /// As sync_as_it_ends().
  void sync() { sync_as_it_ends(*home_, *seen_); }
  /// When the keys of a line are added, relative to its output.
  /// @throws parameter_error  --on-crash repeat where another process may have the same line
  [[nodiscard]] dedup_options::adding_order adding_of(const dedup_arguments& given) const;
  /// Recommended number of threads if the user gives none.
  [[nodiscard]] unsigned useful_threads() const;

  /// After a failed run: drops the filter if this run created it and added nothing, so that the next attempt
  /// may create a different one. Not on servers, where another process may have opened it in the meantime.
  /// The filter must not be used afterwards.
  void discard_if_unused() noexcept;

 private:
  void make_or_open(const dedup_arguments& given, const block_reader& input);
  [[nodiscard]] bool open(const std::string& name);

  bool kept_;
  std::shared_ptr<store> home_;
  std::optional<filter> seen_;
  bool made_ = false;
};

}  // namespace everseen::cli
