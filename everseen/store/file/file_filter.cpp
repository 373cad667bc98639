#include "everseen/store/file/file_filter.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/name_file.hpp"
#include "everseen/store/file/manifest_file.hpp"
#include "everseen/store/job_log/file_job.hpp"
#include "everseen/store/port/batch_results.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen {

namespace {

struct reader_files {
  read_manifest manifest;
  std::unique_ptr<file_segments> bits;
};

constexpr int max_attempts = 100;  // a manifest that changes faster than this is a broken writer

}  // namespace

class file_reader::view final : private reader_files, public embedded_filter {
 public:
  view(disk& on, const std::filesystem::path& directory, read_manifest m, const view* before)
      : view(reader_files{std::move(m), nullptr}, on, directory, before) {}

  [[nodiscard]] bool is_current() const noexcept { return manifest.is_current(); }
  [[nodiscard]] const image::filter_id& id() const noexcept { return bits->id(); }
  [[nodiscard]] const std::vector<std::string>& listed_jobs() const { return manifest.content().jobs; }
  [[nodiscard]] bool was_closed_in_order() const noexcept { return manifest.content().clean; }
  [[nodiscard]] std::uint64_t keys(const segment_id& id) const { return bits->keys(id); }
  void sync() override {}

 private:
  view(reader_files files, disk& on, const std::filesystem::path& directory, const view* before)
      : view(open(std::move(files), on, directory, before)) {}
  explicit view(reader_files files)
      : reader_files(std::move(files)), embedded_filter(bits->get_spec(), *bits, bits->states()) {}

  static reader_files open(reader_files files, disk& on, const std::filesystem::path& directory,
                           const view* before) {
    files.bits = std::make_unique<file_segments>(on, directory, files.manifest.content(), access::read,
                                                 before == nullptr ? nullptr : before->bits.get());
    return files;
  }
};

file_reader::file_reader(disk& on, std::filesystem::path filter_directory, time_source clock)
    : disk_(on),
      directory_(std::move(filter_directory)),
      clock_(std::move(clock)),
      view_(load(nullptr)),
      id_(view_->id()),
      spec_(view_->get_spec()) {
  static_cast<void>(read_expiry(directory_));  // reports damage here
}

file_reader::~file_reader() = default;

namespace {

/// A snapshot of a job's journal.
class ledger_to_read final : public ledger {
 public:
  ledger_to_read(job_log::content known, std::uint64_t bytes) : known_(std::move(known)), bytes_(bytes) {}

  batch_result claim(const lane_progress& /*from*/, std::span<const claim_batch> batches) override {
    forget_verdicts(batches);
    return claims_result(batches, batch_failure{batch_failure::cause::storage, refusal, {}});
  }
  bool settle(std::span<const checkpoint> /*reached*/) override { throw storage_error(refusal, 0, {}); }
  [[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints() const override {
    return known_.reached;
  }
  [[nodiscard]] const std::string& description() const noexcept override { return known_.begun.description; }
  [[nodiscard]] job_size size() const override { return {0, bytes_}; }
  void visit_counters(const counter_visitor& /*visit*/) const override {
    throw parameter_error("files keep no counters; count into a Redis store: --store redis://HOST:PORT");
  }

 private:
  static constexpr const char* refusal =
      "the filter was opened for reading; open it for writing to continue a job";
  job_log::content known_;
  std::uint64_t bytes_;
};

}  // namespace

std::unique_ptr<ledger> file_reader::open_ledger(std::string_view job,
                                                 std::optional<std::string_view> description) {
  const auto current = newest();
  if (!std::ranges::binary_search(current->listed_jobs(), job)) {
    if (!description) return nullptr;
    throw no_such_job(presumed_name(directory_), job);
  }
  std::error_code code;
  const std::filesystem::path path = job_path(directory_, job);
  const auto bytes = std::filesystem::file_size(path, code);
  check_disk(code.value(), "look at", path);
  return std::make_unique<ledger_to_read>(
      file_job::read(directory_, job,
                     {current->id(), get_spec().partitions, current->was_closed_in_order(), disk_.boot()}),
      bytes);
}

batch_result file_reader::add(std::span<const partition_batch> batches) {
  return unanswered(batches, batch_failure::cause::storage,
                    directory_.string() + " was opened for reading; open the filter for writing to add keys");
}

batch_result file_reader::check(std::span<const partition_batch> batches) const {
  try {
    // Read for each batch, as the writer may change the expiry time at any time.
    if (const auto end = read_expiry(directory_); end && *end <= clock_())
      return unanswered(batches, batch_failure::cause::storage, directory_.string() + " has expired");
    return newest()->check(batches);
  } catch (...) {
    batch_failure why = batch_failure::from_current_exception();
    return unanswered(batches, why.why, std::move(why.message));
  }
}

partition_state file_reader::state(std::uint32_t partition) const {
  const auto current = newest();
  partition_state state = current->state(partition);
  for (slice_state& slice : state.slices)
    for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer)
      slice.layers[layer].keys = current->keys({partition, slice.index, layer});
  return state;
}

void file_reader::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  const auto current = newest();
  current->visit_segments(partition,
                          [&](const segment_id& id, layer_state layer, std::span<const std::byte> bits) {
                            layer.keys = current->keys(id);
                            visit(id, layer, bits);
                          });
}

