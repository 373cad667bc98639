#pragma once

#include <memory>
#include <optional>
#include <string>

#include "everseen/cli/dedup_arguments.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/store.hpp"
#include "everseen/stream/block_reader.hpp"

namespace everseen::cli {

/// The filter of one run of dedup: opened, or made for the size of the input.
class dedup_filter {
 public:
  /// Makes nothing before everything else on the command line was found to be good. Says on standard error
  /// what `create` says of the store of a new filter, and if an old one of the name has ended.
  /// @throws parameter_error  what was asked for is not what the filter keeps    @throws as open_or_create
  dedup_filter(const dedup_arguments& given, const block_reader& input);

  [[nodiscard]] filter& operator*() noexcept { return *seen_; }
  [[nodiscard]] filter* operator->() noexcept { return &*seen_; }

  /// Whether the filter outlives the run.
  [[nodiscard]] bool is_kept() const noexcept { return kept_; }
  /// How many threads make sense where nobody says.
  [[nodiscard]] unsigned useful_threads() const noexcept;

  /// After a run that failed: drops the filter if this run made it and nothing was added, so that the next
  /// attempt may ask for another one. Not on servers, where somebody else may have opened it meanwhile.
  /// The filter must not be used any more.
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
