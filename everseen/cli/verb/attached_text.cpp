#include "everseen/cli/verb/attached_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "everseen/core/base/names.hpp"
#include "everseen/report/explanation.hpp"
#include "everseen/store/link/linked_filter.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

using foreign::as_attached;
using foreign::attached_filter;
using foreign::bitmap;

/// Nobody counts the keys of an attached filter, since other programs add to it, too. Its bits tell.
std::uint64_t keys_in(const attached_filter& a, const std::vector<bitmap>& all) {
  double keys = 0;
  for (const bitmap& b : all) keys += a.estimated_keys(b.set_bits);
  return static_cast<std::uint64_t>(std::llround(keys));
}

/// Below this rate, no hash achieves what the formula predicts.
std::string rate_text(double rate) {
  constexpr double least = 1e-15;
  return rate > 0 && rate < least ? "below 1e-15" : format_rate(rate);
}

std::uint64_t bytes_of(const std::vector<bitmap>& all) {
  std::uint64_t bytes = 0;
  for (const bitmap& b : all) bytes += b.bytes;
  return bytes;
}

double fill_of(const attached_filter& a, const bitmap& b) {
  return static_cast<double>(b.set_bits) / static_cast<double>(foreign::reachable_bits(a.what()));
}

void print_strings(const attached_filter& a, const std::vector<bitmap>& all, printer& out) {
  std::size_t width = 6;
  for (const bitmap& b : all) width = std::max(width, b.place.key.size());
  out.print("\n{:<{}}{:>16}{:>9}{:>14}  {}\n", "string", width, "bits set", "fill", "memory", "server");
  for (const bitmap& b : all)
    out.print("{:<{}}{:>16}{:>8.2f}%{:>14}  {}\n", b.place.key, width, format_count(b.set_bits),
              100 * fill_of(a, b), format_bytes(static_cast<double>(b.bytes)), b.server);
}

void print_key_bits(const foreign_bits::key_bits& bits, printer& out) {
  constexpr std::size_t a_row = 4;
  const auto set = std::ranges::count(bits.set, true);
  out.print("\n{}: {} of {} bits set\n", bits.string, set, bits.positions.size());
  for (std::size_t i = 0; i < bits.positions.size(); ++i)
    out.print("{}bit {:<15} {}{}", i % a_row == 0 ? "    " : "   ", bits.positions[i],
              bits.set[i] ? "set" : "-  ", (i + 1) % a_row == 0 ? "\n" : "");
  if (bits.positions.size() % a_row != 0) out.write("\n");
}

/// The name of a Redis key need not be UTF-8.
std::string dumped(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

void warn(const std::vector<std::string>& sentences) {
  for (const std::string& each : sentences) fmt::print(stderr, "everseen: warning: {}\n", each);
}

}  // namespace

void warn_of_attached(const attached_filter& a, const std::vector<bitmap>& all, may_be_missing may) {
  if (may == may_be_missing::no) warn(a.missing(all));
  warn(a.doubts(all));
}

void warn_of_lost_strings(const filter& f) {
  const attached_filter* attached = as_attached(f.stored());
  if (const auto* linked = dynamic_cast<const linked_filter*>(&f.stored()))
    attached = as_attached(linked->older());
  if (attached != nullptr) warn(attached->lost_strings());
}

void print_attached_info(const filter& f, const std::string& store, printer& out) {
  const attached_filter& a = *as_attached(f.stored());
  const std::vector<bitmap> all = a.survey();
  const spec& s = f.get_spec();
  out.print("name          {}\n", shown_name(f.name()));
  out.print("store         {}\n", store);
  out.print("attached      {}\n", to_string(a.what()));
  out.print("kept at       {}\n", a.what().key);
  out.print("keys          about {}, by the bits that are set\n", format_count(keys_in(a, all)));
  out.print("half full     with {} keys, then at an error rate of {}\n", format_count(s.capacity),
            rate_text(s.error_rate));
  out.print("error rate    {} now\n", rate_text(a.error_rate_now(all)));
  out.print("memory        {}\n", format_bytes(static_cast<double>(bytes_of(all))));
  if (funnel_kind::bytes != a.what().funnel) out.print("funnel        {}\n", to_string(a.what().funnel));
  print_strings(a, all, out);
  out.flush();
  warn_of_attached(a, all, may_be_missing::no);
}

void print_attached_json(const filter& f, const std::string& store, const std::vector<std::string>& warnings,
                         printer& out) {
  const attached_filter& a = *as_attached(f.stored());
  const std::vector<bitmap> all = a.survey();
  auto strings = nlohmann::ordered_json::array();
  for (const bitmap& b : all)
    strings.push_back({{"key", b.place.key},
                       {"bytes", b.bytes},
                       {"set_bits", b.set_bits},
                       {"fill", fill_of(a, b)},
                       {"server", b.server}});
  std::vector<std::string> words = a.missing(all);
  const std::vector<std::string> doubts = a.doubts(all);
  words.insert(words.end(), doubts.begin(), doubts.end());
  words.insert(words.end(), warnings.begin(), warnings.end());
  const nlohmann::ordered_json json = {{"name", f.name()},
                                       {"store", store},
                                       {"attached", json_of(properties_of(a.what()))},
                                       {"keys", keys_in(a, all)},
                                       {"half_full_with", f.get_spec().capacity},
                                       {"bytes", bytes_of(all)},
                                       {"error_rate_now", a.error_rate_now(all)},
                                       {"strings", strings},
                                       {"warnings", words}};
  out.print("{}\n", dumped(json));
}

void explain_attached(const attached_filter& a, std::string_view key, bool json, printer& out) {
  const foreign_bits found = *a.foreign_bits_of(key);
  if (json) {
    out.print("{}\n", dumped(json_of(found)));
    return;
  }
  // Each string of a growing filter is a filter of its own: bits of two strings together do not make a key
  // seen.
  const bool seen = std::ranges::any_of(found.strings, &foreign_bits::key_bits::hold);
  out.write(
      seen ? "seen: all its bits are set in one string; only keys that share them all could fake that.\n\n"
           : "fresh: at least one of its bits is not set, which adding it would have done.\n\n");
  out.print("attached   {}\n", to_string(a.what()));
  for (const auto& bits : found.strings) print_key_bits(bits, out);
}

}  // namespace everseen::cli
