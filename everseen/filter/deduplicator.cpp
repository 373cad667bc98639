#include "everseen/filter/deduplicator.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "everseen/filter/filter.hpp"
#include "everseen/filter/room.hpp"
#include "everseen/filter/scatter.hpp"

namespace everseen {

namespace {

/// Version of the token format; changes with it.
constexpr std::string_view token_kind = "everseen-1";

parameter_error bad_token(std::string_view source, const std::string& why) {
  return parameter_error("the token kept for '" + std::string(source) + "' " + why +
                         "; give the token that this job stored for this source");
}

/// Removes the first word and returns it.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

}  // namespace

deduplicator::deduplicator(filter f, std::string job, std::string_view description)
    : filter_(std::move(f)),
      job_(std::move(job)),
      ledger_(filter_.stored().open_ledger(job_, description)),
      scatter_(std::make_unique<claim_scatter>()) {}

deduplicator::deduplicator(deduplicator&&) noexcept = default;
deduplicator& deduplicator::operator=(deduplicator&&) noexcept = default;
deduplicator::~deduplicator() = default;

std::string deduplicator::token(std::string_view source) const {
  const std::string position = std::to_string(at(source).next);
  return std::string(token_kind) + ' ' + filter_.name() + ' ' + job_ + ' ' + position + ' ' +
         std::string(source);
}

std::uint64_t deduplicator::begin(std::string_view source, std::string_view token) {
  progress p;
  if (token.empty()) {
    const auto reached = ledger_->checkpoints();
    const auto found = reached.find(source);
    if (found != reached.end()) p.next = found->second.position;
  } else {
    std::string_view rest = token;
    if (take_word(rest) != token_kind) throw bad_token(source, "was not made by this version of everseen");
    if (take_word(rest) != filter_.name()) throw bad_token(source, "is of another filter");
    if (take_word(rest) != job_) throw bad_token(source, "is of another job");
    const std::string_view number = take_word(rest);
    const auto read = std::from_chars(number.data(), number.data() + number.size(), p.next);
    if (read.ec != std::errc{} || read.ptr != number.data() + number.size())
      throw bad_token(source, "has no position");
    if (rest != source) throw bad_token(source, "is of another source");
  }
  p.settled = p.next;
  sources_.insert_or_assign(std::string(source), p);
  return p.next;
}

const deduplicator::progress& deduplicator::at(std::string_view source) const {
  const auto found = sources_.find(source);
  if (found == sources_.end())
    throw parameter_error("the source '" + std::string(source) +
                          "' was not begun; call begin() with its token first");
  return found->second;
}

void deduplicator::require_sense(const progress& p, const events& some, std::size_t verdicts) const {
  const std::size_t n = some.keys.size();
  if (verdicts != n) throw parameter_error("give one verdict per event");
  if (some.positions.size() != n) throw parameter_error("give one position per event");
  std::uint64_t least = p.settled;
  for (const std::uint64_t position : some.positions) {
    if (position < least || position == ~std::uint64_t{0})
      throw parameter_error("positions must ascend within a source, from where it was begun: " +
                            std::to_string(position) + " comes after " + std::to_string(least));
    least = position + 1;
  }
  const bool windowed = filter_.get_spec().window.has_value();
  if (windowed && some.times.size() != 1 && some.times.size() != n)
    throw parameter_error("the filter has a window; give one time for all events, or one per event");
  filter_.must_accept(some.times);
  if (some.counts.of_event.size() != n * some.counts.per_event)
    throw parameter_error("give each event as many counters as the others");
}

batch_result deduplicator::claim(std::string_view source, const events& some, std::span<verdict> out) {
  require_sense(at(source), some, out.size());
  if (some.keys.empty()) return tally{};
  progress& p = sources_.find(source)->second;
  digests_.resize(some.keys.size());
  before_.resize(some.keys.size());
  filter_.hash()(some.keys, digests_);
  const auto batches =
      scatter_->sort({digests_, some.positions, some.times, some.counts}, filter_.get_spec().partitions);
  batch_result result = ledger_->claim({source, p.settled}, batches);
  scatter_->gather(out, before_);
  if (result)
    p.next = std::max(p.next, some.positions.back() + 1);
  else
    name_remedy(result.error(), filter_, adder::job);
  return result;
}

std::uint64_t deduplicator::settle(std::string_view source) {
  (void)at(source);
  progress& p = sources_.find(source)->second;
  const checkpoint reached{std::string(source), p.next};
  ledger_->settle(std::span(&reached, 1));
  p.settled = p.next;
  return p.next;
}

}  // namespace everseen
