#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "everseen/cli/keys/keys.hpp"
#include "everseen/cli/terminal/files.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/format/stream_image.hpp"
#include "everseen/core/layout/set_bits.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

/// The keys of a command, of which some are counted before the first is used.
///
/// A file is read twice. The input from a pipe is kept in a temporary file without a name, since it may be
/// larger than memory.
class key_preview {
 public:
  /// @param arguments  as for key_source    @param separator  of lines, each of which is a key
  key_preview(const std::vector<std::string>& arguments, char separator);

  /// Reads until there are `enough` keys, or no more.    @pre called at most once, before next()
  /// @return the count; if it is less than `enough`, it is the count of all keys
  /// @throws storage_error  also without a temporary file
  [[nodiscard]] std::uint64_t count(std::uint64_t enough);

  /// As key_source::next, from the first key on.
  [[nodiscard]] bool next(std::vector<std::string_view>& keys);
  /// As key_source::place_of.
  [[nodiscard]] std::string place_of(std::size_t index) const { return source_.place_at(before_ + index); }

 private:
  [[nodiscard]] bool next_of_both(std::vector<std::string_view>& keys);
  [[nodiscard]] std::uint64_t keep(std::uint64_t enough);

  key_source source_;
  char separator_;
  bool ended_ = false;
  std::uint64_t before_ = 0;  // keys before those that next() returned last
  std::uint64_t last_ = 0;    // how many these are
  descriptor kept_{};
  std::optional<key_source> again_{};  // what is kept
};

descriptor temporary_file() {
  std::error_code none;
  std::filesystem::path directory = std::filesystem::temp_directory_path(none);
  if (none) directory = "/tmp";
  std::string path = directory / "everseen.XXXXXX";
  descriptor made(::mkostemp(path.data(), O_CLOEXEC));
  if (!made) throw disk_error("create", path, errno);
  check_disk(::unlink(path.c_str()) == 0 ? 0 : errno, "remove", path);
  return made;
}

key_preview::key_preview(const std::vector<std::string>& arguments, char separator)
    : source_(arguments, {.zero = separator == '\0'}), separator_(separator) {}

std::uint64_t key_preview::count(std::uint64_t enough) {
  if (enough == 0) return 0;
  if (!source_.can_rewind()) return keep(enough);
  std::uint64_t counted = 0;
  std::vector<std::string_view> keys;
  while (counted < enough && source_.next(keys)) counted += keys.size();
  source_.rewind();
  return counted;
}

std::uint64_t key_preview::keep(std::uint64_t enough) {
  kept_ = temporary_file();
  printer copy(kept_.get(), "a temporary file");
  std::uint64_t counted = 0;
  std::vector<std::string_view> keys;
  while (counted < enough && !ended_) {
    ended_ = !source_.next(keys);
    counted += keys.size();
    for (const std::string_view key : keys) {
      copy.write(key);
      copy.write({&separator_, 1});
    }
  }
  copy.flush();
  again_.emplace("/proc/self/fd/" + std::to_string(kept_.get()), record_options{.zero = separator_ == '\0'});
  return counted;
}

bool key_preview::next(std::vector<std::string_view>& keys) {
  before_ += std::exchange(last_, 0);
  const bool any = next_of_both(keys);
  last_ = any ? keys.size() : 0;
  return any;
}

bool key_preview::next_of_both(std::vector<std::string_view>& keys) {
  if (again_ && again_->next(keys)) return true;
  again_.reset();
  // At a terminal, a call after the end would read more input.
  return !ended_ && source_.next(keys);
}

struct rebuild_arguments {
  key_options keys;
  std::optional<std::string> from_export;
  std::optional<std::uint64_t> capacity;
  std::optional<double> error_rate;
  bool empty = false;
  bool yes = false;
  store_choice store;
};

/// The filter's spec, except for the given options.
spec next_spec(const rebuild_arguments& o, const store& place, const spec& current) {
  if (!o.capacity && !o.error_rate) return current;
  spec_request r;
  r.capacity = o.capacity.value_or(current.capacity);
  r.error_rate = o.error_rate.value_or(current.error_rate);
  r.layout = current.layout;
  r.hash = current.hash;
  r.seed = current.seed;
  r.growth = current.growth;
  r.window = current.window;
  r.funnel = current.foreign.funnel;
  r.expansion = current.foreign.expansion;
  r.powers_of_two = current.foreign.powers_of_two;
  r.judge = current.judge;
  return place.plan(r);
}

