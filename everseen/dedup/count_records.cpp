#include "everseen/dedup/count_records.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/dedup/record/bad_record.hpp"
#include "everseen/dedup/record/event_rule.hpp"
#include "everseen/dedup/record/record_ends.hpp"

namespace everseen {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;

/// Places of digests in a list, by open addressing: a third of the time of std::unordered_map, which
/// allocates each. A slot has 24 bits of the digest and a place; most others need no look at the list.
class digest_places {
 public:
  /// @param digest_at  of a place in the list
  /// @return where the digest is; nothing: nowhere so far, and from now on at `next`
  template <typename DigestAt>
  std::optional<std::uint64_t> find_or_add(const digest& d, std::uint64_t next, DigestAt digest_at) {
    if (3 * (used_ + 1) > 2 * slots_.size()) grow(digest_at);
    std::uint64_t& slot = slot_of(d, digest_at);
    if (slot != empty) return (slot & place_mask) - 1;
    slot = (d.high & ~place_mask) | (next + 1);
    ++used_;
    return std::nullopt;
  }

  /// From now on a digest that is there is at another place.
  template <typename DigestAt>
  void move(const digest& d, std::uint64_t place, DigestAt digest_at) {
    slot_of(d, digest_at) = (d.high & ~place_mask) | (place + 1);
  }

  /// While the table grew, too: the old one is half of the new one.
  [[nodiscard]] std::uint64_t most_bytes() const noexcept { return 3 * slots_.size() * sizeof slots_[0] / 2; }

 private:
  static constexpr std::uint64_t empty = 0;
  static constexpr std::uint64_t place_mask = (std::uint64_t{1} << 40) - 1;

  /// The slot of the digest, or the empty one for it.
  template <typename DigestAt>
  std::uint64_t& slot_of(const digest& d, DigestAt digest_at) {
    for (std::size_t i = d.low & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      std::uint64_t& slot = slots_[i];
      if (slot == empty) return slot;
      const bool may_be = (slot & ~place_mask) == (d.high & ~place_mask);
      if (may_be && digest_at((slot & place_mask) - 1) == d) return slot;
    }
  }

  template <typename DigestAt>
  void grow(DigestAt digest_at) {
    std::vector<std::uint64_t> before(2 * slots_.size(), empty);
    slots_.swap(before);
    for (const std::uint64_t slot : before)
      if (slot != empty) slot_of(digest_at((slot & place_mask) - 1), digest_at) = slot;
  }

  std::uint64_t used_ = 0;
  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(1024, empty);  // a power of two
};

class counter {
 public:
  counter(const dedup_options& options, const counted_records& counted)
      : options_(options),
        counted_(counted),
        rule_({.key = options.key,
               .null_is_key = true,
               .header = options.header,
               .form = options.form,
               .csv = options.format.csv()}),
        hash_(hash_kind::xxh3, random_hash_seed()) {}

  void take(const block& from, const std::string& input, dedup_result& result) {
    if (options_.format.quoted) rule_.expect_quotes(from.text().find('"') != std::string_view::npos);
    ends_.clear();
    find_record_ends(from.text(), options_.format, ends_);
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      take_record(from.text().substr(begin, end - begin), input, result);
      begin = end + 1;
    }
    result.bytes += from.text().size();
    const bool is_half_dead = dead_bytes_ > least_to_compact && 2 * dead_bytes_ > record_bytes_;
    if (is_half_dead || (dead_bytes_ > 0 && bytes() > counted_.max_bytes)) compact();
    if (bytes() > counted_.max_bytes)
      throw storage_error("the different lines need more memory than " +
                              std::to_string(counted_.max_bytes >> 20) +
                              " MiB, and only such as fit are counted exactly; --max-memory allows more",
                          0, {});
  }

  /// @return the number of records
  std::uint64_t write(output& out) const {
    std::uint64_t written = 0;
    std::string text;
    for_each_kept([&](const entry& each, std::string_view record) {
      using keys = counted_records::keys;
      if (counted_.wanted != keys::all && (counted_.wanted == keys::repeated) != (each.count > 1)) return;
      if (counted_.with_counts) {
        const std::string count = std::to_string(each.count);
        constexpr std::size_t width = 7;  // that of uniq -c
        text.append(width - std::min(width, count.size()), ' ').append(count).append(" ");
      }
      text.append(record);
      ++written;
      if (text.size() >= chunk_bytes) out.write(std::exchange(text, {}));
    });
    if (!text.empty()) out.write(text);
    return written;
  }

  /// Of the current input, for its records' numbers.
  void begin_input() noexcept { of_input_ = 0; }

 private:
  struct entry {
    digest key;           // unset for a record without one
    std::uint64_t count;  // 0: a later record of the key is kept instead
    std::uint32_t bytes;  // of its record with the separator, in the chunks
  };

  [[nodiscard]] auto digest_at() const {
    return [this](std::uint64_t i) { return entries_[i].key; };
  }

