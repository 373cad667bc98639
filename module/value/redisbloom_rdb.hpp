#pragma once

#include <memory>

#include "module/value/filter_value.hpp"

/// RedisBloom's own encoding of a filter in an RDB: its type `MBbloom--`, encodings 2 to 4.
///
/// Numbers and strings of the server, in this order: keys, layers, flags, expansion (from encoding 4 on); for
/// each layer: capacity, error rate, probes, bits a key, bits, log2 of the bits or 0, the bytes of the bits,
/// keys. Source: the files that RedisBloom 2.8 writes.
namespace everseen::redis_module {

inline constexpr int redisbloom_encoding = 4;

/// @throws format_error  it is cut off, of another encoding, or not as RedisBloom would have made it
/// @throws parameter_error  beyond what everseen supports
[[nodiscard]] std::unique_ptr<filter_value> load_redisbloom(api::rdb* from, int encoding);
/// Cost: a copy of one layer at a time.    @pre its layout is RedisBloom's
void save_redisbloom(api::rdb* file, const filter_value& filter);

}  // namespace everseen::redis_module
