#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "everseen/stream/port/output.hpp"
#include "everseen/stream/port/sink.hpp"

namespace everseen {

/// Writes fresh records to a descriptor, each followed by a separator.
///
/// At least once: after a crash, records that were written after the last settlement are repeated.
class output_sink final : public sink {
 public:
  /// @param name  for messages    @param first  written first if it is not empty, with a separator
  /// The caller owns the descriptor.
  output_sink(int descriptor, std::string name, std::string first = {}, char separator = '\n')
      : out_(descriptor, std::move(name)), text_(std::move(first)), separator_(separator) {}

  void begin(std::string_view note) override;
  void put(const judged_batch& batch) override;
  [[nodiscard]] std::string commit(std::span<const checkpoint> /*reached*/) override { return {}; }

 private:
  output out_;
  std::string text_;
  char separator_;
};

}  // namespace everseen
