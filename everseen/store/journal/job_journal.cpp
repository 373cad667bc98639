#include "everseen/store/journal/job_journal.hpp"

#include "everseen/store/journal/job_journal_layout.hpp"

namespace everseen::job_journal {

namespace {

void append_text(std::string& to, std::string_view text) {
  append(to, static_cast<std::uint32_t>(text.size()));
  to += text;
}

}  // namespace

std::array<char, lengths_bytes> encode(const lengths& l) noexcept {
  std::array<char, lengths_bytes> bytes{};
  store_le(bytes.data(), image::encode_key_count(l.acknowledged));
  store_le(bytes.data() + length_bytes, image::encode_key_count(l.synced));
  return bytes;
}

std::string writer::begin(const head& h) {
  std::string bytes(magic);
  append(bytes, version);
  append(bytes, static_cast<std::uint32_t>(h.description.size()));
  bytes.append(h.filter.begin(), h.filter.end());
  bytes.append(h.boot.begin(), h.boot.end());
  append(bytes, (h.synced_always ? synced_always : 0U) | (h.may_lack_steps ? may_lack_steps : 0U));
  append(bytes, static_cast<std::uint32_t>(h.job.size()));
  const std::size_t length = head_bytes + h.description.size() + h.job.size() + checksum_bytes;
  const auto both = encode({length, length});
  bytes.append(both.data(), both.size());
  bytes += h.description;
  bytes += h.job;
  last_ = checksum_of_head(bytes);
  append(bytes, last_);
  return bytes;
}

std::string writer::record(char kind, std::string_view body) const {
  std::string bytes;
  bytes.reserve(record_bytes + body.size() + checksum_bytes);
  bytes += kind;
  append_text(bytes, body);
  append(bytes, checksum_of_record(last_, bytes));
  return bytes;
}

void writer::went_on(std::string_view record) {
  last_ = load_le64(record.data() + record.size() - checksum_bytes);
}

namespace {

std::string begin_step(std::uint32_t partition, std::string_view lane, std::uint64_t settled,
                       std::uint64_t last) {
  std::string body;
  append(body, partition);
  append_text(body, lane);
  append(body, settled);
  append(body, last);
  return body;
}

}  // namespace

std::string encode_lane(std::uint32_t partition, std::string_view lane, const lane_record& record) {
  if (!record.last()) return {};
  std::string body = begin_step(partition, lane, 0, *record.last());
  for (const std::uint64_t position : record.fresh()) append(body, position);
  return body;
}

std::string encode_step(const job_memory::step& s) {
  std::string body = begin_step(s.partition, s.lane, s.settled, s.positions.back());
  for (std::size_t i = 0; i < s.positions.size(); ++i)
    if (s.verdicts[i] == verdict::fresh) {
      append(body, s.positions[i]);
      append(body, s.digests[i].low);
      append(body, s.digests[i].high);
      const event_time when = s.times.empty() ? event_time() : s.times[s.times.size() == 1 ? 0 : i];
      append(body, static_cast<std::int64_t>(when.time_since_epoch().count()));
    }
  return body;
}

std::string encode_marks(std::span<const checkpoint> marks) {
  std::string body;
  for (const checkpoint& mark : marks) {
    append_text(body, mark.source);
    append(body, mark.position);
    append_text(body, mark.note);
  }
  return body;
}

}  // namespace everseen::job_journal
