#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "everseen/serve/base/counters.hpp"
#include "everseen/serve/http/http_message.hpp"
#include "everseen/serve/http/http_routes.hpp"
#include "everseen/serve/registry/shared_filter.hpp"

/// Filters in the HTTP interface: the schemas of openapi.json.
namespace everseen::serve {

using json = nlohmann::ordered_json;

/// The path of a filter.
[[nodiscard]] std::string url_of(std::string_view key);

/// Replaces bytes that are not UTF-8, as messages may quote input.
[[nodiscard]] std::string dumped(const json& j);
/// A successful response with this body.
[[nodiscard]] http_response json_response(const json& j);

[[nodiscard]] json json_of(const tally& t);
[[nodiscard]] json instances_json(const filter_figures& f);

/// Name, address and fill: the beginning of lists and statistics.
[[nodiscard]] json figures_json(std::string_view key, const spec& s, const filter_figures& f);
/// Schema `filter`.
[[nodiscard]] json summary_json(const shared_filter& f, const filter_info& info);
/// Schema `filter_info`.
[[nodiscard]] json info_json(const shared_filter& f);

/// The problem for a name that no filter has, with the nearest name that one has.
[[nodiscard]] http_problem unknown_filter(service& all, std::string_view name);
/// The filter in the path.    @throws http_problem  there is none    @throws error  as store::open
[[nodiscard]] std::shared_ptr<shared_filter> need_filter(http_call& c);

}  // namespace everseen::serve
