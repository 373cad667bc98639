#include "everseen/redis/ledger/job_list.hpp"

#include <set>
#include <unordered_map>
#include <vector>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/format/lane_record.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen::redis {

namespace {

constexpr std::size_t job_id_length = 32;
/// Much longer than a client takes to open a job.
constexpr std::string_view unkept_records_life_ms = "600000";
/// How often counters are read, if the server is restarted meanwhile.
constexpr int most_readings = 10;

std::string entry_of(const listed_job& j) {
  return j.id + ' ' + j.description;
}

std::string job_id_in(std::string_view entry) {
  return std::string(entry.substr(0, job_id_length));
}

listed_job job_in(std::string_view entry, const std::string& key) {
  if (entry.size() <= job_id_length || entry[job_id_length] != ' ')
    throw damaged_key(key, "lists a job without an id");
  return {job_id_in(entry), std::string(entry.substr(job_id_length + 1))};
}

std::int64_t number_in(const std::string& key, std::string_view text) {
  const auto number = read_number<std::int64_t>(text);
  if (!number) throw damaged_key(key, "has a counter that is no number");
  return *number;
}

/// Takes a job off the list: from then on it neither settles nor is opened. Its id stays in `gone` until its
/// keys are removed.
void unlist(server_connections& connections, const route& list, const route& gone, std::string_view job,
            std::string_view entry) {
  (void)run_script(connections, {&job_scripts::unlist(),
                                 list,
                                 {list.key, gone.key},
                                 {std::string(job), std::string(entry), job_id_in(entry)}});
}

}  // namespace

std::map<std::string, listed_job, std::less<>> job_list::all(server_connections& connections) const {
  const reply fields = ask_about(connections, list_, {"HGETALL", list_.key});
  std::map<std::string, listed_job, std::less<>> jobs;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
    jobs.emplace(fields[i].text(), job_in(fields[i + 1].text(), list_.key));
  return jobs;
}

std::vector<std::string> job_list::names(server_connections& connections) const {
  std::vector<std::string> names;
  for (const auto& [job, kept] : all(connections)) names.push_back(job);
  return names;
}

std::optional<listed_job> job_list::find(server_connections& connections, std::string_view job,
                                         bool on_replicas) const {
  request asked{list_, encode({"HGET", list_.key, job}), 1, true};
  asked.on_replicas = on_replicas;
  const reply entry = exchange_all(connections, {std::move(asked)}).front()->front();
  if (entry.is_nil()) return std::nullopt;
  return job_in(entry.text(), list_.key);
}

/// The list first: a reset reads it, and then each partition. Every client that opens the job marks the
/// partitions, since the client that listed it may have crashed before.
std::optional<listed_job> job_list::open(server_connections& connections, std::string_view job,
                                         std::optional<std::string_view> description) const {
  auto there = find(connections, job);
  if (!there && !description) return std::nullopt;
  if (!there) {
    const listed_job made{random_name(), std::string(*description)};
    script_call call{&job_scripts::enlist(), list_, {list_.key, filter_.keys.header()}};
    call.arguments = {std::string(job), entry_of(made)};
    call.on_replicas = true;
    const reply answered = run_script(connections, remembered(connections, std::move(call)));
    if (answered.text() == "0") throw filter_is_gone(filter_.keys.header());
    if (answered.text() == "2")
      throw parameter_error(
          quoted_name(name_) + " is being rebuilt, and the job " + quoted_name(job) +
          " needs a filter that judges alone; wait until the rebuild is done, or begin it again");
    there = find(connections, job);
    if (!there) throw is_gone(job);
  }
  try {
    mark(connections, job, there->id);
  } catch (const error&) {
    // The next reset or drop removes a mark without a job.
    const auto still = find(connections, job);
    if (!still || still->id != there->id) remove(connections, there->id);
    throw;
  }
  // A client that ended it meanwhile may have removed marks before they were made. One that listed it may not
  // have waited for the replicas of the list.
  const auto still = find(connections, job, true);
  if (still && still->id == there->id) {
    keep_marks(connections, there->id);
    return there;
  }
  remove(connections, there->id);
  throw is_gone(job);
}

/// The mark of a partition that its clients judge is a field of the state, which is not removed before its
/// filter. That of a value is in the records of the job: a hash with a time limit, until keep_marks(). So
/// nothing stays behind if the job is ended meanwhile and this client crashes.
void job_list::mark(server_connections& connections, std::string_view job, const std::string& id) const {
  const job_keys keys(filter_.keys, id);
  std::vector<script_call> calls;
  for (std::uint32_t p = 0; p < filter_.spec.partitions; ++p) {
    const std::string state = filter_.keys.state(p);
    if (has_values())
      calls.push_back({&job_scripts::begin_records(),
                       {state, p},
                       {state, keys.lanes(p)},
                       {std::string(unkept_records_life_ms)}});
    else
      calls.push_back({&job_scripts::mark_partition(), {state, p}, {state}, {keys.field()}});
    calls.back().on_replicas = true;
  }
  const std::vector<answer> answers = run_scripts(connections, calls);
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (expect_reply(answers[i], calls[i].keys.back()).integer() == 0) throw is_gone(job);
}

