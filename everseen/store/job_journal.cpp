#include "everseen/store/job_journal.hpp"

#include <cstring>
#include <optional>

#include "everseen/core/bytes.hpp"
#include "everseen/core/checksum.hpp"
#include "everseen/core/error.hpp"

namespace everseen::job_journal {

namespace {

constexpr std::string_view magic = "EVSNjrnl";
constexpr std::uint32_t version = 1;
constexpr std::size_t head_bytes = 16;   // before the description
constexpr std::size_t record_bytes = 5;  // before the body
constexpr std::size_t checksum_bytes = 8;

template <typename Integer>
void append(std::string& to, Integer value) {
  char bytes[sizeof value];
  store_le(bytes, value);
  to.append(bytes, sizeof bytes);
}

void append_text(std::string& to, std::string_view text) {
  append(to, static_cast<std::uint32_t>(text.size()));
  to += text;
}

void append_checksum(std::string& to) {
  append(to, checksum(std::as_bytes(std::span(to))));
}

[[noreturn]] void damaged(const char* what) {
  throw format_error(std::string("the journal ") + what);
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

/// The whole and checked bytes of size `bytes + checksum_bytes` in front; nothing where they are cut off.
bool is_whole(std::string_view all, std::size_t bytes) {
  if (all.size() < checksum_bytes || all.size() - checksum_bytes < bytes) return false;
  return checksum(std::as_bytes(std::span(all.substr(0, bytes)))) == load_le64(all.data() + bytes);
}

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
    mark.source = body.text();
    mark.position = body.number<std::uint64_t>();
    mark.note = body.text();
    into.reached.insert_or_assign(mark.source, mark);
  }
}

}  // namespace

std::string encode_head(std::string_view description) {
  std::string bytes(magic);
  append(bytes, version);
  append_text(bytes, description);
  append_checksum(bytes);
  return bytes;
}

std::string encode_record(char kind, std::string_view body) {
  std::string bytes;
  bytes.reserve(record_bytes + body.size() + checksum_bytes);
  bytes += kind;
  append_text(bytes, body);
  append_checksum(bytes);
  return bytes;
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

std::string encode_record_of(std::uint32_t partition, std::string_view lane, const lane_record& record) {
  if (!record.last()) return {};
  std::string body = begin_step(partition, lane, 0, *record.last());
  for (const std::uint64_t position : record.fresh()) append(body, position);
  return encode_record(lane_kind, body);
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

namespace {

bool is_known(char kind) noexcept {
  return kind == step_kind || kind == lane_kind || kind == marks_kind;
}

/// The body of the record in front; nothing where it is cut off or its checksum is wrong.
std::optional<std::size_t> body_of(std::string_view left) {
  if (left.size() < record_bytes) return {};
  const std::size_t body = load_le<std::uint32_t>(left.data() + 1);
  return is_whole(left, record_bytes + body) ? std::optional(body) : std::nullopt;
}

/// What was cut off is the end of what was written: a whole record behind it says that it was not.
void must_be_the_end(std::string_view left) {
  for (std::size_t at = 1; at < left.size(); ++at)
    if (is_known(left[at]) && body_of(left.substr(at)))
      damaged(
          "has a damaged record, and sound ones behind it; go on from a backup of the filter, or drop it");
}

}  // namespace

content decode(std::string_view bytes, std::uint32_t partitions) {
  if (bytes.size() < head_bytes || !bytes.starts_with(magic)) damaged("does not begin as one");
  const auto found = load_le<std::uint32_t>(bytes.data() + magic.size());
  if (found != version)
    throw format_error("the journal is of version " + std::to_string(found) +
                       ", and only version 1 is known here");
  const std::size_t description = load_le<std::uint32_t>(bytes.data() + magic.size() + 4);
  if (!is_whole(bytes, head_bytes + description)) damaged("has a damaged head");
  content c;
  c.description = bytes.substr(head_bytes, description);
  c.bytes = head_bytes + description + checksum_bytes;
  for (;;) {
    const std::string_view left = bytes.substr(c.bytes);
    const auto body = body_of(left);
    if (!body) return must_be_the_end(left), c;
    const reader content(left.substr(record_bytes, *body));
    if (left[0] == step_kind || left[0] == lane_kind)
      take_step_record(c, content, partitions, left[0] == step_kind);
    else if (left[0] == marks_kind)
      take_marks(c, content);
    else
      damaged("has a record of a kind that is not known here");
    c.bytes += record_bytes + *body + checksum_bytes;
  }
}

}  // namespace everseen::job_journal
