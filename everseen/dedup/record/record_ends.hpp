#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "everseen/dedup/record/record_format.hpp"

/// Where records end. The text begins with a record. All functions compare 64 bytes at a time; one memchr
/// call a record would cost more than hashing it. Text without a quotation mark costs the same whether or not
/// the format knows quotes. Threads: any.
namespace everseen {

/// Appends the offset of every separator in `text` to `ends`: record i lies between separators i - 1 and i.
/// @pre text.size() <= 2^32    Cost: about 1 ns a record of 10 bytes.
void find_record_ends(std::string_view text, const record_format& format, std::vector<std::uint32_t>& ends);

/// The offset of the first separator; npos if the text has none.
[[nodiscard]] std::size_t end_of_first_record(std::string_view text, const record_format& format) noexcept;

/// Whether the text ends between quotes, so that a separator after it would be part of its last record.
[[nodiscard]] bool ends_in_quotes(std::string_view text, const record_format& format) noexcept;

/// Finds the end of the last whole record in a growing text, and looks at each byte once.
class growing_records {
 public:
  explicit growing_records(const record_format& format) noexcept
      : separator_(format.separator), knows_quotes_(format.quoted) {}

  /// @param text  all that came so far; its beginning is that of the last call, and not looked at again
  void look_at(std::string_view text) noexcept;

  /// The offset after the last separator; 0 if the text has none.
  [[nodiscard]] std::size_t last_end() const noexcept { return end_; }
  /// Whether the text ends between quotes.
  [[nodiscard]] bool is_in_quotes() const noexcept { return in_quotes_; }

  /// From now on the text begins at last_end().
  void drop_records() noexcept {
    looked_at_ -= end_;
    end_ = 0;
  }

 private:
  char separator_;
  bool knows_quotes_;
  bool in_quotes_ = false;
  std::size_t looked_at_ = 0;
  std::size_t end_ = 0;
};

}  // namespace everseen
