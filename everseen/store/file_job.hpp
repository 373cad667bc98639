#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/descriptor.hpp"
#include "everseen/store/disk.hpp"
#include "everseen/store/job_journal.hpp"
#include "everseen/store/job_memory.hpp"
#include "everseen/store/store.hpp"

namespace everseen {

/// The directory of a filter's jobs in its own: one file a job, doc/format.md, "Journal of a job".
inline constexpr const char* jobs_name = "jobs";

/// A job of a filter in files: its memory, and the journal that it is made from again.
///
/// A step is appended before its keys are added, by one write(2): when the process dies, the journal has it
/// or not, and the keys are added again from there. A record that was cut off ends the journal. When what is
/// outdated outweighs the rest, the journal is written anew, in one step.
class file_job final : public job_memory {
 public:
  /// Makes a new journal.    @throws storage_error
  static std::shared_ptr<file_job> create(disk& on, const std::filesystem::path& filter_directory,
                                          std::string_view name, std::string_view description,
                                          sync_policy policy);

  /// Reads a journal that is there.
  /// @param add  is given the keys of which some may not have been added, before the journal forgets them
  /// @throws format_error, storage_error
  using add_keys = std::function<void(std::span<const job_journal::content::key>)>;
  static std::shared_ptr<file_job> open(disk& on, const std::filesystem::path& filter_directory,
                                        std::string_view name, sync_policy policy, std::uint32_t partitions,
                                        const add_keys& add);

  void note_step(const step& s) override;
  void note_checkpoints(std::span<const checkpoint> marks) override;
  void note_end() override;
  [[nodiscard]] std::optional<std::uint64_t> stored_bytes() const override { return bytes_; }

  /// What a journal says, for a reader beside its writer.    @throws format_error, storage_error
  [[nodiscard]] static job_journal::content read(const std::filesystem::path& filter_directory,
                                                 std::string_view name, std::uint32_t partitions);

 private:
  file_job(disk& on, std::filesystem::path path, std::string what, sync_policy policy);

  void append(const std::string& body, char kind);
  void write_anew();
  [[nodiscard]] std::string whole() const;

  disk& disk_;
  const std::filesystem::path path_;
  const sync_policy policy_;
  descriptor file_{};
  std::size_t bytes_ = 0;       // of the journal
  std::size_t compact_at_ = 0;  // bytes at which it is written anew
  std::string failure_{};       // why nothing can be written any more
};

/// The names of the jobs of a filter in files, ascending.    @throws storage_error
[[nodiscard]] std::vector<std::string> jobs_in(const std::filesystem::path& filter_directory);

}  // namespace everseen
