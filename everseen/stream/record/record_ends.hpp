#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace everseen {

/// Appends the offset of every separator in `text` to `ends`: record i lies between separators i - 1 and i.
///
/// Compares 64 bytes at a time; one memchr call a record would cost more than hashing it.
/// @pre text.size() <= 2^32    Cost: about 1 ns a record of 10 bytes. Threads: any.
void find_record_ends(std::string_view text, char separator, std::vector<std::uint32_t>& ends);

}  // namespace everseen