void job_list::keep_marks(server_connections& connections, const std::string& id) const {
  if (!has_values()) return;
  const job_keys keys(filter_.keys, id);
  std::vector<request> requests;
  for (std::uint32_t p = 0; p < filter_.spec.partitions; ++p) {
    const std::string records = keys.lanes(p);
    requests.push_back({{records, p}, encode({"PERSIST", records}), 1, true});
    requests.back().on_replicas = true;
  }
  (void)exchange_all(connections, requests);
}

/// The mark first: then no client can claim for the job, and no key is created after its removal.
void job_list::remove(server_connections& connections, const std::string& id) const {
  const job_keys keys(filter_.keys, id);
  for (std::uint32_t p = 0; p < filter_.spec.partitions; ++p) {
    const std::string state = filter_.keys.state(p);
    try {
      if (!has_values()) (void)ask_about(connections, {state, p}, {"HDEL", state, keys.field()});
    } catch (const format_error&) {  // no client claims where the state has another type
    }
    (void)ask_about(connections, {keys.lanes(p), p}, {"UNLINK", keys.lanes(p)});
  }
  (void)ask_about(connections, {keys.checkpoints(), 0}, {"UNLINK", keys.checkpoints()});
  (void)ask_about(connections, gone_, {"HDEL", gone_.key, id});
}

void job_list::remove_listed(server_connections& connections, bool all) const {
  const reply ids = ask_about(connections, gone_, {"HKEYS", gone_.key});
  for (std::size_t i = 0; i < ids.size(); ++i) remove(connections, std::string(ids[i].text()));
  if (!all) return;
  const reply fields = ask_about(connections, list_, {"HGETALL", list_.key});
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const std::string_view entry = fields[i + 1].text();
    unlist(connections, list_, gone_, fields[i].text(), entry);
    remove(connections, job_id_in(entry));
  }
}

void job_list::remove_leftovers(server_connections& connections) const {
  remove_listed(connections, false);
  if (has_values()) return;  // their marks expire
  const std::string mark = partition_keys::job_field("");
  std::set<std::string> strays;
  for (std::uint32_t p = 0; p < filter_.spec.partitions; ++p) {
    const std::string state = filter_.keys.state(p);
    const reply fields = ask_about(connections, {state, p}, {"HKEYS", state});
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (const std::string_view field = fields[i].text(); field.starts_with(mark))
        strays.emplace(field.substr(mark.size()));
  }
  if (strays.empty()) return;
  for (const auto& [job, listed] : all(connections)) strays.erase(listed.id);
  for (const std::string& id : strays) remove(connections, id);
}

void job_list::end(server_connections& connections, std::string_view job) const {
  remove_listed(connections, false);
  const auto there = find(connections, job);
  if (!there) throw no_such_job(name_, job);
  unlist(connections, list_, gone_, job, entry_of(*there));
  remove(connections, there->id);
}

bool job_list::settle(server_connections& connections, std::string_view job, const listed_job& listed,
                      std::span<const checkpoint> reached) const {
  if (reached.empty()) return true;
  script_call call{&job_scripts::settle(),
                   list_,
                   {list_.key, job_keys(filter_.keys, listed.id).checkpoints()},
                   {std::string(job), entry_of(listed)}};
  for (const checkpoint& c : reached) {
    std::string value;
    append_position(value, c.position);
    std::string from;
    if (c.from) append_position(from, *c.from);
    call.arguments.insert(call.arguments.end(), {c.lane, value + c.note, from});
  }
  call.on_replicas = true;
  const std::int64_t answered = run_script(connections, std::move(call)).integer();
  if (answered == 0) throw is_gone(job);
  return answered == 1;
}

std::map<std::string, checkpoint, std::less<>> job_list::checkpoints(server_connections& connections,
                                                                     const listed_job& job) const {
  const std::string key = job_keys(filter_.keys, job.id).checkpoints();
  const reply fields = ask_about(connections, {key, 0}, {"HGETALL", key});
  std::map<std::string, checkpoint, std::less<>> all;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const std::string lane(fields[i].text());
    const reply value = fields[i + 1];
    if (value.text().size() < position_bytes) throw damaged_key(key, "has a checkpoint of the wrong length");
    all[lane] = {lane, position_in(value.text()), std::string(value.text().substr(position_bytes))};
  }
  return all;
}

