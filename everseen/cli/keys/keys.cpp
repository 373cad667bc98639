#include "everseen/cli/keys/keys.hpp"

#include <chrono>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/bad_record.hpp"
#include "everseen/dedup/record/record_ends.hpp"
#include "everseen/text/numbers.hpp"

// Lines are read in blocks. Where a line is a key, the keys are views of the block; where a rule takes a part
// of the line, they are copied, since what a rule returns lasts only until its next line. A line without a
// key ends its block: the keys before it are returned, so that they get their verdicts, and the next call
// throws.

namespace everseen::cli {

namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10;

}  // namespace

key_source::key_source(const std::vector<std::string>& arguments, const record_options& options)
    : arguments_(arguments), options_(options) {
  if (arguments.empty())
    read_lines({});
  else if (!options.key.empty() || options.csv || options.header || options.delimiter ||
           options.no_decompress || options.drop_without_key)
    throw parameter_error(
        "--key, --csv, --header, --delimiter, --missing-key and --no-decompress are about lines of the "
        "input; leave them out, or the keys");
  std::string text;
  for (std::string& key : arguments_) key = std::string(options_.form.of(key, text));
}

key_source::key_source(const std::string& path, const record_options& options) : options_(options) {
  read_lines({path});
}

void key_source::read_lines(std::vector<std::string> paths) {
  must_have_effect(options_, false);
  if (options_.drop_without_key && options_.key.empty() && !options_.csv && !options_.header)
    throw parameter_error(
        "--missing-key is about lines without a key, and here the whole line is the key; give --key, too");
  lines_.emplace(std::move(paths), options_.format(), block_bytes);
  lines_->while_waiting(stop_if_signalled);
  watch_input(*lines_, options_);
  event_shape shape = shape_of(options_, options_.header ? lines_->header() : std::nullopt);
  shape.null_is_key = true;
  rule_.emplace(std::move(shape));
  if (rule_->whole_record_is_key()) rule_.reset();
}

std::optional<std::uint64_t> key_source::total_bytes() const noexcept {
  return lines_ ? lines_->total_bytes() : std::nullopt;
}

bool key_source::can_rewind() const noexcept {
  return !lines_ || lines_->can_rewind();
}

void key_source::rewind() {
  begun_ = false;
  lines_before_ = lines_of_block_ = dropped_ = 0;
  if (lines_) lines_->rewind();
}

bool key_source::next(std::vector<std::string_view>& keys) {
  keys.clear();
  if (!lines_) {
    if (!begun_) keys.assign(arguments_.begin(), arguments_.end());
    begun_ = true;
    return !keys.empty();
  }
  do {
    if (!fault_.empty()) refuse_line();
    stop_if_signalled();
    if (!lines_->next(block_)) return false;
    ends_.clear();
    find_record_ends(block_.text(), options_.format(), ends_);
    read_keys(keys);
  } while (keys.empty());
  return true;
}

void key_source::read_keys(std::vector<std::string_view>& keys) {
  kept_.clear();
  line_of_key_.clear();
  lines_before_ += std::exchange(lines_of_block_, ends_.size());
  std::size_t from = 0;
  for (std::size_t i = 0; i < ends_.size() && fault_.empty(); ++i) {
    const std::string_view line = block_.text().substr(from, ends_[i] - from);
    from = ends_[i] + std::size_t{1};
    if (!rule_) {
      keys.push_back(line);
    } else if (const auto read = rule_->read(line)) {
      kept_.keep(read->key);
      line_of_key_.push_back(static_cast<std::uint32_t>(i));
    } else {
      pass_over(line, lines_before_ + i, read.error());
    }
  }
  if (rule_) keys.assign(kept_.views().begin(), kept_.views().end());
}

void key_source::pass_over(std::string_view line, std::uint64_t number, record_fault why) {
  const auto place = [&] { return place_at(number) + ' ' + to_string(describe(*rule_, line, 0, why)); };
  if (!options_.drop_without_key.value_or(is_no_record(why)))
    fault_ = place() + "; --missing-key drop skips such lines";
  else if (dropped_++ == 0)
    first_dropped_ = place();
}

std::string key_source::place_of(std::size_t index) const {
  return place_at(rule_ ? lines_before_ + line_of_key_[index] : lines_before_ + index);
}

std::string key_source::place_at(std::uint64_t number) const {
  if (!lines_) return fmt::format("key {} of those given", number + 1);
  return record_place(options_.format(), lines_->name_of(0), number);
}

void key_source::note_dropped() const {
  if (dropped_ == 0) return;
  fmt::print(stderr, "everseen: {}\n",
             keyless_note({dropped_, lines_before_ + lines_of_block_, first_dropped_}, "key", "dropped"));
}

void key_source::refuse_line() const {
  throw format_error(fault_);
}

std::optional<event_time> key_options::time_for(const spec& s) const {
  if (!s.window) {
    if (time) throw parameter_error("--time is for a filter with a window; leave it out");
    return std::nullopt;
  }
  if (time) return time;
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

std::vector<event_time> key_options::times_for(const spec& s) const {
  const auto one = time_for(s);
  return one ? std::vector{*one} : std::vector<event_time>{};
}

void unfit_keys::note(const filter& judge, std::span<const std::string_view> keys, const batch_result& judged,
                      const place_of_key& place) {
  given_ += keys.size();
  if (judged) return;
  if (judged.error().why != batch_failure::cause::key) judged.error().raise();
  unfit_ += judged.error().done.unknown;
  for (std::size_t i = 0; i < keys.size() && !fault_; ++i)
    if (const auto refusal = judge.refusal_of(keys[i])) fault_ = fmt::format("{} ({})", *refusal, place(i));
  if (!fault_) fault_ = judged.error().message;
}

void unfit_keys::raise_if_any() const {
  if (!fault_) return;
  std::string message = *fault_ + ", which this filter's keys are";
  if (unfit_ > 1) message += fmt::format("; nor are {} more", format_count(unfit_ - 1));
  if (given_ > unfit_) message += fmt::format("; the other {} were judged", format_count(given_ - unfit_));
  throw parameter_error(message);
}

void declare_line_keys(option_set& known, record_options& into) {
  declare_key(known, into);
  declare_key_form(known, into);
  add_option(known, "--missing-key", {"fail|drop", "what to do with a line that has no key", "fail"},
             [&into](std::string_view option, std::string_view word) {
               if (word != "fail" && word != "drop") refuse_choice(option, word, "fail|drop");
               into.drop_without_key = word == "drop";
             });
}

void add_key_options(option_set& known, key_options& target, const std::string& quiet) {
  add_name(known, target.name, {"NAME", "the filter"});
  add_arguments(known, target.keys, {"KEY", "the keys; none: each line of standard input is one"});
  add_time(known, "--time", target.time,
           {"TIMESTAMP",
            "time of the keys, as in 2026-11-25T08:30:00Z or 1764059400, for a filter with a window", "now"});
  add_null(known, target.records.zero, "keys");
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
