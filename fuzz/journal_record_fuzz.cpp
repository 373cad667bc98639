// Any bytes as a journal or a checkpoint: they are read or refused, and what was read is written again byte
// for byte.
//
// The first byte chooses: even, the rest is a journal; odd, two bytes with the length of the counts, the
// counts, and a manifest.
//
// Decodes: everseen/core/partition/journal_record.cpp

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/partition/journal_record.hpp"
#include "everseen/redis/journal/stored_checkpoint.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"

namespace {

using namespace everseen;

constexpr std::size_t manifest_spec_offset = 48;

/// Corrects the checksum after the first `covered` bytes; otherwise no input would pass it.
void reseal(std::string& bytes, std::size_t from, std::size_t covered) {
  store_le(bytes.data() + from + covered, checksum(std::as_bytes(std::span(bytes).subspan(from, covered))));
}

void reseal_records(std::string& bytes) {
  for (std::size_t at = 0; bytes.size() - at >= journal_record_head_bytes;) {
    const std::size_t length = load_le<std::uint32_t>(bytes.data() + at + 4);
    if (length < journal_record_head_bytes + journal_record_tail_bytes || length > bytes.size() - at) return;
    reseal(bytes, at, length - journal_record_tail_bytes);
    at += length;
  }
}

void check_journal(std::string_view bytes) {
  journal_reader reader(bytes);
  std::string again;
  try {
    while (const std::optional<journal_record> record = reader.next()) {
      // Records with more keys or groups than a batch has are read, but not written.
      if (append_record(again, *record) != reader.last_checksum()) std::abort();
      if (again.size() + reader.rest() != bytes.size()) std::abort();
    }
  } catch (const format_error&) {
    // refused, as most inputs should be
  }
  if (bytes.substr(0, again.size()) != again) std::abort();
}

void check_checkpoint(const std::string& counts, const std::string& manifest) {
  image::manifest m;
  try {
    m = image::decode_manifest(std::as_bytes(std::span(manifest)));
  } catch (const error&) {
    return;
  }
  const redis::filter_identity f{{"p", m.filter}, m.spec, m.filter};
  const std::uint32_t p = m.segments.empty() ? 0 : m.segments.front().id.partition;
  try {
    const partition_state state = redis::decode_checkpoint(f, p, manifest, counts);
    if (redis::encode_counts(state) != counts) std::abort();
    const std::string again = redis::encode_manifest(f, p, state);
    if (redis::decode_checkpoint(f, p, again, counts) != state) std::abort();
    if (redis::decode_segments(f, p, again) != redis::decode_segments(f, p, manifest)) std::abort();
  } catch (const error&) {
    // refused
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    check_journal(input);
    reseal_records(input);
    check_journal(input);
    return 0;
  }
  if (input.size() < 2) return 0;
  const std::size_t length = std::min<std::size_t>(load_le<std::uint16_t>(input.data()), input.size() - 2);
  const std::string counts = input.substr(2, length);
  std::string manifest = input.substr(2 + length);
  check_checkpoint(counts, manifest);
  if (manifest.size() < manifest_spec_offset + image::spec_bytes + 8) return 0;
  reseal(manifest, manifest_spec_offset, image::spec_bytes - 8);
  reseal(manifest, 0, manifest.size() - 8);
  check_checkpoint(counts, manifest);
  return 0;
}
