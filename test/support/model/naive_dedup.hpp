#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/hash/digest.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/dedup/dedup.hpp"
#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/dedup/record/event_rule.hpp"

#include "test/support/model/exact_partition.hpp"

namespace everseen::test {

/// The definition of de-duplication: one record after the other, an exact set for each partition, no
/// optimization.
struct naive_dedup {
  std::string output;
  tally verdicts;
  std::uint64_t records = 0;
  std::uint64_t without_key = 0;
  std::optional<std::uint64_t> unreadable;  ///< number, from 1, of the record that ended the run
  std::vector<std::string> added;           ///< keys, in the order they were added

  /// @param text  the whole input    The spec's error rate must be low enough for exact sets to agree.
  naive_dedup(const spec& s, const dedup_options& options, std::string text) {
    if (!text.empty() && text.back() != options.format.separator) text += options.format.separator;
    std::vector<exact_partition> partitions(s.partitions, exact_partition(s));
    std::map<std::string, unsigned, std::less<>> numbers;
    const hasher hash(s.hash, s.seed);
    event_rule rule({options.key, options.time, {}, true});
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find(options.format.separator, begin);
      const std::string whole = text.substr(begin, end + 1 - begin);
      std::string padded = text.substr(begin, end - begin);
      padded.resize(padded.size() + block_reader::padding);
      begin = end + 1;

      const auto parts = rule.read({padded.data(), whole.size() - 1});
      if (!parts && options.fate_of(parts.error()) == dedup_options::fate::fail) {
        unreadable = records + 1;
        return;
      }
      ++records;
      if (!parts) {
        ++without_key;
        if (options.fate_of(parts.error()) == dedup_options::fate::pass) output += whole;
        continue;
      }
      const std::string key(parts->key);
      const unsigned number = numbers.try_emplace(key, numbers.size()).first->second;
      const event_time when = options.time ? parts->time : options.clock ? options.clock() : event_time{};
      const verdict v =
          partitions[partition_of(hash(key), s.partitions)].add({number, when.time_since_epoch().count()});
      verdicts.fresh += v == verdict::fresh;
      verdicts.seen += v == verdict::seen;
      verdicts.late += v == verdict::late;
      verdicts.unknown += v == verdict::unknown;
      if (v == verdict::fresh) added.push_back(key);
      const bool passed = v == verdict::late && options.late == dedup_options::fate::pass;
      if (v == options.wanted || (passed && options.wanted == verdict::fresh)) output += whole;
    }
  }
};

}  // namespace everseen::test
