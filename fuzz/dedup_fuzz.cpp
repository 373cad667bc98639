// Any bytes as input, with options taken from the first of them. The output, the counts and the error must
// equal those of a naive loop with exact sets.

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/dedup.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/support/model/memory_file.hpp"
#include "test/support/model/naive_dedup.hpp"

namespace {

using everseen::dedup_options;
using everseen::field_rule;
using everseen::verdict;

void require(bool truth) {
  if (!truth) std::abort();
}

/// Small numbers from the front of the input.
class choices {
 public:
  explicit choices(std::string_view& input) : input_(input) {}
  unsigned below(unsigned n) {
    if (input_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(input_.front());
    input_.remove_prefix(1);
    return byte % n;
  }

 private:
  std::string_view& input_;
};

dedup_options choose_options(choices& choose, bool window) {
  dedup_options options;
  options.format.decompress = false;  // the naive loop does not
  options.format.separator = "\n\0a"[choose.below(3)];
  switch (choose.below(3)) {
    case 1:
      options.key = {{field_rule::kind::delimited, 1 + choose.below(3), "\t," [choose.below(2)], {}}};
      break;
    case 2:
      options.key = {{field_rule::kind::json, 0, '\t', "/a"}};
      break;
    default:
      break;
  }
  if (window) options.clock = [] { return everseen::test::at_ms(1'000'000); };
  if (window && choose.below(2) == 1) {  // the fields of a record are of one kind
    options.time =
        options.key.empty() ? field_rule{field_rule::kind::delimited, 2, ',', {}} : options.key.front();
    options.time->number = 2;
    if (options.time->form == field_rule::kind::json) options.time->pointer = "/t";
  }
  options.without_key = static_cast<dedup_options::fate>(choose.below(3));
  options.wanted = static_cast<verdict>(choose.below(3));
  options.threads = 1 + choose.below(3);
  return options;
}

everseen::spec choose_spec(choices& choose, bool window) {
  constexpr std::uint32_t partitions[] = {1, 7, 64};
  std::optional<everseen::window_spec> w;
  if (window) w = everseen::window_spec{std::chrono::milliseconds(3000), 1 + 2 * choose.below(2)};
  return everseen::test::errorless(1 + choose.below(40), everseen::growth_kind::grow, w,
                                   partitions[choose.below(3)]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  choices choose(input);
  const bool window = choose.below(2) == 1;
  const everseen::spec s = choose_spec(choose, window);
  const dedup_options options = choose_options(choose, window);
  constexpr std::size_t block_sizes[] = {1, 5, 100, 4096};
  const std::size_t block_bytes = block_sizes[choose.below(4)];

  const everseen::test::naive_dedup naive(s, options, std::string(input));
  const everseen::test::memory_file in(input);
  const everseen::test::memory_file written;
  everseen::filter f("f", everseen::memory_store().create("f", s));
  everseen::block_reader reader({in.path()}, options.format, block_bytes);
  everseen::output out(written.descriptor(), "memory");
  try {
    const everseen::dedup_result result = everseen::deduplicate(reader, f, out, options);
    require(!naive.unreadable && !result.failure);
    require(result.verdicts == naive.verdicts);
    require(result.records == naive.records);
    require(result.without_key + result.malformed == naive.without_key);
  } catch (const everseen::format_error&) {
    require(naive.unreadable.has_value());
  }
  require(written.text() == naive.output);
  return 0;
}
