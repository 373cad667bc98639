#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace everseen {

/// What of a key counts. Keys that are equal in that are one key. It is part of what a filter's keys are, as
/// the fields are, so all who use a filter give the same one.
///
/// In this order: blanks at both ends are removed; fields, then characters, are skipped; the characters after
/// those to be compared are cut off; letters are folded.
struct key_form {
  bool trim = false;            ///< spaces, tabs and carriage returns
  std::size_t skip_fields = 0;  ///< as uniq -f: blanks, then what is not blank, each
  std::size_t skip_chars = 0;   ///< characters of UTF-8; in other bytes, each is one
  std::optional<std::size_t> check_chars{};
  bool ignore_case = false;  ///< A to Z become small letters
  /// Unicode's full case folding, which makes one of ß, SS and ss. Bytes that are no UTF-8 stay.
  bool fold_case = false;

  friend bool operator==(const key_form&, const key_form&) = default;

  /// Whether every key stays as it is.
  [[nodiscard]] bool is_identity() const noexcept { return *this == key_form{}; }

  /// The key in this form: a part of `key`, or of `text`, where it is written if letters change.
  /// Cost: a pass over the key.    Source of the folding: CaseFolding.txt of Unicode, status C and F
  [[nodiscard]] std::string_view of(std::string_view key, std::string& text) const;
};

}  // namespace everseen
