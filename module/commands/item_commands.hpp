#pragma once

#include "module/server/values.hpp"

/// Commands that take keys as people and programs write them, on any value: as those of RedisBloom, and for
/// windows and partitions, too.
namespace everseen::redis_module {

/// EVERSEEN.RESERVE key error_rate capacity [WINDOW ms] [SLICES n]
int reserve_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.ADD key [TIME ms] item [item ...]: for each item 1 if it was fresh, 0 if it was probably added
/// before, or why it could not be judged
int add_values(api::context* ctx, api::string** words, int count);
/// EVERSEEN.CHECK key [TIME ms] item [item ...]: for each item 1 if it was probably added, 0 if it was not
int check_values(api::context* ctx, api::string** words, int count);

}  // namespace everseen::redis_module
