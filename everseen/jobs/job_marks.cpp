#include "everseen/jobs/job_marks.hpp"

namespace everseen::job_marks {

namespace {

constexpr std::string_view sink_sign = "> ";

}  // namespace

std::string sink(std::string_view worker, std::string_view target) {
  std::string name(sink_sign);
  return name.append(worker).append(1, ':').append(target);
}

std::optional<sink_mark> last_sink(const checkpoints& known, std::string_view worker) {
  std::optional<sink_mark> last;
  for (const auto& [name, position] : known)
    for (const std::string& beginning : {sink(worker, ""), sink("", "")})
      if (name.starts_with(beginning) && (!last || last->order <= position.position))
        last = {name.substr(beginning.size()), position.position};
  return last;
}

bool is_of_a_sink(std::string_view name) noexcept {
  return name.starts_with(sink_sign);
}

bool is_of_a_lane(std::string_view name) noexcept {
  return !is_of_a_sink(name) && name != last_settled;
}

}  // namespace everseen::job_marks
