#include "everseen/store/file/segment_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/store/disk/disk.hpp"
#include "everseen/store/port/damage.hpp"
#include "everseen/store/port/recovered_keys.hpp"

namespace everseen {

namespace {

image::segment_header decode_header(const mapped_file& file) {
  std::array<std::byte, image::segment_header_bytes> header;
  std::memcpy(header.data(), file.bytes().data(), header.size());
  return at_path(file.path(), [&] { return image::decode_segment_header(header); });
}

void check_is_named(const mapped_file& file, const image::segment_header& found,
                    const image::filter_id& filter, const image::manifest::entry& entry) {
  if (found.filter != filter) throw damaged(file.path(), "belongs to another filter");
  if (found.id != entry.id)
    throw damaged(file.path(), "is segment " + image::to_string(found.id) + " under this name");
  if (found.shape != entry.shape || found.capacity != entry.capacity)
    throw damaged(file.path(), "has another shape than the manifest says");
}

}  // namespace

std::shared_ptr<segment_file> segment_file::create(disk& on, const std::filesystem::path& directory,
                                                   const image::segment_header& header) {
  const auto head = image::encode_segment_header(header);
  return std::make_shared<segment_file>(
      mapped_file::create(on, directory / image::to_string(header.id), head, page_bytes + header.shape.bytes),
      header);
}

std::shared_ptr<segment_file> segment_file::open(disk& on, const std::filesystem::path& directory,
                                                 const image::filter_id& filter,
                                                 const image::manifest::entry& entry, access mode) {
  const std::filesystem::path path = directory / image::to_string(entry.id);
  auto file = mapped_file::open(on, path, mode);
  if (!file) throw damaged(path, "is missing, and the manifest names it");
  const std::uint64_t should = page_bytes + entry.shape.bytes;
  if (file->bytes().size() != should)
    throw damaged(path, "is " + std::to_string(file->bytes().size()) + " bytes long instead of " +
                            std::to_string(should));
  const image::segment_header header = decode_header(*file);
  check_is_named(*file, header, filter, entry);
  return std::make_shared<segment_file>(std::move(*file), header);
}

segment_file::segment_file(mapped_file file, const image::segment_header& header) noexcept
    : file_(std::move(file)), id_(header.id), shape_(header.shape) {}

std::uint64_t segment_file::keys() const {
  const std::uint64_t word = key_count_word().load(std::memory_order_acquire);
  return at_path(path(), [&] { return image::decode_key_count(word); });
}

// Count and check are one word, stored in one step: another process, or a reader after a crash, finds the old
// count or the new one.
void segment_file::set_keys(std::uint64_t keys) noexcept {
  key_count_word().store(image::encode_key_count(keys), std::memory_order_release);
}

void segment_file::raise_keys_to_bits() {
  const std::uint64_t counted = keys();
  const std::uint64_t recovered = recovered_keys(counted, shape_, {bits(), shape_.bytes});
  if (recovered > counted) set_keys(recovered);
}

void segment_file::sync() {
  dirty_ = false;  // cleared first, so that later changes mark it dirty again
  file_.sync();
}

std::atomic_ref<std::uint64_t> segment_file::key_count_word() const noexcept {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(file_.bytes().data() + image::key_count_offset));
}

namespace {

void write_head(int file, std::span<const std::byte> head, const std::filesystem::path& path) {
  const ssize_t written = ::pwrite(file, head.data(), head.size(), 0);
  if (written < 0) throw disk_error("write", path, errno);
  // Within one reserved page the kernel writes all or nothing; a shorter write is a faulty disk.
  if (static_cast<std::size_t>(written) != head.size()) throw disk_error("write", path, EIO);
}

}  // namespace

// Space is reserved before the file is mapped: a full disk is an error here, and not a SIGBUS when a bit is
// set.
mapped_file mapped_file::create(disk& on, const std::filesystem::path& path, std::span<const std::byte> head,
                                std::uint64_t bytes) {
  const descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) throw disk_error("create", path, errno);
  try {
    check_disk(on.reserve(file.get(), bytes, path), "reserve space for", path);
    write_head(file.get(), head, path);
    check_disk(on.sync_file(file.get(), path), "sync", path);
    return {on, path, file.get(), bytes, access::write};
  } catch (...) {
    ::unlink(path.c_str());  // nothing refers to it; if this fails too, the next writer removes it
    throw;
  }
}

std::optional<mapped_file> mapped_file::open(disk& on, const std::filesystem::path& path, access mode) {
  const int flags = (mode == access::write ? O_RDWR : O_RDONLY) | O_CLOEXEC;
  const descriptor file(::open(path.c_str(), flags));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) throw disk_error("open", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw disk_error("read the length of", path, errno);
  return mapped_file(on, path, file.get(), static_cast<std::size_t>(status.st_size), mode);
}

mapped_file::mapped_file(disk& on, std::filesystem::path path, int file, std::size_t size, access mode)
    : disk_(&on), path_(std::move(path)), size_(size) {
  if (size == 0) return;  // mmap rejects an empty range; the owner reports the short file
  const int protection = mode == access::write ? PROT_READ | PROT_WRITE : PROT_READ;
  void* bytes = ::mmap(nullptr, size, protection, MAP_SHARED, file, 0);
  if (bytes == MAP_FAILED) throw disk_error("map", path_, errno);
  memory_ = static_cast<std::byte*>(bytes);
}

mapped_file::mapped_file(mapped_file&& other) noexcept
    : disk_(other.disk_),
      path_(std::move(other.path_)),
      memory_(std::exchange(other.memory_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

mapped_file::~mapped_file() {
  if (memory_ != nullptr) ::munmap(memory_, size_);
}

void mapped_file::sync() const {
  check_disk(disk_->sync_mapping(memory_, size_, path_), "sync", path_);
}

}  // namespace everseen