/// Reads pages, since one step for all would block the server; a page may repeat fields of earlier ones. Each
/// server process has its own order of fields: where one is restarted, or a replica promoted, the next page
/// skips some. Fields are only removed with the whole hash, so none is missing if as many were read as exist
/// after the last page. A job at work may always be ahead of that. Then as many as existed before the first
/// page are enough, but only in a second reading: in the first, new fields may hide missing ones.
void job_list::visit_counters(server_connections& connections, std::uint32_t partition, const listed_job& job,
                              const ledger::counter_visitor& visit) const {
  const route lanes{job_keys(filter_.keys, job.id).lanes(partition), partition};
  const auto count_fields = [&] {
    return static_cast<std::uint64_t>(ask_about(connections, lanes, {"HLEN", lanes.key}).integer());
  };
  std::unordered_map<std::string, std::int64_t> values;  // of all fields; 0 if it is no counter
  for (int reading = 1; reading <= most_readings; ++reading) {
    const std::uint64_t before = count_fields();
    std::string cursor = "0";
    do {
      const reply page = ask_about(connections, lanes, {"HSCAN", lanes.key, cursor, "COUNT", "1000"});
      cursor = page[0].text();
      const reply fields = page[1];
      for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
        const std::string_view field = fields[i].text();
        values[std::string(field)] =
            partition_keys::is_counter_field(field) ? number_in(lanes.key, fields[i + 1].text()) : 0;
      }
    } while (cursor != "0" && !cursor.empty());
    if (values.size() < count_fields() && (reading == 1 || values.size() < before)) continue;
    for (const auto& [field, value] : values)
      if (value != 0) visit(std::string_view(field).substr(1), value);
    return;
  }
  throw backend_error("the counters of '" + lanes.key + "' were read " + std::to_string(most_readings) +
                      " times, and some were missing each time: its server restarts repeatedly");
}

job_size job_list::size(server_connections& connections, std::string_view job) const {
  const auto there = find(connections, job);
  if (!there) throw no_such_job(name_, job);
  const job_keys keys(filter_.keys, there->id);
  job_size all{0, 0};
  for (std::uint32_t p = 0; p < filter_.spec.partitions; ++p) {
    visit_counters(connections, p, *there, [&](std::string_view, std::int64_t) { ++all.counters; });
    const std::string key = keys.lanes(p);
    const request asked{{key, p}, encode({"MEMORY", "USAGE", key}), 1, true};
    const answer usage = std::move(connections.exchange(std::span(&asked, 1)).front());
    if (!usage) throw backend_error(usage.error().message);
    if (usage->back().is_error())
      all.bytes.reset();  // the command is forbidden, or the server is too old for it
    if (all.bytes) *all.bytes += static_cast<std::uint64_t>(usage->back().integer());
  }
  return all;
}

storage_error job_list::is_gone(std::string_view job) const {
  return {"the job " + quoted_name(job) + " no longer exists: it was ended, or the filter " +
              quoted_name(name_) + " was dropped, or its server lost it",
          0, list_.key};
}

}  // namespace everseen::redis

namespace everseen::redis::job_scripts {

const script& unlist() {
  static const script s = make_script(R"(
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return redis.call('HEXISTS', KEYS[2], ARGV[3]) end
redis.call('HSET', KEYS[2], ARGV[3], '')
redis.call('HDEL', KEYS[1], ARGV[1])
return 1
)");
  return s;
}

const script& enlist() {
  static const script s = make_remembered_script(R"(
local at = redis.call('HMGET', KEYS[2], 'id', 'next', 'after')
if not at[1] then return 0 end
if (at[2] or at[3]) and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 2 end
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return 1
)");
  return s;
}

const script& mark_partition() {
  static const script s = make_script(R"(
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], '1')
return 1
)");
  return s;
}

const script& begin_records() {
  static const script s = make_script(R"(
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('HSETNX', KEYS[2], '', '1') == 1 or redis.call('PTTL', KEYS[2]) >= 0 then
  redis.call('PEXPIRE', KEYS[2], ARGV[1])
end
return 1
)");
  return s;
}

const script& settle() {
  static const script s = make_script(R"(
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
local function is_behind(one, other)
  for i = 1, 8 do
    local a, b = string.byte(one, i) or 0, string.byte(other, i) or 0
    if a ~= b then return a < b end
  end
  return false
end
for i = 3, #ARGV, 3 do
  local so_far = redis.call('HGET', KEYS[2], ARGV[i]) or string.rep('\0', 8)
  if ARGV[i+2] ~= '' and string.sub(so_far, 1, 8) ~= ARGV[i+2] then return 2 end
end
for i = 3, #ARGV, 3 do
  local before = redis.call('HGET', KEYS[2], ARGV[i])
  if not before or not is_behind(ARGV[i+1], before) then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i+1])
  end
end
return 1
)");
  return s;
}

}  // namespace everseen::redis::job_scripts
