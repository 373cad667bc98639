#include "everseen/store/job_log/job_log.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "everseen/core/base/error.hpp"

namespace everseen::job_log {

namespace {

void append_text(std::string& out, std::string_view text) {
  append(out, static_cast<std::uint32_t>(text.size()));
  out += text;
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

void writer::note_written(std::string_view record) {
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
    append_text(body, mark.lane);
    append(body, mark.position);
    append_text(body, mark.note);
  }
  return body;
}

namespace {

[[noreturn]] void damaged(const char* problem) {
  throw format_error(std::string("the journal ") + problem);
}

/// Reads a body from the front.
class reader {
 public:
  explicit reader(std::string_view bytes) : left_(bytes) {}

  template <typename Integer>
  Integer number() {
    return load_le<Integer>(take(sizeof(Integer)).data());
  }
  std::string_view text() { return take(number<std::uint32_t>()); }
  [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }

 private:
  std::string_view take(std::size_t bytes) {
    if (bytes > left_.size()) damaged("has a record that ends too early");
    const std::string_view taken = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return taken;
  }

  std::string_view left_;
};

void take_step_record(content& into, reader body, std::uint32_t partitions, bool with_keys) {
  const auto partition = body.number<std::uint32_t>();
  const std::string lane(body.text());
  const auto settled = body.number<std::uint64_t>();
  const auto last = body.number<std::uint64_t>();
  if (partition >= partitions) damaged("names a partition that the filter does not have");
  auto& records = into.records[lane];
  records.resize(partitions);
  lane_record& record = records[partition];
  record.forget(settled);
  while (!body.at_end()) {
    const auto position = body.number<std::uint64_t>();
    if (record.has_judged(position) || position > last) damaged("has positions that do not ascend");
    record.note(position, true);
    if (!with_keys) continue;
    const auto low = body.number<std::uint64_t>();
    const auto high = body.number<std::uint64_t>();
    const event_time when{std::chrono::milliseconds(body.number<std::int64_t>())};
    into.keys.push_back({partition, {low, high}, when});
  }
  if (!record.has_judged(last)) record.note(last, false);
}

void take_marks(content& into, reader body) {
  while (!body.at_end()) {
    checkpoint mark;
    mark.lane = body.text();
    mark.position = body.number<std::uint64_t>();
    mark.note = body.text();
    into.reached.insert_or_assign(mark.lane, mark);
  }
}

std::size_t length_at(std::string_view bytes, std::size_t place) {
  const auto word = load_le64(bytes.data() + place);
  const std::uint64_t length = word & length_mask;
  if (image::encode_key_count(length) != word) damaged("has a damaged head");
  return length;
}

struct checked_head {
  head says{};
  std::size_t bytes = 0;
  lengths least{};
  std::uint64_t checksum = 0;
};

/// A reader beside a writer may find the second length newer than the first.
lengths decode_lengths(std::string_view bytes) {
  const std::size_t synced = length_at(bytes, lengths_at + length_bytes);
  return {std::max(length_at(bytes, lengths_at), synced), synced};
}

checked_head decode_head(std::string_view bytes) {
  if (bytes.size() < magic.size() + sizeof version || !bytes.starts_with(magic))
    damaged("does not begin as one");
  const auto found = load_le<std::uint32_t>(bytes.data() + magic.size());
  if (found != version)
    throw format_error("the journal is of version " + std::to_string(found) +
                       ", and this everseen reads only version 2");
  if (bytes.size() < head_bytes + checksum_bytes) damaged("is cut off in its head");
  const std::size_t description = load_le<std::uint32_t>(bytes.data() + 12);
  const std::size_t job = load_le<std::uint32_t>(bytes.data() + 52);
  if (description + job > bytes.size() - head_bytes - checksum_bytes) damaged("is cut off in its head");
  checked_head h;
  const std::size_t end = head_bytes + description + job;
  h.checksum = load_le64(bytes.data() + end);
  if (h.checksum != checksum_of_head(bytes.substr(0, end))) damaged("has a damaged head");
  h.bytes = end + checksum_bytes;
  std::memcpy(h.says.filter.data(), bytes.data() + 16, h.says.filter.size());
  std::memcpy(h.says.boot.data(), bytes.data() + 32, h.says.boot.size());
  const auto flags = load_le<std::uint32_t>(bytes.data() + 48);
  h.says.synced_always = (flags & synced_always) != 0;
  h.says.may_lack_steps = (flags & may_lack_steps) != 0;
  h.says.description = bytes.substr(head_bytes, description);
  h.says.job = bytes.substr(head_bytes + description, job);
  h.least = decode_lengths(bytes);
  if (h.least.synced < h.bytes) damaged("has a head whose lengths make no sense");
  return h;
}

/// The size of the body of the first record; nothing if the record is invalid here.
std::optional<std::size_t> body_of(std::string_view left, std::uint64_t checksum_before) {
  if (left.size() < record_bytes + checksum_bytes) return {};
  const std::size_t body = load_le<std::uint32_t>(left.data() + 1);
  if (body > left.size() - record_bytes - checksum_bytes) return {};
  const std::size_t sealed = record_bytes + body;
  if (load_le64(left.data() + sealed) != checksum_of_record(checksum_before, left.substr(0, sealed)))
    return {};
  return body;
}

void take_record(content& into, char kind, std::string_view body, std::uint32_t partitions) {
  if (kind == step_kind || kind == lane_kind)
    take_step_record(into, reader(body), partitions, kind == step_kind);
  else if (kind == marks_kind)
    take_marks(into, reader(body));
  else
    damaged("has a record of an unknown kind");
}

bool are_same_boot(const boot_id& a, const boot_id& b) noexcept {
  return a == b && a != boot_id{};
}

}  // namespace

content decode(std::string_view bytes, const circumstances& current) {
  checked_head h = decode_head(bytes);
  if (h.says.filter != current.filter) damaged("belongs to another filter");
  // A crashed process leaves its data in the page cache, and a proper close syncs it. Only in other cases may
  // acknowledged data be missing.
  const bool has_all = current.closed_in_order || are_same_boot(h.says.boot, current.boot);
  const std::size_t least = has_all ? h.least.acknowledged : h.least.synced;
  content c;
  c.begun = std::move(h.says);
  c.begun.may_lack_steps |= !has_all && !c.begun.synced_always;
  c.bytes = h.bytes;
  for (std::uint64_t last = h.checksum;;) {
    const std::string_view left = bytes.substr(c.bytes);
    const auto body = body_of(left, last);
    if (!body && c.bytes < least)
      damaged(("has " + std::to_string(least) + " bytes that were acknowledged, and is " +
               (bytes.size() < least ? "cut off after " + std::to_string(bytes.size())
                                     : "damaged behind byte " + std::to_string(c.bytes)))
                  .c_str());
    if (!body) return c;
    take_record(c, left[0], left.substr(record_bytes, *body), current.partitions);
    last = load_le64(left.data() + record_bytes + *body);
    c.bytes += record_bytes + *body + checksum_bytes;
  }
}

}  // namespace everseen::job_log
