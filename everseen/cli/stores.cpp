#include "everseen/cli/stores.hpp"

#include <cstdlib>

#include "everseen/cli/options.hpp"
#include "everseen/core/error.hpp"

namespace everseen::cli {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

/// Where the XDG base directory specification puts a user's data.
std::string default_url() {
  const std::string_view data = environment("XDG_DATA_HOME");
  if (data.starts_with('/')) return "file:" + std::string(data) + "/everseen";  // relative ones are invalid
  const std::string_view home = environment("HOME");
  if (home.empty())
    throw parameter_error("no store is given and HOME is not set; use --store or EVERSEEN_STORE");
  return "file:" + std::string(home) + "/.local/share/everseen";
}

}  // namespace

std::string store_choice::resolved() const {
  std::string chosen = url.value_or(std::string(environment("EVERSEEN_STORE")));
  if (chosen.empty()) chosen = default_url();
  if (chosen == "mem:") throw parameter_error("a mem: store would end with this command; use file:DIRECTORY");
  return chosen;
}

void add_store_option(CLI::App& app, store_choice& target) {
  add_text(app, "--store", target.url,
           {"URL",
            "Where filters live, as in file:DIRECTORY; default: $EVERSEEN_STORE, else your data directory"});
}

std::shared_ptr<store> open_store(const store_choice& choice) {
  return everseen::open_store(choice.resolved());
}

filter open_filter(const store_choice& choice, std::string_view name, access how) {
  return {std::string(name), open_store(choice)->open(name, how)};
}

}  // namespace everseen::cli
