#include "everseen/redis/server_order.hpp"

#include "everseen/core/error.hpp"

namespace everseen::redis {

server_order::server_order(const redis_url& url) {
  if (url.shape == redis_url::topology::cluster) return;
  count_ = static_cast<std::uint32_t>(url.endpoints.size());
  for (const endpoint& e : url.endpoints) {
    if (!servers_.empty()) servers_ += ',';
    servers_ += to_string(e);
  }
}

std::string server_order::place_text(std::uint32_t place) const {
  return std::to_string(place + 1) + "/" + std::to_string(count_);
}

std::vector<std::string> server_order::fields(std::uint32_t place) const {
  if (count_ == 0) return {};
  return {"place", place_text(place), "servers", servers_};
}

void server_order::require(std::string_view filter, std::uint32_t asked, const reply& place,
                           const reply& servers) const {
  if (count_ == 0 || place.is_nil() || place.text() == place_text(asked)) return;
  const std::string of = "/" + std::to_string(count_);
  throw parameter_error("the filter '" + std::string(filter) + "' was made through " +
                        std::string(servers.text()) + ", and this URL names " +
                        (place.text().ends_with(of) ? "them in another order" : "fewer or more servers") +
                        "; name the same servers in the same order");
}

}  // namespace everseen::redis
