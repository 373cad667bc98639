#include "test/support/samples/click_stream.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <sstream>

namespace everseen::test {

namespace {

using std::chrono::seconds;

constexpr std::size_t remembered = 50;  // recent events from which a repeat is chosen
constexpr seconds begins_at = std::chrono::hours(1);

class click_maker {
 public:
  click_maker(std::uint64_t seed, std::size_t count, const click_shape& shape)
      : seed_(seed), count_(count), shape_(shape), random_(seed) {}

  click_stream make() {
    for (number_ = 0; number_ < count_; ++number_) made_.lines.push_back(next());
    return std::move(made_);
  }

 private:
  std::string next() {
    if (!different_.empty() && random_() % 4 == 0) {
      const std::size_t back =
          shape_.span.count() == 0 ? different_.size() : std::min(remembered, different_.size());
      return different_[different_.size() - 1 - random_() % back];
    }
    const bool late = shape_.some_are_late && number_ > count_ * 2 / 3 && random_() % 30 == 0;
    const std::string id = std::to_string(seed_) + '-' + std::to_string(number_);
    const seconds time = late ? on_time() - std::chrono::minutes(30) : on_time();
    const std::string site = random_() % 3 == 0 ? "news" : "shop";
    std::string line = R"({"id":")" + id + R"(","time":")" + text_of(time) + R"(","site":")" + site + "\"}";
    if (late) {
      made_.late.insert(line);
      return line;
    }
    made_.first_lines.emplace(id, line);
    ++made_.by_minute_and_site[text_of(time - time % std::chrono::minutes(10)) + ',' + site];
    different_.push_back(line);
    return line;
  }

  seconds on_time() {
    if (shape_.span.count() == 0) return seconds(random_() % 3600);
    const auto passed =
        seconds(shape_.span) * static_cast<std::int64_t>(number_) / static_cast<std::int64_t>(count_);
    return begins_at + passed - seconds(random_() % 60);
  }

  static std::string text_of(seconds time) {
    std::array<char, 32> text{};
    const auto s = time.count();
    std::snprintf(text.data(), text.size(), "2025-01-01T%02d:%02d:%02dZ", static_cast<int>(s / 3600),
                  static_cast<int>(s / 60 % 60), static_cast<int>(s % 60));
    return text.data();
  }

  std::uint64_t seed_;
  std::size_t count_;
  click_shape shape_;
  std::mt19937_64 random_;
  std::size_t number_ = 0;
  std::vector<std::string> different_{};
  click_stream made_{};
};

}  // namespace

std::string click_stream::text() const {
  std::string all;
  for (const std::string& line : lines) (all += line) += '\n';
  return all;
}

click_stream make_clicks(std::uint64_t seed, std::size_t count, const click_shape& shape) {
  return click_maker(seed, count, shape).make();
}

std::string fault_of_lines(const click_stream& clicks, const std::string& text, bool may_repeat) {
  std::map<std::string, int> times;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) ++times[line];
  std::size_t lost = 0, doubled = 0, known = 0;
  constexpr std::size_t named = 5;
  std::string names;
  for (const auto& [id, line] : clicks.first_lines) {
    const auto found = times.find(line);
    if (found == times.end()) {
      if (++lost <= named) names += "\n  " + line;
      continue;
    }
    ++known;
    doubled += found->second > 1;
  }
  std::string fault;
  if (lost > 0) fault += std::to_string(lost) + " events are lost" + names + "\n; ";
  if (doubled > 0 && !may_repeat) fault += std::to_string(doubled) + " events came twice; ";
  // A killed job may have printed half a line; its repetition is complete.
  if (times.size() > known && !may_repeat)
    fault += std::to_string(times.size() - known) + " lines are none of the events'; ";
  return fault;
}

}  // namespace everseen::test
