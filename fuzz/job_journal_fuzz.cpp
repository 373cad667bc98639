// Any bytes as the journal of a job: they are read or refused, and what was read is the same after it is
// written again. Lengths and checksums are also made right first; otherwise hardly any input would pass them.
//
// Decodes: everseen/store/job_log/job_log.cpp, everseen/core/format/lane_record.cpp

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/store/job_log/job_log.hpp"

namespace {

using namespace everseen;
using job_log::checksum_bytes, job_log::head_bytes, job_log::record_bytes;

void require(bool truth) {
  if (!truth) std::abort();
}

/// The record of a lane by itself is read as it was written.
void check_lane(const lane_record& record) {
  require(lane_record::decode(record.encode()) == record);
  require(record.encode().starts_with(record.head()));
  for (const std::uint64_t position : record.fresh()) require(record.was_fresh(position));
}

/// All that a journal says, in a new one.
std::string written_again(const job_log::content& read) {
  job_log::writer writing;
  std::string anew = writing.begin(read.begun);
  const auto add = [&](char kind, const std::string& body) {
    if (body.empty()) return;
    const std::string record = writing.record(kind, body);
    writing.note_written(record);
    anew += record;
  };
  for (const auto& [lane, partitions] : read.records)
    for (std::uint32_t p = 0; p < partitions.size(); ++p) {
      check_lane(partitions[p]);
      add(job_log::lane_kind, job_log::encode_lane(p, lane, partitions[p]));
    }
  std::vector<checkpoint> marks;
  for (const auto& [lane, mark] : read.reached) marks.push_back(mark);
  add(job_log::marks_kind, job_log::encode_marks(marks));
  return anew;
}

/// A step whose keys are fresh, of the positions of a lane.
void check_step(const std::string& lane, const std::vector<std::uint64_t>& positions) {
  const std::vector<verdict> verdicts(positions.size(), verdict::fresh);
  const std::vector<digest> digests(positions.size(), digest{1, 2});
  job_log::writer writing;
  std::string anew = writing.begin({});
  anew +=
      writing.record(job_log::step_kind, job_log::encode_step({0, lane, 0, positions, verdicts, digests}));
  const job_log::content again = job_log::decode(anew, {{}, 1, false, {}});
  require(again.keys.size() == positions.size() && again.records.at(lane).front().fresh() == positions);
}

void check(std::string_view bytes) {
  job_log::circumstances now{{}, 64, true, {}};
  if (bytes.size() >= head_bytes) std::memcpy(now.filter.data(), bytes.data() + 16, now.filter.size());
  try {
    const job_log::content read = job_log::decode(bytes, now);
    require(read.bytes <= bytes.size() && read.begun.filter == now.filter);
    const std::string anew = written_again(read);
    const job_log::content again = job_log::decode(anew, now);
    require(again.bytes == anew.size() && again.reached.size() == read.reached.size());
    for (const auto& [lane, partitions] : again.records) require(partitions == read.records.at(lane));
    for (const auto& [lane, partitions] : read.records)
      for (const lane_record& each : partitions)
        if (!each.fresh().empty()) check_step(lane, each.fresh());
  } catch (const format_error&) {
    // refused
  }
  now.closed_in_order = false;
  try {
    (void)job_log::decode(bytes, now);
    now.filter.front() ^= 1;
    (void)job_log::decode(bytes, now);
    std::abort();  // it is of another filter
  } catch (const format_error&) {
    // refused
  }
  try {
    check_lane(lane_record::decode(bytes));
  } catch (const format_error&) {
    // refused
  }
}

void seal_length(std::string& bytes, std::size_t place) {
  const auto length = load_le64(bytes.data() + place) & job_log::length_mask;
  store_le(bytes.data() + place, image::encode_key_count(std::min<std::uint64_t>(length, bytes.size())));
}

/// Corrects the lengths, the checksum of the head, and those of the records, each of which covers the one
/// before.
void reseal(std::string& bytes) {
  seal_length(bytes, job_log::lengths_at);
  seal_length(bytes, job_log::lengths_at + job_log::length_bytes);
  std::size_t at =
      head_bytes + load_le<std::uint32_t>(bytes.data() + 12) + load_le<std::uint32_t>(bytes.data() + 52);
  if (at > bytes.size() - checksum_bytes) return;
  std::uint64_t last = job_log::checksum_of_head(std::string_view(bytes).substr(0, at));
  store_le(bytes.data() + at, last);
  for (at += checksum_bytes; bytes.size() - at >= record_bytes + checksum_bytes;) {
    const std::size_t length = record_bytes + load_le<std::uint32_t>(bytes.data() + at + 1);
    if (length > bytes.size() - at - checksum_bytes) return;
    last = job_log::checksum_of_record(last, std::string_view(bytes).substr(at, length));
    store_le(bytes.data() + at + length, last);
    at += length + checksum_bytes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  if (size < head_bytes + checksum_bytes) return 0;
  reseal(bytes);
  check(bytes);
  return 0;
}