  static constexpr std::uint64_t least_to_compact = 64 << 20;

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return places_.most_bytes() + entries_.size() * sizeof(entry) + chunk_capacity_;
  }

  template <typename Visit>
  void for_each_kept(Visit visit) const {
    std::size_t chunk = 0;
    std::size_t position = 0;
    for (const entry& each : entries_) {
      if (position == chunks_[chunk].size()) {
        ++chunk;
        position = 0;
      }
      if (each.count > 0) visit(each, std::string_view(chunks_[chunk]).substr(position, each.bytes));
      position += each.bytes;
    }
  }

  /// Frees the memory of records that are not kept any more.
  void compact() {
    counter kept(options_, counted_);
    auto chunk = chunks_.begin();
    for (std::size_t position = 0; !entries_.empty(); entries_.pop_front()) {
      if (position == chunk->size()) {
        *chunk++ = {};  // so that there is never much more than before
        position = 0;
      }
      const entry& each = entries_.front();
      const std::string_view record = std::string_view(*chunk).substr(position, each.bytes);
      position += each.bytes;
      if (each.count == 0) continue;
      if (each.key != digest{}) kept.places_.find_or_add(each.key, kept.entries_.size(), kept.digest_at());
      kept.keep(record.substr(0, record.size() - 1), each.key);
      kept.entries_.back().count = each.count;
    }
    places_ = std::move(kept.places_);
    entries_ = std::move(kept.entries_);
    chunks_ = std::move(kept.chunks_);
    chunk_capacity_ = kept.chunk_capacity_;
    record_bytes_ = kept.record_bytes_;
    dead_bytes_ = 0;
  }

  void take_record(std::string_view record, const std::string& input, dedup_result& result) {
    const auto event = rule_.read(record);
    if (!event) take_keyless(record, event.error(), input, result);
    ++of_input_;
    ++result.records;
    if (!event) return;
    const std::string_view key = rule_.whole_record_is_key() ? record : event->key;
    const digest d = hash_(key);
    const auto known = places_.find_or_add(d, entries_.size(), digest_at());
    if (!known)
      keep(record, d);
    else if (counted_.kept == counted_records::occurrence::first)
      ++entries_[*known].count;
    else
      keep_instead(*known, record, d);
    ++(known ? result.verdicts.seen : result.verdicts.fresh);
  }

  void take_keyless(std::string_view record, record_fault why, const std::string& input,
                    dedup_result& result) {
    const auto place = [&] {
      return record_place(options_.format, input, of_input_) + ' ' +
             to_string(describe(rule_, record, of_input_, why));
    };
    if (options_.fate_of(why) == dedup_options::fate::fail)
      throw format_error(place() + "; --missing-key drop skips such lines, --missing-key pass prints them");
    ++(is_malformed(why) ? result.malformed : result.without_key);
    if (result.first_without_key.empty()) result.first_without_key = place();
    if (options_.without_key == dedup_options::fate::pass) keep(record, {});
  }

  std::size_t add_chunk(std::size_t bytes) {
    chunks_.emplace_back().reserve(bytes);
    return chunks_.back().capacity();
  }

  void keep_instead(std::uint64_t place, std::string_view record, const digest& key) {
    places_.move(key, entries_.size(), digest_at());
    keep(record, key);
    entry& before = entries_[place];
    entries_.back().count = std::exchange(before.count, 0) + 1;
    dead_bytes_ += before.bytes + sizeof(entry);
  }

  /// A record is not divided between two chunks.
  void keep(std::string_view record, const digest& key) {
    if (chunks_.empty() || chunks_.back().capacity() < chunks_.back().size() + record.size() + 1)
      chunk_capacity_ += add_chunk(std::max(chunk_bytes, record.size() + 1));
    (chunks_.back() += record) += options_.format.separator;
    entries_.push_back({key, 1, static_cast<std::uint32_t>(record.size() + 1)});
    record_bytes_ += record.size() + 1 + sizeof(entry);
  }

  const dedup_options& options_;
  const counted_records& counted_;
  event_rule rule_;
  const hasher hash_;
  std::vector<std::uint32_t> ends_;
  digest_places places_;
  std::deque<entry> entries_;  // in the order of the input; a vector would be copied as it grows
  std::vector<std::string> chunks_;
  std::uint64_t chunk_capacity_ = 0;
  std::uint64_t record_bytes_ = 0;  // of all entries
  std::uint64_t dead_bytes_ = 0;    // of those that are not kept any more
  std::uint64_t of_input_ = 0;
};

}  // namespace

void count_records(block_reader& input, output& out, const dedup_options& options,
                   const counted_records& counted, dedup_result& result) {
  counter counts(options, counted);
  block bytes;
  for (std::size_t last = 0; input.next(bytes); last = bytes.input()) {
    if (bytes.input() != last) counts.begin_input();
    counts.take(bytes, input.name_of(bytes.input()), result);
    if (options.progress) options.progress(result);
  }
  result.written = counts.write(out);
}

}  // namespace everseen
