#pragma once

namespace everseen {

/// How input is cut into records.
struct record_format {
  char separator = '\n';
  /// As in CSV (RFC 4180): a separator between quotation marks belongs to its record, and a carriage return
  /// before a separator does not belong to the last field.
  bool quoted = false;
  /// The first record of each input names the fields of the others, and is not a record itself.
  bool header = false;
  /// Input that begins as gzip, zstd, bzip2, xz or lz4 files do is decompressed first.
  bool decompress = true;
  char delimiter = '\t';  ///< between the names of fields in a header
};

}  // namespace everseen
