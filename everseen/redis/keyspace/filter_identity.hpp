#pragma once

#include "everseen/core/format/image.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"

namespace everseen::redis {

/// The properties of a filter that are independent of its name and known to all its users. They never change.
struct filter_identity {
  filter_keys keys;
  everseen::spec spec;
  image::filter_id id{};
};

}  // namespace everseen::redis
