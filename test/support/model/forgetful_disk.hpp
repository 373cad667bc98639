#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "everseen/store/disk/disk.hpp"

namespace everseen::test {

/// A disk that keeps only what was synced when the power fails.
///
/// It works on real files, but a sync only records: the content of a file, or the names in a directory.
/// after_power_loss() builds the directory as it would be afterwards. A single operation, or all from one
/// on, can be made to fail.
class forgetful_disk : public disk {
 public:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  /// Makes `count` operations from number `from` on fail with `code`, without effect.
  void fail(std::uint64_t from, std::uint64_t count = never, int code = EIO) {
    fail_from_ = from;
    fail_count_ = count;
    fail_code_ = code;
  }
  /// The power fails at operation number `number`.
  void cut_power(std::uint64_t number) { fail(number); }

  /// Ends the failures, for the next process after one that was killed: what was not synced is still there.
  void work_again() { fail_from_ = never; }

  [[nodiscard]] std::uint64_t operations() const noexcept { return operations_; }
  [[nodiscard]] bool has_failed() const noexcept { return operations_ > fail_from_; }

  int reserve(int file, std::uint64_t length, const std::filesystem::path& path) override {
    if (const int code = step()) return code;
    struct stat status {};
    ::fstat(file, &status);
    contents_.erase(status.st_ino);  // the number may have been another file's
    return disk::reserve(file, length, path);
  }
  int write(int file, std::uint64_t place, std::span<const std::byte> bytes,
            const std::filesystem::path& path) override {
    const int code = step();
    return code != 0 ? code : disk::write(file, place, bytes, path);
  }
  int sync_file(int /*file*/, const std::filesystem::path& path) override {
    const int code = step();
    return code != 0 ? code : note_content(path);
  }
  int sync_mapping(std::byte* /*at*/, std::size_t /*length*/, const std::filesystem::path& path) override {
    const int code = step();
    return code != 0 ? code : note_content(path);
  }
  int sync_directory(const std::filesystem::path& path) override {
    if (const int code = step()) return code;
    const std::scoped_lock alone(lock_);
    names_[inode(path)] = names_in(path);
    moved_.erase(inode(path));
    return 0;
  }
  int rename(const std::filesystem::path& from, const std::filesystem::path& target) override {
    const int code = step();
    if (code == 0) note_move(from, target);
    return code != 0 ? code : disk::rename(from, target);
  }
  int exchange(const std::filesystem::path& one, const std::filesystem::path& other) override {
    const int code = step();
    if (code == 0) note_move(one, other);
    return code != 0 ? code : disk::exchange(one, other);
  }
  int unlink(const std::filesystem::path& path) override {
    const int code = step();
    return code != 0 ? code : disk::unlink(path);
  }

  /// Builds what remains of `from` at `target`, an empty directory.
  /// @param luck  0: only what was synced remains. Else a seed: each unsynced name and sector remains or is
  ///         lost by chance, as the kernel may have written it earlier. A rename remains or is lost as one,
  ///         as file systems with a journal do it.
  void after_power_loss(const std::filesystem::path& from, const std::filesystem::path& target,
                        unsigned luck) {
    std::mt19937 chance(luck);
    rebuild(from, inode(from), target, luck == 0 ? nullptr : &chance);
  }

 private:
  using content = std::vector<char>;
  struct entry {
    ino_t inode;
    bool directory;
  };
  using names = std::map<std::string, entry>;
  static constexpr std::size_t sector_bytes = 512;

  /// 0, or the code with which this operation fails.
  int step() {
    const std::scoped_lock alone(lock_);
    const std::uint64_t number = operations_++;
    return number >= fail_from_ && number - fail_from_ < fail_count_ ? fail_code_ : 0;
  }

