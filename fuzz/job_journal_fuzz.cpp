// Any bytes as the journal of a job: they are read or refused, and what was read is the same after it is
// written again.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/store/job_log/job_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace everseen;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const job_log::circumstances now{{}, 64, false, {}};
    const job_log::content read = job_log::decode(bytes, now);
    if (read.bytes > size || read.begun.filter != now.filter) std::abort();
    job_log::writer writing;
    std::string anew = writing.begin(read.begun);
    for (const auto& [lane, partitions] : read.records)
      for (std::uint32_t p = 0; p < partitions.size(); ++p) {
        const std::string body = job_log::encode_lane(p, lane, partitions[p]);
        if (body.empty()) continue;
        const std::string record = writing.record(job_log::lane_kind, body);
        writing.note_written(record);
        anew += record;
      }
    const job_log::content again = job_log::decode(anew, now);
    if (again.bytes != anew.size()) std::abort();
    for (const auto& [lane, partitions] : again.records)
      for (std::size_t p = 0; p < partitions.size(); ++p)
        if (partitions[p] != read.records.find(lane)->second.at(p)) std::abort();
  } catch (const format_error&) {
    // refused
  }
  return 0;
}
