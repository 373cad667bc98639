#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "everseen/core/spec/spec.hpp"

namespace everseen {

namespace {

template <typename Number>
std::string text(Number value) {
  char digits[32];
  return {digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr};
}
std::string text(layout_kind kind) {
  return std::string(to_string(kind));
}
std::string text(hash_kind kind) {
  return std::string(to_string(kind));
}
std::string text(growth_kind kind) {
  return std::string(to_string(kind));
}
std::string text(const std::optional<window_spec>& window) {
  if (!window) return "none";
  return text(window->width.count()) + " ms in " + text(window->slices) + " slices";
}
std::string text(const foreign_rules& rules) {
  return "funnel " + std::string(to_string(rules.funnel)) + ", expansion " + text(rules.expansion) +
         (rules.powers_of_two ? ", powers of two" : ", no powers of two");
}

bool leaves_slices_open(const spec_request& asked) {
  return asked.window && asked.window->slices == 0;
}

/// Compares what was asked for, value by value.
class comparison {
 public:
  template <typename Value>
  void note(std::string_view what, bool is_asked, const Value& wanted, const Value& has) {
    if (!is_asked || wanted == has) return;
    if (!text_.empty()) text_ += ", ";
    text_ += std::string(what) + ' ' + text(has) + " instead of " + text(wanted);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_{};
};

}  // namespace

std::string differences(const spec_request& asked, const spec& has) {
  spec_request meant = asked;
  if (leaves_slices_open(asked) && has.window && has.window->width == asked.window->width)
    meant.window = has.window;
  const spec wanted = make_spec(meant);
  comparison all;
  all.note("capacity", asked.capacity.has_value(), wanted.capacity, has.capacity);
  all.note("error_rate", asked.error_rate.has_value(), wanted.error_rate, has.error_rate);
  all.note("layout", asked.layout.has_value(), wanted.layout, has.layout);
  all.note("probes", asked.probes.has_value(), unsigned{wanted.probes}, unsigned{has.probes});
  all.note("hash", asked.hash && !is_as_asked(has.hash, *asked.hash), wanted.hash, has.hash);
  all.note("growth", asked.growth.has_value(), wanted.growth, has.growth);
  all.note("window", asked.window.has_value(), wanted.window, has.window);
  all.note("partitions", asked.partitions.has_value(), wanted.partitions, has.partitions);
  if (!asked.layout || !is_foreign(*asked.layout) || wanted.layout != has.layout) return all.take();
  foreign_rules rules = wanted.foreign;
  rules.first_bytes = has.foreign.first_bytes;  // follows from the capacity and the error rate
  all.note("rules", true, rules, has.foreign);
  return all.take();
}

}  // namespace everseen
