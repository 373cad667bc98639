// Any text where people type numbers, lengths of time, rates, names and addresses, and any name of a file in
// a store: it is read or refused with parameter_error, and what was read means the same after it is written
// again.
//
// Decodes: everseen/core/base/quantity.cpp, everseen/core/base/names.cpp, everseen/core/base/url_text.cpp,
// everseen/core/format/file_names.cpp

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/base/url_text.hpp"
#include "everseen/core/format/file_names.hpp"
#include "everseen/serve/base/options.hpp"

namespace {

using namespace everseen;

void require(bool truth) {
  if (!truth) std::abort();
}

/// The value; nothing if it is refused, which must say why.
template <typename Parse>
auto read(Parse parse) -> std::optional<decltype(parse())> {
  try {
    return parse();
  } catch (const parameter_error& e) {
    require(!std::string_view(e.what()).empty());
    return std::nullopt;
  }
}

void check_quantities(std::string_view text) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  for (const quantity kind : {quantity::count, quantity::redis_bytes, quantity::duration}) {
    const quantity_read got = read_quantity(kind, text);
    require(got.fault == quantity_fault::none || got.value == 0 || kind == quantity::count);
    require(kind == quantity::count || got.value <= most);
  }
  if (const auto count = read([&] { return parse_count("n", text, {1, 1'000'000}); })) {
    require(*count >= 1 && *count <= 1'000'000);
    require(parse_count("n", std::to_string(*count), {1, 1'000'000}) == *count);
  }
  if (const auto time = read([&] { return parse_duration("t", text); }))
    require(parse_duration("t", format_duration(*time)) == *time);
  if (const auto range = read([&] { return parse_range("r", text, most); }))
    require(range->first <= range->last && range->last <= most);
  if (const auto rate = read([&] { return parse_rate("p", text, {1e-15, 0.5}); }))
    require(*rate >= 1e-15 && *rate <= 0.5);
}

void check_names(std::string_view text) {
  require(typed_name(shown_name(text)) == text);
  if (const auto name = read([&] { return typed_name(text); }))
    require(typed_name(shown_name(*name)) == *name);
  constexpr std::string_view words[] = {"capacity", "error-rate", "window", "x", "--partitions"};
  const std::string_view meant = nearest(text, words);
  require(meant.empty() || meant.size() + 3 > text.size());
  (void)quoted_name(text);
  (void)name_argument(text);
  for (const char c : without_controls(text)) require(static_cast<unsigned char>(c) >= ' ');
}

void check_files_and_addresses(std::string_view text) {
  const std::string file = file_names::of(text);
  require(file.find('/') == std::string::npos && !file.starts_with('.') && !file.ends_with(".new"));
  if (const auto name = file_names::spelled(file)) require(*name == text);
  if (const auto name = file_names::spelled(text)) require(file_names::of(*name) == text);
  require(!file_names::is_hash(text) || !file_names::spelled(text));
  require(percent_decoded(percent_encoded(text)) == text);
  (void)percent_decoded(text);
  const auto where = read([&] { return serve::parse_listen_address(text); });
  if (where) require(serve::parse_listen_address(where->text()).text() == where->text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_quantities(text);
  check_names(text);
  check_files_and_addresses(text);
  return 0;
}