/// An export is read twice: once for its contents and to verify it, once for its bits.
class copy {
 public:
  explicit copy(std::string path) : path_(std::move(path)) {
    if (path_ == "-") throw parameter_error("--from-export reads its file twice; give a file, not a pipe");
    read([&](image::stream_reader& in) {
      spec_ = in.get_spec();
      states_.resize(spec_->partitions);
      while (const auto header = in.next()) {
        restore_layer(states_.at(header->id.partition), header->id,
                      {header->shape, header->capacity, header->keys});
        keys_ += header->keys;
        in.read_bits([](auto) {});
      }
    });
  }

  [[nodiscard]] const spec& get_spec() const { return *spec_; }
  [[nodiscard]] const std::vector<partition_state>& states() const noexcept { return states_; }
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }

  void pour_into(store::rebuild& target) const {
    read([&](image::stream_reader& in) {
      std::vector<std::byte> bits;
      while (const auto header = in.next()) {
        bits.clear();
        in.read_bits(
            [&](std::span<const std::byte> more) { bits.insert(bits.end(), more.begin(), more.end()); });
        target.merge(header->id, bits);
      }
    });
  }

 private:
  template <typename Work>
  void read(Work work) const {
    const input_file from(path_);
    parse_file(from, [&] {
      image::stream_reader in([&from](std::span<std::byte> into) { return from.read(into); });
      work(in);
    });
  }

  std::string path_;
  std::optional<spec> spec_;
  std::vector<partition_state> states_;
  std::uint64_t keys_ = 0;
};

/// Judges whether the given keys are plausibly all that the filter should hold. A failed pipeline or a wrong
/// file gives none or few, and a rebuild from these would forget the others.
class comparison {
 public:
  comparison(const rebuild_arguments& o, store& place)
      : o_(o), had_(o.empty && o.yes ? std::nullopt : keys_in(place)) {}

  /// With this many keys, no confirmation is needed.
  [[nodiscard]] std::uint64_t enough() const {
    const std::uint64_t half = o_.yes ? 0 : had_.value_or(0) - had_.value_or(0) / 2;
    return o_.empty ? half : std::max<std::uint64_t>(half, 1);
  }

  /// @return false: the user declined    @throws parameter_error  there is no user to ask
  [[nodiscard]] bool allows(std::uint64_t given) const {
    if (given == 0 && o_.empty) return true;
    if (given == 0)
      throw parameter_error(fmt::format(
          "no keys are given{}; nothing has changed. Give --empty if it should be empty",
          had_ ? fmt::format(", and {} has {}", quoted_name(o_.keys.name), format_count(*had_)) : ""));
    if (given >= enough()) return true;
    const std::string both = fmt::format("{} has {} keys, and {} {} given", quoted_name(o_.keys.name),
                                         format_count(*had_), format_count(given), given == 1 ? "is" : "are");
    if (::isatty(STDIN_FILENO) != 0) return confirmed(both + ". Rebuild it with these?");
    throw parameter_error(both + "; nothing has changed. Give --yes if it should forget the others");
  }

 private:
  /// Nothing if they cannot be counted: a rebuild may repair a damaged filter.
  [[nodiscard]] std::optional<std::uint64_t> keys_in(store& place) const {
    try {
      const filter_info info = filter(o_.keys.name, place.open(o_.keys.name, access::read)).info();
      return info.keys >= countless_keys ? info.spec.capacity : info.keys;
    } catch (const format_error&) {
      return std::nullopt;
    }
  }

  const rebuild_arguments& o_;
  const std::optional<std::uint64_t> had_;
};

std::uint64_t fill(filter target, key_preview& source, const rebuild_arguments& o) {
  std::vector<std::string_view> keys;
  std::vector<verdict> verdicts;
  unfit_keys unfit;
  std::uint64_t given = 0;
  while (source.next(keys)) {
    verdicts.resize(keys.size());
    const batch_result done = target.add(keys, verdicts, o.keys.times_for(target.get_spec()));
    unfit.note(target, keys, done, [&](std::size_t i) { return source.place_of(i); });
    if (unfit.fault())
      throw parameter_error(*unfit.fault() + "; the rebuild is abandoned, and the filter keeps all its keys");
    given += keys.size();
  }
  return given;
}

/// An argument that names a file is most likely meant as its lines. As a key, it would replace all others.
void require_keys_not_files(const rebuild_arguments& o) {
  if (o.yes) return;
  std::error_code unreadable;
  for (const std::string& key : o.keys.keys)
    if (std::filesystem::is_regular_file(key, unreadable))
      throw parameter_error(fmt::format(
          "{} would be a key, and it is the name of a file; nothing has changed. Give the keys in it "
          "as < {}, or --yes if it is meant as a key",
          quoted_name(key), name_argument(key)));
}

