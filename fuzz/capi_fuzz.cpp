// Any sequence of calls of the C interface, with hostile numbers, names, URLs and nulls, over filters in
// memory and files: no crash, no failure without a message, and no added key that is fresh again.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/capi/everseen.h"

#include "fuzz/capi_arguments.hpp"

namespace {

using everseen::capi_arguments;
using everseen::fuzz_input;

void require(bool truth) {
  if (!truth) std::abort();
}

struct open_filter {
  everseen_filter* filter = nullptr;
  bool forgets = false;  ///< has a window or a life
};

/// All that a program holds, and calls with what the input says.
class caller : capi_arguments {
 public:
  explicit caller(fuzz_input from) : capi_arguments(from) {}
  ~caller() {
    for (everseen_job* job : jobs_) everseen_close_job(job);
    for (const open_filter& f : filters_) everseen_close(f.filter);
  }
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;

  void call_all() {
    for (int calls = 0; calls < 64 && !from_.is_at_end(); ++calls) call();
  }

 private:
  void call() {
    switch (from_.byte() % 12) {
      case 0:
      case 1:
        return make();
      case 2:
        return close();
      case 3:
        (void)ended(everseen_drop(url(), name()));
        return;
      case 4:
      case 5:
        return judge_slices();
      case 6:
        return from_.byte() % 2 == 0
                   ? judge_offsets<std::int32_t>(everseen_add_offsets32, everseen_check_offsets32)
                   : judge_offsets<std::int64_t>(everseen_add_offsets64, everseen_check_offsets64);
      case 7:
        return judge_fixed();
      case 8:
        return describe();
      case 9:
        return open_job();
      case 10:
        return claim();
      default:
        return settle();
    }
  }

  /// Every failure has a message.
  everseen_status ended(everseen_status status) {
    require(status >= EVERSEEN_OK && status < EVERSEEN_INTERNAL);
    require(status == EVERSEEN_OK || everseen_last_error()[0] != '\0');
    return status;
  }

  void make() {
    open_filter& f = filters_[from_.byte() % filters_.size()];
    if (f.filter != nullptr) return;
    everseen_options o = EVERSEEN_OPTIONS_INIT;
    const everseen_options* const given = options(o);
    const char* const where = url();
    const char* const called = name();
    // An existing filter may have what these options do not say.
    f.forgets = true;
    everseen_status status = EVERSEEN_OK;
    switch (from_.byte() % 4) {
      case 0:
        status = everseen_open(where, called, &f.filter);
        break;
      case 1:
        status = everseen_open_to_read(where, called, &f.filter);
        break;
      case 2:
        status = everseen_create(where, called, given, &f.filter);
        f.forgets = o.window_ms != 0 || o.lifetime_ms != 0;
        break;
      default:
        status = everseen_open_or_create(where, called, given, &f.filter);
    }
    require((ended(status) == EVERSEEN_OK) == (f.filter != nullptr));
  }

  void close() {
    open_filter& f = filters_[from_.byte() % filters_.size()];
    everseen_close(f.filter);
    f = {};
  }

  /// Adds by `add` and looks by `check`, with the same arguments.
  template <typename Add, typename Check>
  void judge(std::size_t count, Add add, Check check) {
    const open_filter& f = filters_[from_.byte() % filters_.size()];
    take_times(count);
    const bool null = from_.byte() == 255;
    std::vector<std::uint8_t> verdicts(count, 77);
    const everseen_status added = ended(add(f.filter, null ? nullptr : verdicts.data()));
    if (!null) note(verdicts, added);
    std::vector<std::uint8_t> again(count, 77);
    const everseen_status checked = ended(check(f.filter, again.data()));
    note(again, checked);
    if (null || f.forgets || added == EVERSEEN_INVALID || checked != EVERSEEN_OK) return;
    for (std::size_t i = 0; i < count; ++i)
      require(verdicts[i] == EVERSEEN_UNKNOWN || again[i] == EVERSEEN_SEEN);
  }
  static void note(const std::vector<std::uint8_t>& verdicts, everseen_status status) {
    for (const std::uint8_t v : verdicts)
      require(v <= EVERSEEN_LATE || (v == EVERSEEN_UNKNOWN && status != EVERSEEN_OK));
  }

