#include "everseen/stream/file/output_sink.hpp"

namespace everseen {

void output_sink::begin(std::string_view /*note*/) {
  out_.end_record(separator_);
  if (!text_.empty()) out_.write(text_ + separator_);
}

void output_sink::put(const judged_batch& batch) {
  text_.clear();
  for (std::size_t i = 0; i < batch.verdicts.size(); ++i)
    if (batch.goes_out(i)) (text_ += batch.from.records[i].bytes) += separator_;
  if (!text_.empty()) out_.write(text_);
}

}  // namespace everseen
