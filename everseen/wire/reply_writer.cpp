#include "everseen/wire/reply_writer.hpp"

#include <charconv>

namespace everseen::wire {

namespace {

constexpr std::string_view line_end = "\r\n";

}  // namespace

void reply_writer::head(char type, std::int64_t value) {
  char line[24];
  line[0] = type;
  char* end = std::to_chars(line + 1, line + sizeof line, value).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out_.append(line, static_cast<std::size_t>(end - line));
}

void reply_writer::status(std::string_view text) {
  out_.append("+").append(text).append(line_end);
}

void reply_writer::error(std::string_view text) {
  out_ += '-';
  for (const char c : text) out_ += c == '\r' || c == '\n' ? ' ' : c;
  out_.append(line_end);
}

void reply_writer::integer(std::int64_t value) {
  head(':', value);
}

void reply_writer::truth(bool value) {
  if (version_ == protocol::resp3)
    out_.append(value ? "#t\r\n" : "#f\r\n", 4);
  else
    out_.append(value ? ":1\r\n" : ":0\r\n", 4);
}

void reply_writer::real(double value) {
  char text[32];
  const char* const end = std::to_chars(text, text + sizeof text, value).ptr;
  const std::string_view shortest(text, static_cast<std::size_t>(end - text));
  if (version_ == protocol::resp3)
    out_.append(",").append(shortest).append(line_end);
  else
    bulk(shortest);
}

void reply_writer::bulk(std::string_view bytes) {
  head('$', static_cast<std::int64_t>(bytes.size()));
  out_.append(bytes).append(line_end);
}

void reply_writer::text(std::string_view lines) {
  if (version_ != protocol::resp3) return bulk(lines);
  constexpr std::string_view format = "txt:";
  head('=', static_cast<std::int64_t>(format.size() + lines.size()));
  out_.append(format).append(lines).append(line_end);
}

void reply_writer::null() {
  out_.append(version_ == protocol::resp3 ? "_\r\n" : "$-1\r\n");
}

void reply_writer::array(std::size_t elements) {
  head('*', static_cast<std::int64_t>(elements));
}

void reply_writer::map(std::size_t pairs) {
  if (version_ == protocol::resp3)
    head('%', static_cast<std::int64_t>(pairs));
  else
    head('*', static_cast<std::int64_t>(2 * pairs));
}

void reply_writer::set(std::size_t elements) {
  head(version_ == protocol::resp3 ? '~' : '*', static_cast<std::int64_t>(elements));
}

}  // namespace everseen::wire