exit_code run_rebuild(const rebuild_arguments& o, printer& out) {
  note_signals();
  require_keys_not_files(o);
  const auto place = chosen_store(o.store);
  if (o.from_export && (o.capacity || o.error_rate))
    throw parameter_error(
        "a copy has its own capacity and error rate; leave out --capacity and --error-rate");
  const spec current = with_known_filter(*place, o.keys.name,
                                         [&] { return place->open(o.keys.name, access::read)->get_spec(); });
  const std::unique_ptr<copy> base = o.from_export ? std::make_unique<copy>(*o.from_export) : nullptr;
  const spec next = base ? base->get_spec() : next_spec(o, *place, current);
  // With a base, though it is empty, the filter stays as it is until target() or commit().
  const auto rebuild = place->begin_rebuild(
      o.keys.name, next, base ? base->states() : std::vector<partition_state>(next.partitions));
  const comparison with_before(o, *place);
  std::optional<key_preview> keys;
  if (!base || !o.keys.keys.empty()) keys.emplace(o.keys.keys, o.keys.separator());
  std::uint64_t given = base ? base->keys() : 0;
  const std::uint64_t missing = with_before.enough() - std::min(given, with_before.enough());
  if (!with_before.allows(given + (keys ? keys->count(missing) : 0))) return exit_code::negative;
  if (base) base->pour_into(*rebuild);
  if (keys) given += fill({o.keys.name, rebuild->target()}, *keys, o);
  rebuild->commit();
  if (!o.keys.quiet)
    out.print("rebuilt {}: {} {} given, {} keys at an error rate of {}\n", shown_name(o.keys.name),
              format_count(given), given == 1 ? "key" : "keys", format_count(next.capacity),
              format_rate(next.error_rate));
  return exit_code::done;
}

action declare_rebuild(option_set& known) {
  auto o = std::make_shared<rebuild_arguments>();
  add_key_options(known, o->keys, "do not print what was created");
  add_text(known, "--from-export", o->from_export,
           {"FILE", "begin with this copy, made by everseen export, instead of keys from standard input"});
  add_count(known, "--capacity", o->capacity, {1, max_capacity},
            {"COUNT", "how many different keys you expect", "as it is"});
  add_rate(known, "--error-rate", o->error_rate, {sizing::min_error_rate, sizing::max_error_rate},
           {"RATE", "share of new keys that may be called seen", "as it is"});
  add_switch(known, "--empty", o->empty, "allow input without keys; the filter is then empty");
  add_switch(known, "-y,--yes", o->yes, "allow fewer than half of the keys that the filter has");
  add_store_options(known, o->store, access::write);
  return [o](printer& out) { return run_rebuild(*o, out); };
}

}  // namespace

verb rebuild_verb() {
  constexpr std::string_view scene = "everseen create clicks; seq 1000 > ids.txt";
  return {
      "rebuild",
      "Refill a filter while it is in use",
      "Creates a new filter beside the existing one, fills it with the given keys, and puts it in its place. "
      "Other clients continue undisturbed. Afterwards the filter has the given keys and those that any "
      "client added since the rebuild began, and no others. Its capacity and error rate may change; its "
      "window and hash stay the same.\n\nKeys that were added earlier and are not given are forgotten. To "
      "keep all, give every key that was added until the rebuild began.\n\nTo protect a filter from empty or "
      "truncated input, a rebuild without keys is refused unless --empty is given. If the input has fewer "
      "than half of the filter's keys (counting repeats), the program asks at a terminal, and otherwise "
      "refuses unless --yes is given; the filter then stays as it was. So does one whose given key is the "
      "name of "
      "a file, as its lines may be meant: give them as < FILE. The rebuild therefore begins when "
      "half as many keys have been read; keys from a pipe are saved to a temporary file in $TMPDIR until "
      "then. With --yes and --empty it begins immediately.\n\nOn servers, the new filter takes the old one's "
      "place immediately and asks it first until it is filled: given keys are seen from then on. An "
      "interrupted rebuild leaves a filter that has the keys of both, as everseen info shows, until the "
      "rebuild is started again. With --from-export all this begins once the copy is on the server. A filter "
      "in files stays as it was if the rebuild is interrupted; meanwhile no process can add keys to it, and "
      "readers must reopen it. A link to an older filter stays.",
      {{"Hold only these keys", "everseen rebuild clicks < ids.txt", scene},
       {"Make room for ten times as many", "everseen rebuild clicks --capacity 10M < ids.txt", scene}},
      declare_rebuild};
}

}  // namespace everseen::cli
