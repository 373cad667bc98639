#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/dedup.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/support/model/memory_file.hpp"
#include "test/support/model/naive_dedup.hpp"
#include "test/support/random_digests.hpp"

namespace everseen {
namespace {

using order = dedup_options::adding_order;
using fate = dedup_options::fate;

/// Records such as "17<tab>1234<tab>xxx", some of them without their second field.
std::string random_text(char separator, std::int64_t width_ms) {
  test::random_digests random(*rc::gen::arbitrary<std::uint64_t>());
  const auto records = *rc::gen::element<std::size_t>(0, 1, 10, 300, 3000);
  const auto universe = *rc::gen::element<std::size_t>(1, 10, 1000);
  const bool damaged = *rc::gen::arbitrary<bool>();
  std::string text;
  std::int64_t time = 0;
  for (std::size_t i = 0; i < records; ++i) {
    text += random.word() % 40 == 0 ? "" : std::to_string(random.word() % universe);
    if (!damaged || random.word() % 30 != 0) {
      time += static_cast<std::int64_t>(random.word() % 40);
      const auto back = static_cast<std::int64_t>(random.word() % static_cast<std::uint64_t>(2 * width_ms));
      const std::int64_t when = random.word() % 5 == 0 ? time - back : time;
      text += '\t' + std::to_string(1'000'000'000'000 + when);
      if (random.word() % 4 == 0) text += '\t' + std::string(random.word() % 90, 'x');
    }
    text += separator;
  }
  if (!text.empty() && *rc::gen::arbitrary<bool>()) text.pop_back();
  return text;
}

/// Random options, including those that the spec requires.
dedup_options random_options(bool window) {
  dedup_options options;
  options.format.separator = *rc::gen::element('\n', '\0');
  if (*rc::gen::arbitrary<bool>())
    options.key = {{field_rule::kind::delimited, *rc::gen::inRange(1U, 4U), '\t', {}}};
  if (window && *rc::gen::arbitrary<bool>())
    options.time = field_rule{field_rule::kind::delimited, 2, '\t', {}};
  if (window)
    options.clock = [now = test::at_ms(*rc::gen::inRange<std::int64_t>(-10'000, 10'000))] { return now; };
  options.without_key = *rc::gen::element(fate::fail, fate::pass, fate::drop);
  options.wanted = *rc::gen::element(verdict::fresh, verdict::seen, verdict::late);
  options.late = *rc::gen::element(fate::pass, fate::drop);
  options.adding_keys = *rc::gen::element(order::ahead, order::before_block, order::after_block);
  return options;
}

void expect_agreement_with_naive_loop(const spec& s, dedup_options options, const std::string& text) {
  const test::naive_dedup naive(s, options, text);
  const auto block_bytes = *rc::gen::element<std::size_t>(1, 7, 100, 4096, 1 << 20);
  for (options.threads = 1; options.threads <= 4; ++options.threads) {
    const test::memory_file in(text);
    const test::memory_file written;
    block_reader input({in.path()}, options.format, block_bytes);
    filter f("f", memory_store().create("f", s));
    output out(written.descriptor(), "memory");
    try {
      const dedup_result result = deduplicate(input, f, out, options);
      RC_ASSERT(!naive.unreadable);
      RC_ASSERT(!result.failure);
      RC_ASSERT(result.verdicts == naive.verdicts);
      RC_ASSERT(result.records == naive.records);
      RC_ASSERT(result.without_key + result.malformed == naive.without_key);
      RC_ASSERT(result.bytes == text.size() + (!text.empty() && text.back() != options.format.separator));
    } catch (const format_error& e) {
      RC_ASSERT(naive.unreadable);
      RC_ASSERT(std::string(e.what()).starts_with("line " + std::to_string(*naive.unreadable) + " of "));
    }
    RC_ASSERT(written.text() == naive.output);
    RC_ASSERT(f.info().keys == naive.added.size() || s.window);
  }
}

// Promise: the output is the same byte for byte with any number of threads and any block size, and whether
// keys are added before or after their records are written (dedup, The output).
RC_GTEST_PROP(DedupProperty, WritesTheSameAsANaiveLoop, ()) {
  const auto partitions = *rc::gen::element(1U, 7U, 64U);
  const dedup_options options = random_options(false);
  expect_agreement_with_naive_loop(
      test::errorless(*rc::gen::element(1U, 50U, 5000U), growth_kind::grow, {}, partitions), options,
      random_text(options.format.separator, 1));
}

// Promise: the output is the same byte for byte with any number of threads and any block size (dedup, The
// output).
RC_GTEST_PROP(DedupProperty, WritesTheSameAsANaiveLoopInAWindow, ()) {
  const auto partitions = *rc::gen::element(1U, 7U, 64U);
  const dedup_options options = random_options(true);
  const window_spec w{std::chrono::milliseconds(1200), *rc::gen::element(1U, 3U, 12U)};
  expect_agreement_with_naive_loop(
      test::errorless(*rc::gen::element(1U, 50U, 5000U), growth_kind::grow, w, partitions), options,
      random_text(options.format.separator, 1200));
}

}  // namespace
}  // namespace everseen
