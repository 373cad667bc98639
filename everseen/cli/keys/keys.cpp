#include "everseen/cli/keys/keys.hpp"

#include <chrono>

#include <fmt/format.h>

#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/stream/record/record_ends.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10;

}  // namespace

key_source::key_source(const std::vector<std::string>& arguments, char separator)
    : arguments_(arguments), separator_(separator) {
  if (arguments.empty()) read_lines({});
}

key_source::key_source(const std::string& path, char separator) : separator_(separator) {
  read_lines({path});
}

void key_source::read_lines(std::vector<std::string> paths) {
  lines_.emplace(std::move(paths), separator_, block_bytes);
  lines_->while_waiting(stop_if_signalled);
}

std::optional<std::uint64_t> key_source::total_bytes() const noexcept {
  return lines_ ? lines_->total_bytes() : std::nullopt;
}

bool key_source::can_rewind() const noexcept {
  return !lines_ || lines_->can_rewind();
}

void key_source::rewind() {
  begun_ = false;
  if (lines_) lines_->rewind();
}

bool key_source::next(std::vector<std::string_view>& keys) {
  keys.clear();
  if (!lines_) {
    if (!begun_) keys.assign(arguments_.begin(), arguments_.end());
    begun_ = true;
    return !keys.empty();
  }
  stop_if_signalled();
  if (!lines_->next(block_)) return false;
  ends_.clear();
  find_record_ends(block_.text(), separator_, ends_);
  std::size_t from = 0;
  for (const std::uint32_t end : ends_) {
    keys.push_back(block_.text().substr(from, end - from));
    from = end + 1;
  }
  return true;
}

std::optional<event_time> key_options::time_for(const spec& s) const {
  if (!s.window) {
    if (time) throw parameter_error("--time means nothing to a filter without a window; leave it out");
    return std::nullopt;
  }
  if (time) return time;
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

void unfit_keys::note(const filter& by, std::span<const std::string_view> keys, const batch_result& judged) {
  const std::uint64_t before = given_;
  given_ += keys.size();
  if (judged) return;
  if (judged.error().why != batch_failure::cause::key) judged.error().raise();
  unfit_ += judged.error().done.unknown;
  for (std::size_t i = 0; i < keys.size() && !fault_; ++i)
    if (const auto refusal = by.refusal_of(keys[i]))
      fault_ = fmt::format("{} (key {} of those given)", *refusal, format_count(before + i + 1));
}

void unfit_keys::raise_if_any() const {
  if (!fault_) return;
  std::string message = *fault_ + ", which this filter's keys are";
  if (unfit_ > 1) message += fmt::format("; nor are {} more", format_count(unfit_ - 1));
  if (given_ > unfit_) message += fmt::format("; the other {} were judged", format_count(given_ - unfit_));
  throw parameter_error(message);
}

void add_key_options(option_set& known, key_options& target, const std::string& quiet) {
  add_argument(known, target.name, {"NAME", "the filter"});
  add_arguments(known, target.keys, {"KEY", "the keys; none: each line of standard input is one"});
  add_time(known, "--time", target.time, {"TIME", "time of the keys, for a filter with a window", "now"});
  add_switch(known, "-z,--zero", target.zero, "keys end with a NUL byte instead of a newline");
  add_switch(known, "-q,--quiet", target.quiet, quiet);
}

void print_verdicts(std::span<const std::string_view> keys, std::span<const verdict> verdicts, char separator,
                    printer& out) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (verdicts[i] == verdict::unknown) continue;
    out.write(to_string(verdicts[i]));
    out.write("\t");
    out.write(keys[i]);
    out.write({&separator, 1});
  }
}

}  // namespace everseen::cli
