#include "everseen/redis/journal/staged_segment.hpp"

#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/keyspace/asking.hpp"

namespace everseen::redis {

bool write_segment(server_connections& connections, const staged_segment& s, std::string_view bits) {
  for (int attempt = 1;; ++attempt) {
    staged_key staged = s.staged;
    if (attempt > 1) staged.name += '.' + std::to_string(attempt);
    const std::size_t pieces = write_string(connections, staged, bits);
    const reply placed = run_script(connections, {&journal_scripts::place_segment(),
                                                  staged.place,
                                                  {s.state, staged.name, s.segment, staged.bitmap()},
                                                  {s.lease, s.next_lease, std::to_string(bits.size()),
                                                   staged.life_ms, std::to_string(pieces)}});
    const std::string_view message = placed[0].text();
    if (message != "U") return message == "K";
    if (attempt == most_writings) throw lost_data(s.segment);
  }
}

}  // namespace everseen::redis
