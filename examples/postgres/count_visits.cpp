// Counts visits by site in PostgreSQL, each once, although visits are delivered more than once and this
// program may be killed at any moment. One transaction changes both the counts and the token of the counted
// visits.
//
//     count_visits STORE CONNINFO FILE
//
// A line of FILE is a visit: its id, a space, and the site. STORE is the filter's store, as in
// file:/var/lib/everseen or redis://localhost; CONNINFO is libpq's, as in "host=/run/postgresql dbname=shop".

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <libpq-fe.h>

#include "everseen/everseen.hpp"

namespace {

constexpr std::size_t lines_at_once = 200;

class database {
 public:
  explicit database(const char* conninfo) : connection_(PQconnectdb(conninfo), &PQfinish) {
    if (PQstatus(connection_.get()) != CONNECTION_OK)
      throw std::runtime_error(PQerrorMessage(connection_.get()));
  }

  /// The first value of the result; empty if there is none.
  std::string run(const char* statement, const std::vector<std::string>& values = {}) {
    std::vector<const char*> texts;
    for (const std::string& value : values) texts.push_back(value.c_str());
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(
        PQexecParams(connection_.get(), statement, static_cast<int>(texts.size()), nullptr, texts.data(),
                     nullptr, nullptr, 0),
        &PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      throw std::runtime_error(PQerrorMessage(connection_.get()));
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

struct visits {
  std::vector<std::string> lines;
  std::vector<std::string_view> ids;
  std::vector<std::string_view> sites;
  std::vector<std::uint64_t> positions;
};

visits read_some(std::ifstream& from, std::uint64_t first) {
  visits some;
  for (std::string line; some.lines.size() < lines_at_once && std::getline(from, line);)
    some.lines.push_back(line);
  for (const std::string& line : some.lines) {
    const std::string_view text = line;
    const std::size_t space = text.find(' ');
    some.ids.push_back(text.substr(0, space));
    some.sites.push_back(space == text.npos ? "" : text.substr(space + 1));
    some.positions.push_back(first++);
  }
  return some;
}

void count(database& in, const visits& some, const std::vector<everseen::verdict>& verdicts,
           const std::string& token) {
  std::map<std::string_view, int> fresh;
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (verdicts[i] == everseen::verdict::fresh) ++fresh[some.sites[i]];
  in.run("BEGIN");
  for (const auto& [site, visitors] : fresh)
    in.run(
        "INSERT INTO visits VALUES ($1, $2) ON CONFLICT (site) DO UPDATE SET visits = visits.visits + "
        "excluded.visits",
        {std::string(site), std::to_string(visitors)});
  in.run("INSERT INTO progress VALUES ('visits', $1) ON CONFLICT (job) DO UPDATE SET token = excluded.token",
         {token});
  in.run("COMMIT");
}

void run(const char* store_url, const char* conninfo, const char* path) {
  database db(conninfo);
  db.run("SET client_min_messages = warning");
  // The last transaction of a killed run may still be in progress; its session, and this lock, end after it.
  db.run("SELECT pg_advisory_lock(hashtext('count-visits'))");
  db.run("CREATE TABLE IF NOT EXISTS visits (site text PRIMARY KEY, visits bigint NOT NULL)");
  db.run("CREATE TABLE IF NOT EXISTS progress (job text PRIMARY KEY, token text NOT NULL)");
  everseen::deduplicator events(
      everseen::open_or_create(store_url, "visits", {.capacity = 1'000'000, .error_rate = 1e-9}),
      "count-visits");
  std::uint64_t next = events.begin(path, db.run("SELECT token FROM progress WHERE job = 'visits'"));
  std::ifstream file(path);
  std::string line;
  for (std::uint64_t i = 0; i < next && std::getline(file, line); ++i) {  // positions are line numbers
  }
  for (visits some = read_some(file, next); !some.lines.empty(); some = read_some(file, next)) {
    std::vector<everseen::verdict> verdicts(some.lines.size());
    const auto claimed = events.claim(path, {some.ids, some.positions}, verdicts);
    if (!claimed) claimed.error().raise();
    count(db, some, verdicts, events.token(path));
    next = events.settle(path);
  }
}

}  // namespace

int main(int count, char** words) try {
  if (count != 4) throw std::runtime_error("usage: count_visits STORE CONNINFO FILE");
  run(words[1], words[2], words[3]);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "count_visits: %s\n", e.what());
  return 1;
}
