#include "everseen/jobs/redis/redis_stream_entries.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/block_reader.hpp"

namespace everseen::redis_stream {

namespace {

constexpr unsigned sequence_bits = 20;
constexpr std::uint64_t max_sequence = (std::uint64_t{1} << sequence_bits) - 1;
constexpr std::uint64_t max_milliseconds = (std::uint64_t{1} << 44) - 1;

void append_string(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte < 0x20)
      out.append("\\u00").append({hex[byte >> 4], hex[byte & 15]});
    else
      out += c;
  }
  out += '"';
}

/// @return whether the entry has the field
bool append_record(std::string& out, const redis::reply& fields, std::string_view field) {
  if (field.empty()) {
    append_json(out, fields);
    return true;
  }
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
    if (fields[i].text() == field) {
      out += fields[i + 1].text();
      return true;
    }
  return false;
}

/// What a batch owns of its entries.
struct kept_entries {
  redis::reply tree;  // has the fields
  std::string bytes{};
  std::vector<record_envelope> envelopes{};
  std::vector<std::string_view> words{};
};

}  // namespace

std::optional<std::uint64_t> position_of(std::string_view id) noexcept {
  const std::size_t dash = id.find('-');
  if (dash == std::string_view::npos) return {};
  const auto milliseconds = read_number(id.substr(0, dash));
  const auto sequence = read_number(id.substr(dash + 1));
  if (!milliseconds || !sequence || *milliseconds > max_milliseconds || *sequence > max_sequence) return {};
  return *milliseconds << sequence_bits | *sequence;
}

std::string id_of(std::uint64_t position) {
  return std::to_string(position >> sequence_bits) + '-' + std::to_string(position & max_sequence);
}

void append_json(std::string& out, const redis::reply& fields) {
  char before = '{';
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    out += std::exchange(before, ',');
    append_string(out, fields[i].text());
    out += ':';
    append_string(out, fields[i + 1].text());
  }
  out += before == '{' ? "{}" : "}";
}

std::size_t read_entries(const redis::reply& entries, std::string_view field, source_batch& into) {
  const auto memory = std::make_shared<kept_entries>();
  memory->tree = entries;
  struct placed {
    std::uint64_t position;
    std::size_t end;           // of the record's bytes, which move as they grow
    std::size_t end_of_words;  // the same
  };
  std::vector<placed> ends;
  std::size_t gone = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const redis::reply entry = entries[i];
    const auto position = position_of(entry[0].text());
    if (!position)
      throw format_error("the stream has an entry with the id " + std::string(entry[0].text()) +
                         ", which is no time in ms and a sequence below 2^20; give ids by *");
    if (entry[1].is_nil()) {
      ++gone;
      continue;
    }
    record_envelope& envelope = memory->envelopes.emplace_back();
    envelope.has_value = append_record(memory->bytes, entry[1], field);
    envelope.time = std::chrono::milliseconds(*position >> sequence_bits);
    for (std::size_t word = 0; word < entry[1].size(); ++word) memory->words.push_back(entry[1][word].text());
    ends.push_back({*position, memory->bytes.size(), memory->words.size()});
  }
  memory->bytes.append(block_reader::padding, '\0');
  std::size_t begin = 0, first_word = 0;
  into.records.clear();
  into.records.reserve(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto& [position, end, end_of_words] = ends[i];
    record_envelope& envelope = memory->envelopes[i];
    envelope.fields = std::span(memory->words).subspan(first_word, end_of_words - first_word);
    into.records.push_back({std::string_view(memory->bytes).substr(begin, end - begin), position, &envelope});
    begin = end;
    first_word = end_of_words;
  }
  into.memory = memory;
  return gone;
}

}  // namespace everseen::redis_stream
