#pragma once

#include <cstdint>

#include "module/server/values.hpp"

/// A value as a whole: what it is and holds, and what happens to it besides keys.
namespace everseen::redis_module {

/// Whose rules loading chunks follows: RedisBloom's, for whole filters without a window and of either type,
/// or those of EVERSEEN.LOADCHUNK.
enum class load_rules : std::uint8_t { bloom, own };
/// BF.LOADCHUNK or EVERSEEN.LOADCHUNK key iterator data: the header, the chunk 1, makes the value; others add
/// their bits
int load_filter(api::context* ctx, api::string** words, int count, load_rules rules);
int load_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.STATE key: the header of its chunks, its successor or "", its content
int show_state(api::context* ctx, api::string** words, int count);
/// EVERSEEN.READ key slice layer offset bytes: bits of a segment; fewer at its end
int read_bits(api::context* ctx, api::string** words, int count);
/// EVERSEEN.SEAL key successor: no more keys are accepted
int seal_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.CLEAR key content: removes every key; the value has this content from then on
int clear_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.EXTEND key slice: moves the window as an add of this slice would
int extend_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.INFO key: its spec and its fill, field by field
int show_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.EXPLAIN key item: the bits of the item in each segment, and whether they are set
int explain_item(api::context* ctx, api::string** words, int count);

}  // namespace everseen::redis_module
