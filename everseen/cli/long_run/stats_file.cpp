#include "everseen/cli/long_run/stats_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "everseen/cli/terminal/files.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/dedup/output.hpp"

namespace everseen::cli {

stats_file::stats_file(const std::string& where) {
  if (where == "-") return;
  name_ = where;
  if (auto same = open_already(where)) {
    file_ = *std::move(same);
    return;
  }
  file_ = descriptor(::open(where.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file_) throw storage_error("cannot write " + where + ": " + std::strerror(errno), errno, where);
}

void stats_file::write(std::string_view text) const {
  output(file_ ? file_.get() : STDERR_FILENO, name_).write(text);
}

}  // namespace everseen::cli
