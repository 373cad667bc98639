#include "everseen/dedup/record/block_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/bad_record.hpp"
#include "everseen/dedup/record/field_rule.hpp"
#include "everseen/dedup/record/record_ends.hpp"

namespace everseen {

namespace {

[[noreturn]] void cannot(const char* subject, const std::string& path, int code) {
  throw storage_error(std::string("cannot ") + subject + " " + path + ": " + std::strerror(code), code, path);
}

std::optional<std::uint64_t> regular_size(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

bool is_directory(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
}

/// Bytes that a block keeps free after its text: a missing last separator, and the padding.
constexpr std::size_t reserved = 1 + block_reader::padding;

}  // namespace

void block::limit(std::size_t bytes) {
  if (bytes + reserved <= capacity_) {
    limit_ = bytes;
    return;
  }
  // In steps, since blocks differ by the bytes that the last one left over: new memory costs page faults.
  constexpr std::size_t step = std::size_t{64} << 10;
  const std::size_t wanted = (bytes + reserved + step - 1) / step * step;
  auto larger = std::make_unique_for_overwrite<char[]>(wanted);
  if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
  bytes_ = std::move(larger);
  capacity_ = wanted;
  limit_ = bytes;
}

int block_reader::input::source() const noexcept {
  return opened ? opened.get() : STDIN_FILENO;
}
int block_reader::input::number() const noexcept {
  return decompressed ? decompressed->number() : source();
}

void block_reader::examine(input& in) {
  in.is_examined = true;
  if (format_.decompress) in.decompressed = decompression::of(in.source(), in.path, while_waiting_);
}

block_reader::block_reader(std::vector<std::string> paths, record_format format, std::size_t block_bytes)
    : format_(format),
      block_bytes_(block_bytes),
      next_bytes_(block_bytes),
      records_(format),
      at_header_(format.header) {
  if (paths.empty()) paths.emplace_back("-");
  std::uint64_t total = 0;
  bool known = true;
  for (std::string& path : paths) {
    input& in = inputs_.emplace_back();
    if (path == "-") {
      in.path = "standard input";
    } else {
      in.path = std::move(path);
      in.opened = descriptor(::open(in.path.c_str(), O_RDONLY | O_CLOEXEC));
      if (!in.opened) cannot("open", in.path, errno);
      if (is_directory(in.number())) cannot("read", in.path, EISDIR);
    }
    posix_fadvise(in.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
    // A pipe holds 64 KiB by default, which would make small blocks of a fast writer's input. Fails where it
    // is no pipe, or where its user has too many.
    (void)::fcntl(in.number(), F_SETPIPE_SZ, 1 << 20);
    const auto size = regular_size(in.number());
    in.regular = size.has_value();
    if (in.regular) in.begin = ::lseek(in.number(), 0, SEEK_CUR);
    known = known && in.regular && !(format_.decompress && decompression::recognises(in.number()));
    total += size.value_or(0);
  }
  if (known && total > 0) total_bytes_ = total;
}

const std::optional<std::string>& block_reader::header() {
  while (!header_ && current_ < inputs_.size()) {
    if (auto line = take_header())
      set_header(std::move(*line));
    else
      begin_next_input();
  }
  return header_;
}

bool block_reader::next(block& into) {
  if (failure_) std::rethrow_exception(failure_);
  try {
    if (at_header_) pass_header();
    begin(into);
    if (!read_next(into)) return false;
    if (on_blocks_) on_blocks_(into.text(), name_of(into.input_), into.input_ >= begun_inputs_);
    begun_inputs_ = std::max(begun_inputs_, into.input_ + 1);
  } catch (...) {  // the next call would start in the middle of a record
    failure_ = std::current_exception();
    throw;
  }
  into.number_ = next_number_++;
  next_bytes_ = std::min(2 * next_bytes_, block_bytes_);
  return true;
}

/// Reads the first record of the current input; what was read behind it begins the next block.
/// @return nothing  the input is empty
std::optional<std::string> block_reader::take_header() {
  at_header_ = false;
  constexpr std::size_t at_a_time = std::size_t{64} << 10;
  constexpr std::size_t longest = std::size_t{1} << 20;
  growing_records so_far(format_);
  std::string all;
  for (;;) {
    const std::size_t had = all.size();
    all.resize(had + at_a_time);
    const std::size_t got = read_some(all.data() + had, at_a_time);
    all.resize(had + got);
    so_far.look_at(all);
    if (so_far.last_end() > 0) {
      const std::size_t end = end_of_first_record(all, format_);
      carry_ = all.substr(end + 1);
      return all.substr(0, end);
    }
    if (got == 0 && so_far.is_in_quotes()) refuse_open_quotes(all);
    if (got == 0 && all.empty()) return std::nullopt;
    if (got == 0) return all;
    if (all.size() > longest)
      throw format_error("the first line of " + inputs_[current_].path +
                         " has more than 1 MiB: it does not name fields");
  }
}

void block_reader::set_header(std::string line) {
  field_names_ = header_names(line, format_, inputs_[current_].path);
  header_ = std::move(line);
  header_from_ = current_;
}

void block_reader::pass_header() {
  if (current_ == inputs_.size()) return;
  auto line = take_header();
  if (line && !field_names_.empty())
    must_name_the_same_fields(*line);
  else if (line)
    set_header(std::move(*line));
}

void block_reader::must_name_the_same_fields(std::string_view line) const {
  const auto names = header_names(line, format_, inputs_[current_].path);
  if (names == field_names_) return;
  const auto listed = [](const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& name : all) text += (text.empty() ? "" : ", ") + name;
    return quoted_text(text);
  };
  throw format_error("the first line of " + inputs_[current_].path + " names other fields than that of " +
                     inputs_[header_from_].path + ": " + listed(names) + ", not " + listed(field_names_) +
                     "; read it by itself");
}

bool block_reader::can_rewind() const noexcept {
  return std::ranges::all_of(inputs_, &input::regular);
}

void block_reader::rewind() {
  for (input& in : inputs_) {
    if (::lseek(in.source(), in.begin, SEEK_SET) < 0) cannot("read again", in.path, errno);
    in.decompressed.reset();
    in.is_examined = false;
    in.bytes_read = 0;
  }
  current_ = 0;
  carry_.clear();
  records_ = growing_records(format_);
  next_number_ = 0;
  failure_ = nullptr;
  at_header_ = format_.header;
}

/// Reads until `into` holds whole records of one input and nothing else.
bool block_reader::read_next(block& into) {
  // A live stream must not wait for more if whole records came with its header.
  if (into.size_ > 0 && !readable_within(0) && cut(into)) return true;
  while (current_ < inputs_.size()) {
    if (into.room() == 0) into.limit(2 * into.size_ + 1);
    const std::size_t room = into.room();
    std::size_t got = 0;
    try {
      got = read_some(into.data() + into.size_, std::min(room, max_read_bytes));
    } catch (...) {
      failure_ = std::current_exception();
      if (cut(into)) return true;
      throw;
    }
    into.size_ += got;
    into.input_ = current_;
    if (got == 0) {
      end_of_input(into);
      if (into.size_ > 0) return true;
      if (!at_header_) continue;
      pass_header();
      begin(into);
      continue;
    }
    // A live stream must not wait for a full block.
    if (into.size_ < next_bytes_ && readable_within(0)) continue;
    if (cut(into)) return true;
    if (into.size_ > max_record_bytes)
      throw storage_error(
          "a record of " + inputs_[current_].path + " is longer than 3 GiB; is the separator right?", EFBIG,
          inputs_[current_].path);
  }
  return false;
}

void block_reader::begin(block& into) {
  into.size_ = 0;
  into.input_ = current_;
  into.limit(carry_.size() + next_bytes_);
  std::memcpy(into.data(), carry_.data(), carry_.size());
  into.size_ = carry_.size();
  carry_.clear();
}

bool block_reader::readable_within(int milliseconds) const noexcept {
  if (inputs_[current_].regular && !inputs_[current_].decompressed) return true;
  pollfd ready = {inputs_[current_].number(), POLLIN, 0};
  return ::poll(&ready, 1, milliseconds) > 0;
}

void block_reader::end_of_input(block& into) {
  must_not_end_in_quotes(into);
  if (into.size_ > 0 && into.data()[into.size_ - 1] != format_.separator)
    into.data()[into.size_++] = format_.separator;
  begin_next_input();
}

void block_reader::begin_next_input() {
  inputs_[current_++].decompressed.reset();
  records_ = growing_records(format_);
  at_header_ = format_.header;
}

/// The whole records before the unclosed quotation mark are handed out first.
void block_reader::must_not_end_in_quotes(block& into) {
  records_.look_at(into.text());
  if (!records_.is_in_quotes()) return;
  try {
    refuse_open_quotes(into.text().substr(records_.last_end()));
  } catch (...) {
    failure_ = std::current_exception();
    if (!cut(into)) throw;
  }
  current_ = inputs_.size() - 1;
}

void block_reader::refuse_open_quotes(std::string_view record) const {
  throw format_error(inputs_[current_].path +
                     " ends between quotation marks: one is not closed, or is where CSV allows none, in "
                     "the record that begins " +
                     quoted_text(record.substr(0, record.find(format_.separator))));
}

std::size_t block_reader::read_some(char* target, std::size_t room) {
  input& in = inputs_[current_];
  if (!in.is_examined) examine(in);
  for (;;) {
    while (while_waiting_ && !readable_within(100)) while_waiting_();
    const ssize_t got = ::read(in.number(), target, room);
    if (got == 0 && in.decompressed) in.decompressed->must_be_whole(in.bytes_read);
    if (got >= 0) in.bytes_read += static_cast<std::uint64_t>(got);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EAGAIN)  // standard input may be shared with a program that made it non-blocking
      static_cast<void>(readable_within(100));
    else if (errno != EINTR)
      cannot("read", in.path, errno);
  }
}

bool block_reader::cut(block& into) {
  records_.look_at(into.text());
  const std::size_t end = records_.last_end();
  if (end == 0) return false;
  records_.drop_records();
  carry_.assign(into.data() + end, into.size_ - end);
  into.size_ = end;
  return true;
}

std::optional<std::uint64_t> block_reader::estimate_records() const {
  if (!total_bytes_) return std::nullopt;
  constexpr std::size_t sample_bytes = 32 << 10;
  std::vector<char> sample(sample_bytes);
  double records = 0;
  for (const input& in : inputs_) {
    const std::uint64_t size = regular_size(in.number()).value_or(0);
    const std::uint64_t last = size > sample_bytes ? size - sample_bytes : 0;
    std::uint64_t bytes = 0;
    std::uint64_t found = 0;
    for (const std::uint64_t offset : {std::uint64_t{0}, last / 2, last}) {
      const ssize_t got = ::pread(in.number(), sample.data(), sample_bytes, static_cast<off_t>(offset));
      if (got <= 0) continue;
      bytes += static_cast<std::uint64_t>(got);
      found += static_cast<std::uint64_t>(std::count(sample.data(), sample.data() + got, format_.separator));
    }
    if (bytes > 0)
      records += static_cast<double>(size) * static_cast<double>(std::max<std::uint64_t>(found, 1)) /
                 static_cast<double>(bytes);
  }
  return static_cast<std::uint64_t>(records) + 1;
}

}  // namespace everseen
