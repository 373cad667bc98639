#pragma once

#include <cstddef>
#include <utility>

namespace everseen {

/// Zeroed, 64-byte aligned memory that asks for huge pages from 2 MB up.
///
/// A filter in DRAM touches a random line a key. With 4 KiB pages each is also a TLB miss: huge pages are
/// worth 1.5 to 1.8 times the speed there. Pages arrive when first touched, so a large segment costs nothing
/// up front.
class huge_memory {
 public:
  huge_memory() = default;
  /// @throws storage_error  not that much memory
  explicit huge_memory(std::size_t bytes);
  ~huge_memory();
  huge_memory(huge_memory&& other) noexcept { swap(other); }
  huge_memory& operator=(huge_memory&& other) noexcept {
    swap(other);
    return *this;
  }

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  void swap(huge_memory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  void* mapping_ = nullptr;  // null where the memory came from the heap
  std::size_t mapped_bytes_ = 0;
};

}  // namespace everseen
