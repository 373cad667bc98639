#include "everseen/stream/dedup/count_records.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/stream/record/bad_record.hpp"
#include "everseen/stream/record/event_rule.hpp"
#include "everseen/stream/record/record_ends.hpp"

namespace everseen {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

/// A digest is a hash already.
struct low_half {
  std::size_t operator()(const digest& d) const noexcept { return d.low; }
};

class counter {
 public:
  explicit counter(const dedup_options& options)
      : options_(options), rule_({options.key, {}, {}, true}), hash_(hash_kind::xxh3, random_hash_seed()) {}

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
  }

  void write(output& out) const {
    std::string text;
    std::size_t chunk = 0;
    std::size_t at = 0;
    for (const entry& each : entries_) {
      if (at == chunks_[chunk].size()) {
        ++chunk;
        at = 0;
      }
      const std::string_view record = std::string_view(chunks_[chunk]).substr(at, each.bytes);
      at += each.bytes;
      if (options_.wanted == verdict::seen && each.count < 2) continue;
      const std::string count = std::to_string(each.count);
      constexpr std::size_t width = 7;  // that of uniq -c
      text.append(width - std::min(width, count.size()), ' ').append(count).append(" ").append(record);
      if (text.size() >= chunk_bytes) out.write(std::exchange(text, {}));
    }
    if (!text.empty()) out.write(text);
  }

  /// Of the current input, for its records' numbers.
  void begin_input() noexcept { of_input_ = 0; }

 private:
  struct entry {
    std::uint64_t count;
    std::uint32_t bytes;  // of its record with the separator, in the chunks
  };

  void take_record(std::string_view record, const std::string& input, dedup_result& result) {
    const auto event = rule_.read(record);
    if (!event && options_.without_key == dedup_options::fate::fail)
      throw format_error(record_place(options_.format, input, of_input_) + ' ' +
                         to_string(describe(rule_, record, of_input_, event.error())) +
                         "; --missing-key drop passes over such lines, --missing-key pass prints them");
    ++of_input_;
    ++result.records;
    if (!event) {
      ++(is_malformed(event.error()) ? result.malformed : result.without_key);
      if (options_.without_key == dedup_options::fate::pass) keep(record);
      return;
    }
    const std::string_view key = rule_.whole_record_is_key() ? record : event->key;
    const auto [known, is_new] = places_.try_emplace(hash_(key), entries_.size());
    if (is_new)
      keep(record);
    else
      ++entries_[known->second].count;
    ++(is_new ? result.verdicts.fresh : result.verdicts.seen);
  }

  /// A record is not divided between two chunks.
  void keep(std::string_view record) {
    if (chunks_.empty() || chunks_.back().capacity() < chunks_.back().size() + record.size() + 1)
      chunks_.emplace_back().reserve(std::max(chunk_bytes, record.size() + 1));
    (chunks_.back() += record) += options_.format.separator;
    entries_.push_back({1, static_cast<std::uint32_t>(record.size() + 1)});
  }

  const dedup_options& options_;
  event_rule rule_;
  const hasher hash_;
  std::vector<std::uint32_t> ends_;
  std::unordered_map<digest, std::uint64_t, low_half> places_;
  std::deque<entry> entries_;  // in the order of the input; a vector would be copied as it grows
  std::vector<std::string> chunks_;
  std::uint64_t of_input_ = 0;
};

}  // namespace

void count_records(block_reader& input, output& out, const dedup_options& options, dedup_result& result) {
  counter counts(options);
  block bytes;
  for (std::size_t last = 0; input.next(bytes); last = bytes.input()) {
    if (bytes.input() != last) counts.begin_input();
    counts.take(bytes, input.name_of(bytes.input()), result);
    if (options.progress) options.progress(result);
  }
  counts.write(out);
}

}  // namespace everseen
