#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/cli/verb.hpp"
#include "everseen/core/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/filter/open_store.hpp"
#include "everseen/store/store.hpp"

/// Which store a verb works on, and the filter named there.
namespace everseen::cli {

/// Where filters live: what --store says, else $EVERSEEN_STORE, else a directory of the user's own,
/// file:$XDG_DATA_HOME/everseen or file:$HOME/.local/share/everseen.
/// @throws parameter_error  none of these is set
[[nodiscard]] std::string store_url(const std::optional<std::string>& given);

/// The option --store of a verb.
struct store_choice {
  std::optional<std::string> url;
};

void add_store_option(option_set& known, store_choice& target);

/// The store chosen, for a verb that only makes sense if the store outlives it.
/// @throws parameter_error  as store_url, or `mem:`    @throws as open_store(url)
[[nodiscard]] std::shared_ptr<store> chosen_store(const store_choice& choice);

/// @throws parameter_error  a new filter would never fit there, as far as the store knows
void must_have_room(const store& where, const spec& s);
/// Says on standard error what is amiss with a store.    @throws  as store::warnings
void warn_of(const store& place);

/// Says on standard error what a crash could take from the jobs of a store.    @throws  as
/// store::job_warnings
void warn_of_jobs(const store& place);

/// Asks somebody who sits at a terminal; where nobody does, the answer is yes.
[[nodiscard]] bool confirmed(const std::string& question);

/// The error of a name that no filter has, with the one that was probably meant, or how to find out.
[[nodiscard]] no_filter unknown_filter(const store& in, std::string_view name);

/// What `call` gives; an unknown name is complained of as unknown_filter() does.
template <typename Call>
decltype(auto) with_known_filter(const store& in, std::string_view name, Call call) {
  try {
    return call();
  } catch (const filter_ended&) {
    throw;
  } catch (const no_filter&) {
    throw unknown_filter(in, name);
  }
}

/// A filter of the store chosen.    @throws as everseen::open
[[nodiscard]] filter chosen_filter(const store_choice& choice, std::string_view name, access how);

}  // namespace everseen::cli