std::shared_ptr<const file_reader::view> file_reader::newest() const {
  const std::scoped_lock alone(lock_);
  if (!view_->is_current()) {
    auto next = load(view_.get());
    if (!image::are_same_but_for_resets(next->id(), id_))
      throw storage_error(
          directory_.string() + " was replaced by another filter of the same name; open it again", 0,
          directory_.string());
    id_ = next->id();
    view_ = std::move(next);
  }
  return view_;
}

std::shared_ptr<const file_reader::view> file_reader::load(const view* before) const {
  for (int attempt = 1;; ++attempt) {
    auto manifest = read_manifest::from(directory_);
    if (!manifest && before == nullptr) throw damaged(directory_ / manifest_name, "is missing");
    if (!manifest)
      throw storage_error(
          directory_.string() + " has no manifest any more: the filter was dropped or renamed", 0,
          directory_.string());
    const bool same = before != nullptr && manifest->content().filter == before->id();
    const image::manifest content = manifest->content();
    try {
      return std::make_shared<view>(disk_, directory_, std::move(*manifest), same ? before : nullptr);
    } catch (const format_error&) {
      // A writer may have dropped a slice since the manifest was read. If it did not, this is damage.
      const auto again = read_manifest::from(directory_);
      const bool replaced = !again || again->content() != content;
      if (!replaced || attempt == max_attempts) throw;
    }
  }
}

namespace {

writer_files open_files(disk& on, const std::filesystem::path& filter_directory, lock_file lock) {
  const auto manifest = read_manifest::from(filter_directory);
  if (!manifest) throw damaged(filter_directory / manifest_name, "is missing");
  auto bits = std::make_unique<file_segments>(on, filter_directory, manifest->content(), access::write);
  bits->begin_writing();
  return {std::move(lock), std::move(bits)};
}

}  // namespace

file_writer::file_writer(disk& on, const std::filesystem::path& filter_directory, lock_file exclusive,
                         sync_policy policy, time_source clock)
    : file_writer(on, filter_directory, open_files(on, filter_directory, std::move(exclusive)), policy,
                  std::move(clock)) {}

file_writer::file_writer(disk& on, std::filesystem::path filter_directory, writer_files files,
                         sync_policy policy, time_source clock)
    : writer_files(std::move(files)),
      embedded_filter(bits->get_spec(), *bits, bits->states(), std::move(clock),
                      read_expiry(filter_directory)),
      disk_(on),
      directory_(std::move(filter_directory)),
      policy_(policy) {
  const job_log::circumstances there{bits->id(), get_spec().partitions, bits->was_closed_in_order(),
                                     disk_.boot()};
  for (std::string& name : bits->jobs()) {
    auto job = file_job::open(disk_, directory_, name, policy_, there,
                              [this](auto keys) { return add_again(keys); });
    adopt_job(std::move(name), std::move(job));
  }
  if (policy_ == sync_policy::interval) syncer_ = std::thread([this] { sync_every_second(); });
}

