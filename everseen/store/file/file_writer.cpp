#include <algorithm>
#include <chrono>
#include <functional>

#include "everseen/store/file/expiry_file.hpp"
#include "everseen/store/file/file_filter.hpp"
#include "everseen/store/journal/file_job.hpp"
#include "everseen/store/port/batch_results.hpp"
#include "everseen/store/port/claims.hpp"
#include "everseen/store/port/damage.hpp"

namespace everseen {

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
                         sync_policy policy, time_source now)
    : file_writer(on, filter_directory, open_files(on, filter_directory, std::move(exclusive)), policy,
                  std::move(now)) {}

file_writer::file_writer(disk& on, std::filesystem::path filter_directory, writer_files files,
                         sync_policy policy, time_source now)
    : writer_files(std::move(files)),
      embedded_filter(bits->get_spec(), *bits, bits->states(), std::move(now), read_expiry(filter_directory)),
      disk_(on),
      directory_(std::move(filter_directory)),
      policy_(policy) {
  const job_journal::circumstances there{bits->id(), get_spec().partitions, bits->was_closed_in_order(),
                                         disk_.boot()};
  for (std::string& name : bits->jobs()) {
    auto job =
        file_job::open(disk_, directory_, name, policy_, there, [this](auto keys) { add_again(keys); });
    keep_job(std::move(name), std::move(job));
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

/// Adds keys that a job recorded and a crashed writer did not add.
void file_writer::add_again(std::span<const job_journal::content::key> keys) {
  std::vector<std::vector<digest>> digests(get_spec().partitions);
  std::vector<std::vector<event_time>> times(get_spec().partitions);
  for (const auto& key : keys) {
    digests[key.partition].push_back(key.hashed);
    times[key.partition].push_back(key.when);
  }
  for (std::uint32_t p = 0; p < get_spec().partitions; ++p) {
    std::vector<verdict> ignored(digests[p].size());
    const partition_batch batch{p, digests[p], times[p], ignored};
    if (ignored.empty()) continue;
    if (const batch_result added = add(std::span(&batch, 1)); !added) added.error().raise();
  }
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

batch_result file_writer::claim(job_memory& job, const origin& from, std::span<const claim_batch> batches) {
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
