#include "everseen/dedup/record/input_kind.hpp"

#include <algorithm>
#include <array>

namespace everseen {

namespace {

/// A kind of file that is not lines of text, and what makes lines of it.
struct binary_kind {
  std::string_view beginning;
  std::string_view name;
  std::string_view remedy;
};

constexpr std::array binary_kinds = {
    binary_kind{"PAR1", "a Parquet file",
                "write its column as text or CSV first, or give it to everseen's Python package"},
    binary_kind{"ARROW1", "an Arrow file",
                "write its column as text or CSV first, or give it to everseen's Python package"},
    binary_kind{{"Obj\x01", 4}, "an Avro file", "convert it to JSON lines first, as avro-tools tojson does"},
    binary_kind{{"ORC", 3}, "an ORC file", "write its column as text or CSV first"},
    binary_kind{"SQLite format 3", "an SQLite database", "query it: sqlite3 FILE 'SELECT ...'"},
    binary_kind{
        {"PK\x03\x04", 4}, "a ZIP archive, as spreadsheets are, too", "unpack it first, or export CSV"},
    binary_kind{"%PDF-", "a PDF file", "convert it first, as pdftotext does"},
    binary_kind{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first: 7z x -so FILE | everseen ..."},
    binary_kind{"LZIP\x01", "compressed by lzip", "decompress it first: lzip -dc FILE | everseen ..."},
    binary_kind{"\x89LZO", "compressed by lzop", "decompress it first: lzop -dc FILE | everseen ..."},
    binary_kind{
        {"\xff\x06\0\0sNaPpY", 10}, "compressed by Snappy", "decompress it first, as snzip -dc FILE does"},
    binary_kind{"\x1f\x9d", "compressed by compress", "decompress it first: gzip -dc FILE | everseen ..."},
    binary_kind{"\x93NUMPY", "an array of NumPy",
                "write it as text first, or give it to everseen's Python package"},
    binary_kind{"\x89HDF\r\n", "an HDF5 file",
                "write its column as text first, or give it to everseen's Python package"},
};

/// The only kind whose name is not at its beginning.
constexpr std::string_view mark_of_tar = "ustar";
constexpr std::size_t place_of_tar = 257;

/// A file whose first bytes could be a word of a text has control bytes behind them.
bool has_control_bytes(std::string_view text) noexcept {
  return std::ranges::any_of(text.substr(0, 4096), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' && byte != '\n' && byte != '\r' && byte != '\t' && byte != '\f' && byte != '\x1b';
  });
}

constexpr std::string_view of_wide_text =
    ": lines are cut at single bytes of it, so repeats stay and characters break; convert it first, as iconv "
    "-f {} -t "
    "UTF-8 does";

std::string wide_text(std::string_view name) {
  std::string text = "is text in " + std::string(name) + std::string(of_wide_text);
  return text.replace(text.find("{}"), 2, name);
}

/// In UTF-16 every other byte of most European text is NUL.
std::optional<std::string_view> wide_encoding(std::string_view text) noexcept {
  using namespace std::literals;
  if (text.starts_with("\xff\xfe\0\0"sv) || text.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return "UTF-16";
  std::size_t nuls[2] = {0, 0};
  const std::string_view some = text.substr(0, 4096);
  for (std::size_t i = 0; i < some.size(); ++i) nuls[i % 2] += some[i] == '\0' ? 1 : 0;
  if (some.size() >= 4 && nuls[0] == 0 && nuls[1] * 5 > 2 * some.size()) return "UTF-16LE";
  if (some.size() >= 4 && nuls[1] == 0 && nuls[0] * 5 > 2 * some.size()) return "UTF-16BE";
  if (some.size() >= 16 && nuls[0] == 0 && nuls[1] * 5 > some.size()) return "UTF-16LE";
  if (some.size() >= 16 && nuls[1] == 0 && nuls[0] * 5 > some.size()) return "UTF-16BE";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> unusual_kind(std::string_view text, record_format format) {
  if (format.separator == '\0') return std::nullopt;
  if (const auto encoding = wide_encoding(text)) return wide_text(*encoding);
  if (text.starts_with("\xef\xbb\xbf"))
    return "begins with a byte order mark, so its first line differs from the same line elsewhere; remove it "
           "first: "
           "sed '1s/^\\xef\\xbb\\xbf//'";
  for (const binary_kind& kind : binary_kinds)
    if (text.starts_with(kind.beginning) && has_control_bytes(text))
      return "seems to be " + std::string(kind.name) + ", and is read as lines of text; " +
             std::string(kind.remedy);
  if (text.size() > place_of_tar && text.substr(place_of_tar).starts_with(mark_of_tar) &&
      has_control_bytes(text))
    return "seems to be a tar archive, and is read as lines of text; unpack it first: tar -xOf FILE | "
           "everseen ...";
  return std::nullopt;
}

std::optional<std::string> unusual_header(std::string_view line) {
  if (const auto encoding = wide_encoding(line)) return wide_text(*encoding);
  return std::nullopt;
}

line_ends line_ends_of(std::string_view text) noexcept {
  line_ends found;
  for (std::size_t i = 0; (i = text.find('\n', i)) != std::string_view::npos; ++i)
    ++(i > 0 && text[i - 1] == '\r' ? found.with_return : found.without);
  return found;
}

}  // namespace everseen
