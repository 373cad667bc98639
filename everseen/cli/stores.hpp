#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/cli/verb.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/store.hpp"

/// Which store a verb works on, and the filter named there.
namespace everseen::cli {

struct store_choice {
  std::optional<std::string> url;  ///< as given by --store

  /// --store, else $EVERSEEN_STORE, else a directory of the user's data.
  /// @throws parameter_error  none is given and the user has no home, or `mem:`, which would end with this
  ///                          command
  [[nodiscard]] std::string resolved() const;
};

void add_store_option(CLI::App& app, store_choice& target);

/// The store chosen.    @throws as open_store(url)
[[nodiscard]] std::shared_ptr<store> open_store(const store_choice& choice);

/// A filter of the store chosen.    @throws as everseen::open
[[nodiscard]] filter open_filter(const store_choice& choice, std::string_view name, access how);

}  // namespace everseen::cli
