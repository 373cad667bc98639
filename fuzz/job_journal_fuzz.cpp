// Any bytes as the journal of a job: they are read or refused, and what was read is the same after it is
// written again.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/store/journal/job_journal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace everseen;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const job_journal::circumstances now{{}, 64, false, {}};
    const job_journal::content read = job_journal::decode(bytes, now);
    if (read.bytes > size || read.begun.filter != now.filter) std::abort();
    job_journal::writer writing;
    std::string anew = writing.begin(read.begun);
    for (const auto& [lane, partitions] : read.records)
      for (std::uint32_t p = 0; p < partitions.size(); ++p) {
        const std::string body = job_journal::encode_lane(p, lane, partitions[p]);
        if (body.empty()) continue;
        const std::string record = writing.record(job_journal::lane_kind, body);
        writing.went_on(record);
        anew += record;
      }
    const job_journal::content again = job_journal::decode(anew, now);
    if (again.bytes != anew.size()) std::abort();
    for (const auto& [lane, partitions] : again.records)
      for (std::size_t p = 0; p < partitions.size(); ++p)
        if (partitions[p] != read.records.find(lane)->second.at(p)) std::abort();
  } catch (const format_error&) {
    // refused
  }
  return 0;
}
