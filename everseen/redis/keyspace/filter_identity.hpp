#pragma once

#include "everseen/core/format/image.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"

namespace everseen::redis {

/// What all who use a filter agree on, whatever it is called. Never changes.
struct filter_identity {
  filter_keys keys;
  everseen::spec spec;
  image::filter_id id{};
};

}  // namespace everseen::redis