  static ino_t inode(const std::filesystem::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
  }
  static content content_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static names names_in(const std::filesystem::path& path) {
    names found;
    for (const auto& e : std::filesystem::directory_iterator(path))
      found[e.path().filename()] = {inode(e.path()), e.is_directory()};
    return found;
  }
  int note_content(const std::filesystem::path& path) {
    const std::scoped_lock alone(lock_);
    contents_[inode(path)] = content_of(path);
    return 0;
  }

  /// The two names of a rename, and those of earlier ones that have a name in common with it.
  void note_move(const std::filesystem::path& one, const std::filesystem::path& other) {
    const std::scoped_lock alone(lock_);
    if (one.parent_path() != other.parent_path()) return;
    std::vector<std::set<std::string>>& all = moved_[inode(one.parent_path())];
    std::set<std::string> together{one.filename(), other.filename()};
    std::erase_if(all, [&](const std::set<std::string>& earlier) {
      const bool is_shared =
          std::ranges::any_of(earlier, [&](const auto& name) { return together.contains(name); });
      if (is_shared) together.insert(earlier.begin(), earlier.end());
      return is_shared;
    });
    all.push_back(std::move(together));
  }

  /// @param present  the current path of this directory, if it still exists
  void rebuild(const std::filesystem::path& present, ino_t directory, const std::filesystem::path& copy,
               std::mt19937* chance) {
    for (const auto& [name, e] : surviving_names(present, directory, chance)) {
      const std::filesystem::path here =
          inode(present / name) == e.inode ? present / name : std::filesystem::path();
      if (e.directory) {
        std::filesystem::create_directory(copy / name);
        rebuild(here, e.inode, copy / name, chance);
      } else {
        const content left = surviving_content(here, e.inode, chance);
        std::ofstream(copy / name, std::ios::binary)
            .write(left.data(), static_cast<std::streamsize>(left.size()));
      }
    }
  }

  names surviving_names(const std::filesystem::path& present, ino_t directory, std::mt19937* chance) {
    names left = names_[directory];
    if (chance == nullptr || present.empty()) return left;
    const names current = names_in(present);
    std::set<std::string> all;
    for (const auto& [name, e] : left) all.insert(name);
    for (const auto& [name, e] : current) all.insert(name);
    std::map<std::string, bool> survives;
    for (const std::set<std::string>& together : moved_[directory]) {
      const bool all_of_them = (*chance)() % 2 != 0;
      for (const std::string& name : together) survives[name] = all_of_them;
    }
    for (const std::string& name : all) {
      const auto moved = survives.find(name);
      if (moved == survives.end() ? (*chance)() % 2 == 0 : !moved->second)
        continue;  // stays as it was synced
      const auto found = current.find(name);
      if (found == current.end())
        left.erase(name);
      else
        left[name] = found->second;
    }
    return left;
  }

  content surviving_content(const std::filesystem::path& here, ino_t file, std::mt19937* chance) {
    content left = contents_[file];
    if (chance == nullptr || here.empty()) return left;
    const content current = content_of(here);
    if ((*chance)() % 2 == 0) left.resize(current.size());  // the length survives on its own
    for (std::size_t offset = 0; offset < std::min(left.size(), current.size()); offset += sector_bytes) {
      if ((*chance)() % 2 == 0) continue;
      const std::size_t n = std::min({sector_bytes, left.size() - offset, current.size() - offset});
      std::copy_n(current.begin() + static_cast<std::ptrdiff_t>(offset), n,
                  left.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    return left;
  }

  std::mutex lock_;
  std::map<ino_t, content> contents_;                          // of files, as last synced
  std::map<ino_t, names> names_;                               // of directories, likewise
  std::map<ino_t, std::vector<std::set<std::string>>> moved_;  // of directories, since they were synced
  std::uint64_t operations_ = 0;
  std::uint64_t fail_from_ = never;
  std::uint64_t fail_count_ = never;
  int fail_code_ = EIO;
};

/// The disk of a restarted machine, for the result of after_power_loss().
class disk_after_boot final : public disk {
 public:
  boot_id boot() override { return {0xb0, 0x07}; }
};

}  // namespace everseen::test
