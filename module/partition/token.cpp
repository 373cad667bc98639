#include "module/partition/token.hpp"

namespace everseen::redis_module {

judged<std::optional<std::string>> token::recall() const {
  std::optional<std::string> answer;
  {
    const open_key kept(ctx_, key_, api::read_key);
    if (kept.type() == api::type_empty) return answer;
    if (kept.type() != api::type_string) return refuse(refusal::kind::wrong_type);
    const std::string_view all(kept.bytes(api::read_key), kept.length());
    const std::string_view last = all.substr(0, sequence_.size());
    if (last > sequence_) return refuse(refusal::kind::old);
    if (last == sequence_) answer = all.substr(sequence_.size());
  }
  // Also a write, so that a WAIT after the call waits for the writes of the first attempt.
  if (answer) const called prolonged(api::call(ctx_, "PEXPIRE", "!sc", key_, life_ms_.c_str()));
  return answer;
}

void token::remember(std::string_view answer) const {
  std::string text(sequence_);
  text += answer;
  const called done(api::call(ctx_, "SET", "!sbcc", key_, text.data(), text.size(), "PX", life_ms_.c_str()));
}

}  // namespace everseen::redis_module
