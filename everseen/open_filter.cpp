// A named filter by the URL of its store: the same whichever stores a program is linked with.

#include <string>

#include "everseen/open_store.hpp"

namespace everseen {

filter create(std::string_view store_url, std::string_view name, const spec_request& request) {
  const auto place = open_store(store_url);
  return {std::string(name), place->create(name, place->plan(request))};
}

filter open_or_create(std::string_view store_url, std::string_view name, const spec_request& request) {
  return open_or_create(*open_store(store_url), name, request);
}

filter open(std::string_view store_url, std::string_view name, access mode) {
  return open(*open_store(store_url), name, mode);
}

}  // namespace everseen