  void judge_slices() {
    take_keys();
    const everseen_slice* const keys = from_.byte() == 255 ? nullptr : slices_.data();
    const auto call = [&](auto function) {
      return [=, this](auto* f, auto* out) {
        return function(f, keys, slices_.size(), times(), times_count(), out);
      };
    };
    judge(slices_.size(), call(everseen_add_slices), call(everseen_check_slices));
  }
  template <typename Offset, typename Add, typename Check>
  void judge_offsets(Add add, Check check) {
    const std::string bytes = from_.text(100);
    const std::size_t n = from_.byte() % 30;
    const void* const start = from_.byte() == 255 ? nullptr : bytes.data();
    const auto of = offsets<Offset>(n, bytes.size());
    const auto call = [&](auto function) {
      return [&, function](auto* f, auto* out) {
        return function(f, start, of.data(), n, times(), times_count(), out);
      };
    };
    judge(n, call(add), call(check));
  }
  void judge_fixed() {
    const std::string bytes = from_.text(100);
    const std::size_t width = from_.byte() % 20;
    const std::size_t n = width == 0 ? from_.byte() : bytes.size() / width;
    const void* const start = from_.byte() == 255 ? nullptr : bytes.data();
    const auto call = [&](auto function) {
      return
          [=, this](auto* f, auto* out) { return function(f, start, width, n, times(), times_count(), out); };
    };
    judge(n, call(everseen_add_fixed), call(everseen_check_fixed));
  }

  void describe() {
    everseen_filter* const f = filters_[from_.byte() % filters_.size()].filter;
    char* json = nullptr;
    const bool told = ended(everseen_info(f, &json)) == EVERSEEN_OK;
    require(told == (json != nullptr) && (!told || json[0] == '{'));
    everseen_free(json);
    (void)ended(everseen_sync(f));
  }

  void open_job() {
    everseen_filter* const f = filters_[from_.byte() % filters_.size()].filter;
    everseen_job*& job = jobs_[from_.byte() % jobs_.size()];
    if (from_.byte() < 32) {
      (void)ended(everseen_end_job(f, name()));
      return;
    }
    everseen_close_job(job);
    job = nullptr;
    const std::string description = from_.text(30);
    const char* const about = from_.byte() == 255 ? nullptr : description.c_str();
    require((ended(everseen_open_job(f, name(), about, &job)) == EVERSEEN_OK) == (job != nullptr));
  }

  void claim() {
    take_keys();
    const std::size_t n = slices_.size();
    std::vector<std::uint64_t> positions;
    std::uint64_t next = from_.number();
    for (std::size_t i = 0; i < n; ++i) {
      positions.push_back(next);
      next = from_.byte() == 255 ? from_.number() : next + 1 + from_.byte() % 3;
    }
    take_times(n);
    std::vector<std::uint8_t> verdicts(n, 77), before(n, 77);
    everseen_job* const job = jobs_[from_.byte() % jobs_.size()];
    const char* const of = source();
    const everseen_status status =
        ended(everseen_claim(job, of, slices_.data(), positions.data(), n, times(), times_count(),
                             verdicts.data(), from_.byte() == 255 ? nullptr : before.data()));
    note(verdicts, status);
    std::uint64_t settled = 0;
    if (status != EVERSEEN_OK || n == 0 || everseen_settled(job, of, &settled) != EVERSEEN_OK) return;
    if (positions[0] < settled) return;
    // A replay before the settlement has the same verdicts.
    std::vector<std::uint8_t> again(n, 77), claimed(n, 77);
    const everseen_status replayed = ended(everseen_claim(
        job, of, slices_.data(), positions.data(), n, times(), times_count(), again.data(), claimed.data()));
    if (replayed == EVERSEEN_OK && times_count() == n) require(again == verdicts);
  }

  void settle() {
    everseen_job* const job = jobs_[from_.byte() % jobs_.size()];
    const char* const of = source();
    if (from_.byte() < 128) (void)ended(everseen_settle(job, of, from_.number()));
    std::uint64_t position = 77;
    const everseen_status status = ended(everseen_settled(job, of, &position));
    require(status == EVERSEEN_OK || position == 0);
  }

  std::array<open_filter, 4> filters_{};
  std::array<everseen_job*, 3> jobs_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::filesystem::remove_all(capi_arguments::directory());
  caller(fuzz_input({reinterpret_cast<const char*>(data), size})).call_all();
  std::filesystem::remove_all(capi_arguments::directory());
  return 0;
}
