#include "everseen/store/store.hpp"

#include <algorithm>

#include "everseen/store/file_store.hpp"
#include "everseen/store/memory_store.hpp"

namespace everseen {

parameter_error no_such_filter(std::string_view name) {
  return parameter_error("there is no filter named '" + std::string(name) + "'; create it first");
}

parameter_error filter_exists(std::string_view name) {
  return parameter_error("a filter named '" + std::string(name) +
                         "' exists already; open it, or drop it first");
}

void restore_layer(partition_state& state, const segment_id& id, const layer_state& layer) {
  auto& slices = state.slices;
  auto at = std::lower_bound(slices.begin(), slices.end(), id.slice,
                             [](const slice_state& s, window::slice_index i) { return s.index < i; });
  if (at == slices.end() || at->index != id.slice) at = slices.insert(at, slice_state{id.slice, {}});
  if (at->layers.size() != id.layer)
    throw format_error("the layers of partition " + std::to_string(id.partition) +
                       " are out of order or incomplete; make the image again");
  at->layers.push_back(layer);
}

namespace {

sync_policy parse_sync(std::string_view value) {
  if (value == "always") return sync_policy::always;
  if (value == "interval") return sync_policy::interval;
  if (value == "never") return sync_policy::never;
  throw parameter_error("sync=" + std::string(value) + " is not known; use always, interval or never");
}

std::shared_ptr<store> open_file_store(std::string_view rest) {
  const std::size_t question = rest.find('?');
  const std::string_view path = rest.substr(0, question);
  sync_policy policy = sync_policy::interval;
  if (question != std::string_view::npos) {
    const std::string_view option = rest.substr(question + 1);
    if (!option.starts_with("sync="))
      throw parameter_error("'" + std::string(option) +
                            "' is not an option of a file: store; there is sync=");
    policy = parse_sync(option.substr(5));
  }
  if (path.empty()) throw parameter_error("file: needs a directory, as in file:/var/lib/everseen");
  return std::make_shared<file_store>(path, policy);
}

}  // namespace

std::shared_ptr<store> open_store(std::string_view url) {
  if (url == "mem:") return std::make_shared<memory_store>();
  if (url.starts_with("file:")) return open_file_store(url.substr(5));
  throw parameter_error("'" + std::string(url) + "' is not a store; use mem: or file:DIRECTORY");
}

}  // namespace everseen