file_writer::~file_writer() {
  if (syncer_.joinable()) {
    {
      const std::scoped_lock alone(closing_lock_);
      closing_ = true;
    }
    closing_changed_.notify_one();
    syncer_.join();
  }
  try {
    sync_jobs();
    bits->end_writing();
  } catch (...) {
    // The manifest still says that the filter is being written, so the next writer recovers it.
  }
}

batch_result file_writer::add(std::span<const partition_batch> batches) {
  try {
    bits->check_usable();
  } catch (const storage_error& e) {
    return unanswered(batches, batch_failure::cause::storage, e.what());
  }
  return synced(embedded_filter::add(batches));
}

batch_result file_writer::add_after(std::span<const partition_batch> batches,
                                    const std::function<bool()>& effect) {
  try {
    bits->check_usable();
  } catch (const storage_error& e) {
    return unanswered(batches, batch_failure::cause::storage, e.what());
  }
  return synced(embedded_filter::add_after(batches, effect));
}

/// Syncs by the policy before a result is returned, even if nothing was fresh: a key may be `seen` because
/// another thread added it and has not synced yet.
batch_result file_writer::synced(batch_result judged) {
  if (policy_ != sync_policy::always) return judged;
  try {
    bits->sync();
  } catch (...) {
    batch_failure why = batch_failure::from_current_exception();
    why.done = judged ? *judged : judged.error().done;
    return tl::unexpected(std::move(why));
  }
  return judged;
}

void file_writer::merge(const sibling_source& siblings) {
  bits->check_usable();
  embedded_filter::merge(siblings);
  if (policy_ == sync_policy::always) bits->sync();
}

/// Adds keys that a job recorded and a crashed writer did not add. A full filter can be opened nevertheless:
/// its key counts may be too high after a crash, and no later attempt would find more room.
bool file_writer::add_again(std::span<const job_log::content::key> keys) {
  std::vector<std::vector<digest>> digests(get_spec().partitions);
  std::vector<std::vector<event_time>> times(get_spec().partitions);
  for (const auto& key : keys) {
    digests[key.partition].push_back(key.hashed);
    times[key.partition].push_back(key.when);
  }
  bool has_room = true;
  for (std::uint32_t p = 0; p < get_spec().partitions; ++p) {
    std::vector<verdict> ignored(digests[p].size());
    const partition_batch batch{p, digests[p], times[p], ignored};
    if (ignored.empty()) continue;
    const batch_result added = add(std::span(&batch, 1));
    if (!added && added.error().why != batch_failure::cause::full) added.error().raise();
    has_room = has_room && added;
  }
  return has_room;
}

std::shared_ptr<job_memory> file_writer::make_job(std::string_view name, std::string_view description) {
  auto made = file_job::create(disk_, directory_, bits->id(), name, description, policy_);
  bits->name_job(name);
  return made;
}

void file_writer::forget_job(std::string_view name) {
  bits->forget_job(name);
}

/// Journals first: keys in a synced journal can be added again if their bits are lost.
void file_writer::sync() {
  sync_jobs();
  bits->sync();
}

void file_writer::keep_expiry(std::optional<event_time> when) {
  write_expiry(disk_, directory_, when);
  check_disk(disk_.sync_directory(directory_), "sync", directory_);
}

batch_result file_writer::claim(job_memory& job, const lane_progress& from,
                                std::span<const claim_batch> batches) {
  try {
    bits->check_usable();
  } catch (const storage_error&) {
    return claims_result(batches, batch_failure::from_current_exception());
  }
  return synced(embedded_filter::claim(job, from, batches));
}

void file_writer::sync_every_second() {
  std::unique_lock waiting(closing_lock_);
  while (!closing_changed_.wait_for(waiting, std::chrono::seconds(1), [this] { return closing_; })) {
    waiting.unlock();
    // The segments or the job remember a failed disk, and the next batch reports it. If memory ran out, the
    // list is unchanged, and the sync is retried a second later.
    for (const auto& step : {std::function([this] { sync_jobs(); }), std::function([this] { bits->sync(); })})
      try {
        step();
      } catch (...) {
      }
    waiting.lock();
  }
}

}  // namespace everseen
