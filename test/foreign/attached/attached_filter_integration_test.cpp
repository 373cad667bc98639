// Filters that belong to other programs: everseen uses their bits and nothing else.

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/format/image.hpp"
#include "everseen/foreign/guava/guava.hpp"

#include "test/foreign/attached/attached.hpp"
#include "test/foreign/vectors.hpp"
#include "test/support/model/guava_filter.hpp"

namespace everseen::foreign {
namespace {

using test::redis_server;
using test::vectors;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Attached : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<redis_server>(); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override { server().run({"FLUSHALL"}); }
  static redis_server& server() { return *server_; }

  [[nodiscard]] std::shared_ptr<redis_store> store(std::string_view options = "") const {
    return store_at(server().url(options));
  }
  [[nodiscard]] std::string string_at(const std::string& key) const { return server().run({"GET", key}); }

 private:
  static inline std::unique_ptr<redis_server> server_{};
};

/// A string in which SETBIT has set these bits.
std::string string_with(const std::vector<std::uint64_t>& positions) {
  naive_string string;
  for (const std::uint64_t p : positions) string.set(p);
  return string.bytes();
}

// -- Results of the originals, through a live server. --

// Promise: the bits are those of the other program (foreign-filters, Attached filters).
TEST_F(Attached, GozeroHasTheBitsThatGozeroSets) {
  const auto data = vectors("gozero");
  const std::uint64_t bits = data["bits"];
  filter f = attached(*store(), "a", attachment_to("bloom", family::gozero, bits));
  std::vector<std::uint64_t> expected;
  for (const auto& row : data["rows"]) {
    f.add(row["key"].get<std::string>());
    for (const std::uint64_t p : row["offsets"]) expected.push_back(p);
  }
  EXPECT_TRUE(string_at("bloom") == string_with(expected));
}

TEST_F(Attached, BkdrHasTheBitsThatCSets) {
  constexpr std::uint64_t bits = 1'000'003;
  const auto data = vectors("bkdr_c");
  const auto probes = static_cast<unsigned>(data["seeds"].size());
  filter f = attached(*store(), "a", attachment_to("bits", family::bkdr, bits, probes));
  std::vector<std::uint64_t> expected;
  for (const auto& row : data["rows"]) {
    f.add(row["key"].get<std::string>());
    for (const std::uint64_t hash : row["hashes"]) expected.push_back(hash % bits);
  }
  EXPECT_TRUE(string_at("bits") == string_with(expected));
}

TEST_F(Attached, BkdrPhpHasTheBitsThatPhpSets) {
  constexpr std::uint64_t bits = 1'000'003;
  const auto data = vectors("php")["bkdr_php"];
  const auto probes = static_cast<unsigned>(data["seeds"].size());
  filter f = attached(*store(), "a", attachment_to("bits", family::bkdr_php, bits, probes));
  std::vector<std::uint64_t> expected;
  for (const auto& row : data["rows"]) {
    f.add(row["key"].get<std::string>());
    for (const std::uint64_t hash : row["hashes"]) expected.push_back(hash % bits);
  }
  EXPECT_TRUE(string_at("bits") == string_with(expected));
}

TEST_F(Attached, UidPhpHasTheBitsThatPhpSets) {
  filter f = attached(*store(), "a", attachment_to("bits", family::uid_php));
  std::vector<std::uint64_t> expected;
  const auto rows = vectors("php")["uid_php"]["rows"];
  for (const auto& row : rows) {
    f.add(row["key"].get<std::string>());
    for (const std::uint64_t p : row["offsets"]) expected.push_back(p);
  }
  EXPECT_TRUE(string_at("bits") == string_with(expected));
}

/// The bits of a recorded stream as a Redis string: without the zeros after the last set bit.
std::string string_of_stream(const nlohmann::json& row) {
  const auto stream = test::from_base64(row["writeTo_base64"].get<std::string>());
  const guava::filter recorded = guava::decode(stream);
  const auto bits = recorded.bits();
  std::string text(reinterpret_cast<const char*>(bits.data()), bits.size());
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

TEST_F(Attached, GuavaOfStringsHasTheBitsThatGuavaSets) {
  const auto row = vectors("guava")["filters"][0];
  const auto shape = guava::smallest(guava::strategy::mitz_64, row["expectedInsertions"], row["fpp"]);
  filter f = attached(*store(), "a", attachment_to("g", family::guava64, shape.bits(), shape.probes));
  const auto keys = vectors("guava")["keys"];
  for (const auto& each : keys) f.add(each["key"].get<std::string>());
  EXPECT_TRUE(string_at("g") == string_of_stream(row));
}

TEST_F(Attached, GuavaOfLongsHasTheBitsThatGuavaSets) {
  const auto row = vectors("guava")["filters"][1];
  const auto shape = guava::smallest(guava::strategy::mitz_64, row["expectedInsertions"], row["fpp"]);
  attachment a = attachment_to("g", family::guava64, shape.bits(), shape.probes);
  a.funnel = funnel_kind::int64;
  filter f = attached(*store(), "a", a);
  for (std::int64_t i = 0; i < 64; ++i) f.add(std::to_string(i * i * 31 - 7 * i - 1000));
  EXPECT_TRUE(string_at("g") == string_of_stream(row));
}

// -- Verdicts. --

struct command_case {
  std::string commands;
  family which;
  unsigned probes;
};

void PrintTo(const command_case& c, std::ostream* out) {
  *out << c.commands << ' ' << facts(c.which).name << ' ' << c.probes;
}

class AttachedModel : public Attached, public ::testing::WithParamInterface<command_case> {};

TEST_P(AttachedModel, JudgesAsABitArrayInMemoryAndSetsTheSameBits) {
  const command_case& c = GetParam();
  const attachment a = attachment_to("shared", c.which, 30'011, c.probes);
  filter f = attached(*store("?commands=" + c.commands), "a", a);
  naive_bits model(a.hashing);
  std::mt19937_64 random(3);
  std::vector<std::string> known = random_keys(1, 99);
  for (int batch = 0; batch < 6; ++batch) {
    std::vector<std::string> keys = random_keys(700, static_cast<std::uint64_t>(batch));
    for (int i = 0; i < 600; ++i) keys.push_back(known[random() % known.size()]);
    for (int i = 0; i < 200; ++i) keys.push_back(keys[random() % keys.size()]);  // again in this batch
    std::ranges::shuffle(keys, random);
    known.insert(known.end(), keys.begin(), keys.end());
    const auto got = add_to(f, keys);
    ASSERT_TRUE(got.result) << got.result.error().message;
    std::vector<verdict> expected;
    for (const std::string& key : keys) expected.push_back(model.add(key));
    ASSERT_EQ(got.verdicts, expected) << batch;
    ASSERT_TRUE(string_at("shared") == model.bytes()) << batch;
    EXPECT_THAT(look_in(f, keys).verdicts, Each(verdict::seen));
  }
  EXPECT_EQ(f.stored().path().text, "redis, attached, " + c.commands);
}

INSTANTIATE_TEST_SUITE_P(CommandSets, AttachedModel,
                         ::testing::Values(command_case{"script", family::gozero, 14},
                                           command_case{"script", family::bkdr, 1},
                                           command_case{"script", family::bkdr_php, 16},
                                           command_case{"script", family::guava32, 33},
                                           command_case{"script", family::guava64, 64},
                                           command_case{"bitfield", family::gozero, 14},
                                           command_case{"bitfield", family::guava64, 64}),
                         [](const auto& one) {
                           std::string name = one.param.commands + "_" +
                                              std::string(facts(one.param.which).name) + "_" +
                                              std::to_string(one.param.probes);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_F(Attached, BothProgramsSeeTheKeysOfTheOther) {
  const attachment a = attachment_to("shared", family::gozero);
  filter f = attached(*store(), "a", a);
  for (const std::string& key : random_keys(50, 1)) {
    add_as_original(server(), a, key);
    EXPECT_EQ(f.add(key), verdict::seen);
  }
  for (const std::string& key : random_keys(50, 2)) {
    EXPECT_FALSE(is_known_to_original(server(), a, key));
    EXPECT_EQ(f.add(key), verdict::fresh);
    EXPECT_TRUE(is_known_to_original(server(), a, key));
  }
}

// Promise: of many clients that add a key exactly one gets fresh (foreign-filters, Attached filters).
TEST_F(Attached, OfManyClientsOfScriptsAndBitfieldOneGetsFreshForEachKey) {
  const attachment a = attachment_to("shared", family::gozero, 10'000'019);
  attach(store()->servers(), "a", a, missing_key::create);
  const std::vector<std::string> keys = random_keys(3'000, 5);
  std::vector<std::atomic<int>> fresh(keys.size());
  {
    std::vector<std::jthread> clients;
    for (int c = 0; c < 6; ++c)
      clients.emplace_back([&, c] {
        filter f("a",
                 store(c % 2 == 0 ? "?commands=script" : "?commands=bitfield")->open("a", access::write));
        for (std::size_t from = 0; from < keys.size(); from += 250) {
          const std::vector<std::string> some(keys.begin() + static_cast<std::ptrdiff_t>(from),
                                              keys.begin() + static_cast<std::ptrdiff_t>(from) + 250);
          const auto got = add_to(f, some);
          for (std::size_t i = 0; i < some.size(); ++i) fresh[from + i] += got.verdicts[i] == verdict::fresh;
        }
      });
  }
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(fresh[i], 1) << i;
}

TEST_F(Attached, ServerWithoutScriptsIsUsedByBitfield) {
  server().run({"ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", "-@scripting"});
  const std::string url = "redis://plain:secret@" + server().address();
  filter f = attached(*store_at(url), "a", attachment_to("shared", family::guava64));
  const std::vector<std::string> keys = {"one", "two", "one"};
  EXPECT_THAT(add_to(f, keys).verdicts, ElementsAre(verdict::fresh, verdict::fresh, verdict::seen));
  EXPECT_THAT(look_in(f, {"two", "three"}).verdicts, ElementsAre(verdict::seen, verdict::fresh));
  EXPECT_EQ(f.stored().path().text, "redis, attached, bitfield");
  server().run({"ACL", "DELUSER", "plain"});
}

// A refused command says nothing about the later commands in the pipeline: their keys were added.
TEST_F(Attached, RefusedKeyDoesNotAffectTheVerdictsOfOthers) {
  const redis_server strict;
  constexpr std::uint64_t bits = std::uint64_t{16} << 20;
  const attachment a = attachment_to("shared", family::guava64, bits, 1);
  strict.run({"SETBIT", "shared", std::to_string(bits - 1), "0"});
  filter f = attached(*store_at(strict.url("?commands=bitfield")), "a", a);
  strict.run({"CONFIG", "SET", "proto-max-bulk-len", "1048576"});  // no bit above 8 Mi is set or read
  const std::vector<std::string> keys = random_keys(40, 1);
  std::vector<verdict> expected;
  for (const std::string& key : keys) {
    std::uint64_t position = 0;
    positions(a.hashing, key, {&position, 1});
    expected.push_back(position < bits / 2 ? verdict::fresh : verdict::unknown);
  }
  const auto first_refused = std::ranges::find(expected, verdict::unknown);
  ASSERT_NE(std::find(first_refused, expected.end(), verdict::fresh), expected.end());
  const auto got = add_to(f, keys);
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.verdicts, expected);
  EXPECT_EQ(got.result.error().done.unknown,
            static_cast<std::uint64_t>(std::ranges::count(expected, verdict::unknown)));
}

// Promise: nothing is added that no replica would acknowledge (foreign-filters, Attached filters).
TEST_F(Attached, NothingIsAddedThatNoReplicaWouldAcknowledge) {
  attach(store()->servers(), "a", attachment_to("shared", family::gozero), missing_key::create);
  for (const char* commands : {"script", "bitfield"}) {
    filter f("a", store(std::string("?wait=1&timeout=300ms&retry_for=100ms&commands=") + commands)
                      ->open("a", access::write));
    const auto got = add_to(f, {"one"});
    ASSERT_FALSE(got.result);
    EXPECT_THAT(got.result.error().message, HasSubstr("nothing was added")) << commands;
    EXPECT_EQ(server().run({"BITCOUNT", "shared"}), "0") << commands;
  }
}

TEST_F(Attached, UserWithReadRightsLooksUp) {
  filter f = attached(*store(), "a", attachment_to("shared", family::gozero));
  f.add("one");
  server().run({"ACL", "SETUSER", "reader", "on", ">secret", "%R~*", "&*", "+@all"});
  const filter reader("a", store_at("redis://reader:secret@" + server().address())->open("a", access::read));
  EXPECT_THAT(look_in(reader, {"one", "two"}).verdicts, ElementsAre(verdict::seen, verdict::fresh));
  server().run({"ACL", "DELUSER", "reader"});
}

TEST_F(Attached, UserWithoutRightsToOurOwnKeysGetsAnErrorThatNamesThem) {
  attach(store()->servers(), "a", attachment_to("shared", family::gozero), missing_key::create);
  server().run({"ACL", "SETUSER", "half", "on", ">secret", "~shared", "~everseen:{*", "&*", "+@all"});
  filter f("a", store_at("redis://half:secret@" + server().address())->open("a", access::write));
  const auto got = add_to(f, {"one"});
  server().run({"ACL", "DELUSER", "half"});
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("begin with everseen:" + id_at(server(), "a") + ":"));
}

TEST_F(Attached, FunnelIsVisibleToUpperLayers) {
  attachment a = attachment_to("shared", family::guava64, 6'400);
  a.funnel = funnel_kind::int32;
  EXPECT_EQ(attached(*store(), "a", a).get_spec().foreign.funnel, funnel_kind::int32);
}

TEST_F(Attached, LookUpWritesNothing) {
  filter f = attached(*store(), "a", attachment_to("shared", family::gozero));
  f.add("one");
  server().run({"CONFIG", "SET", "maxmemory", "1"});  // commands that might write are refused now
  EXPECT_THAT(look_in(f, {"one", "two"}).verdicts, ElementsAre(verdict::seen, verdict::fresh));
  EXPECT_THAT(add_to(f, {"three"}).result.error().message, HasSubstr("maxmemory"));
  server().run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(f.add("three"), verdict::fresh) << "refused commands left no bit";
}

// -- The key belongs to its program. --

// Promise: a key keeps its time to live, and nothing is written beside it (foreign-filters, Attached
// filters).
TEST_F(Attached, KeyKeepsItsTimeToLiveAndNothingIsWrittenBesideIt) {
  server().run({"SETBIT", "{bloom}:uids", "5", "1"});
  server().run({"EXPIRE", "{bloom}:uids", "1000"});
  filter f = attached(*store(), "a", attachment_to("{bloom}:uids", family::gozero), missing_key::refuse);
  (void)add_to(f, random_keys(100, 1));
  EXPECT_GT(std::stoi(server().run({"TTL", "{bloom}:uids"})), 900);
  for (const std::string& key : keys_like(server(), "*"))
    EXPECT_THAT(key, AnyOf("{bloom}:uids", StartsWith("everseen")));
}

TEST_F(Attached, DropRemovesTheNameAndLeavesTheBits) {
  const auto place = store();
  filter f = attached(*place, "a", attachment_to("shared", family::gozero));
  f.add("one");
  const std::string bits = string_at("shared");
  place->drop("a");
  EXPECT_FALSE(place->exists("a"));
  EXPECT_THAT(place->list(), ElementsAre());
  EXPECT_TRUE(string_at("shared") == bits);
  for (const std::string& key : keys_like(server(), "everseen*")) EXPECT_THAT(key, HasSubstr(":t:"));
  filter again = attached(*place, "a", attachment_to("shared", family::gozero), missing_key::refuse);
  EXPECT_EQ(again.add("one"), verdict::seen);
}

// Promise: another name leads to the same bits (foreign-filters, Attached filters).
TEST_F(Attached, AnotherNameLeadsToTheSameBits) {
  const auto place = store();
  filter f = attached(*place, "a", attachment_to("shared", family::gozero));
  f.add("one");
  (void)attached(*place, "b", attachment_to("other", family::gozero));
  EXPECT_THROW(place->rename("a", "b", store::namesake::refuse), name_taken);
  place->rename("a", "b", store::namesake::replace);
  EXPECT_THAT(place->list(), ElementsAre("b"));
  EXPECT_EQ(filter("b", place->open("b", access::write)).add("one"), verdict::seen);
  EXPECT_EQ(f.add("two"), verdict::fresh) << "clients that have it open continue";
}

TEST_F(Attached, WriterFinishesAnIncompleteAttachment) {
  const auto place = store();
  (void)attached(*place, "a", attachment_to("shared", family::gozero));
  const std::string header = key_like(server(), "everseen:{????????????????????????????????}");
  EXPECT_EQ(server().run({"TTL", header}), "-1");
  server().run({"EXPIRE", header, "1000"});  // as if its creator had crashed
  EXPECT_NO_THROW((void)place->open("a", access::read));
  EXPECT_NE(server().run({"TTL", header}), "-1");
  EXPECT_NO_THROW((void)place->open("a", access::write));
  EXPECT_EQ(server().run({"TTL", header}), "-1");
}

TEST_F(Attached, LostOrDamagedHeaderIsAnErrorAndMayBeDropped) {
  const auto place = store();
  for (const bool is_lost : {false, true}) {
    (void)attached(*place, "a", attachment_to("shared", family::gozero));
    const std::string header = key_like(server(), "everseen:{????????????????????????????????}");
    is_lost ? server().run({"DEL", header}) : server().run({"HSET", header, "attached", "other"});
    EXPECT_THAT(message_of<format_error>([&] { (void)place->open("a", access::write); }), HasSubstr(header));
    EXPECT_TRUE(place->exists("a"));
    place->drop("a");
    EXPECT_FALSE(place->exists("a"));
    EXPECT_EQ(server().run({"EXISTS", header}), "0");
  }
}

TEST_F(Attached, ResetAndRebuildAreRefused) {
  const auto place = store();
  filter f = attached(*place, "a", attachment_to("shared", family::gozero));
  f.add("one");
  const std::string bits = string_at("shared");
  EXPECT_THAT(message_of<parameter_error>([&] { place->reset("a"); }), HasSubstr("another program's"));
  EXPECT_THAT(message_of<parameter_error>([&] { (void)place->begin_rebuild("a", f.get_spec(), {}); }),
              HasSubstr("another program's"));
  EXPECT_TRUE(string_at("shared") == bits);
}

TEST_F(Attached, NameIsGivenOnce) {
  const auto place = store();
  (void)attached(*place, "a", attachment_to("one", family::gozero));
  EXPECT_THROW(attach(place->servers(), "a", attachment_to("two", family::gozero), missing_key::create),
               name_taken);
  (void)place->create("b", place->plan({.capacity = 100}));
  EXPECT_THROW(attach(place->servers(), "b", attachment_to("two", family::gozero), missing_key::create),
               name_taken);
  EXPECT_THROW((void)place->create("a", place->plan({.capacity = 100})), name_taken);
}

TEST_F(Attached, RecordIsReadBackAndDamageIsDetected) {
  attachment a = attachment_to("base", family::guava64, 6400, 7);
  a.funnel = funnel_kind::chars;
  a.shape = attachment::form::growing;
  a.cursor = "cursor";
  const std::string record = encode(a);
  EXPECT_EQ(decode_attachment(record, "base", "cursor"), a);
  EXPECT_THROW((void)decode_attachment(record.substr(1), "base", "cursor"), format_error);
  for (std::size_t position = 0; position < record.size(); ++position) {
    std::string damaged = record;
    damaged[position] = static_cast<char>(damaged[position] ^ 1);
    EXPECT_THROW((void)decode_attachment(damaged, "base", "cursor"), format_error) << position;
  }
}

// -- Errors are reported. --

TEST_F(Attached, MissingKeyIsRefusedUnlessItMayBeCreated) {
  const auto place = store();
  const attachment a = attachment_to("bloom:uids", family::gozero);
  EXPECT_THAT(message_of<parameter_error>([&] { attach(place->servers(), "a", a, missing_key::refuse); }),
              HasSubstr("no key bloom:uids"));
  EXPECT_FALSE(place->exists("a"));
  filter f = attached(*place, "a", a);
  EXPECT_EQ(server().run({"EXISTS", "bloom:uids"}), "0");
  EXPECT_FALSE(f.may_contain("one"));
  EXPECT_EQ(server().run({"EXISTS", "bloom:uids"}), "0") << "a look-up creates nothing";
  EXPECT_EQ(f.add("one"), verdict::fresh);
  EXPECT_EQ(server().run({"EXISTS", "bloom:uids"}), "1");
}

TEST_F(Attached, DeletedKeyIsEmptyAsForItsProgramAndInfoReportsIt) {
  filter f = attached(*store(), "a", attachment_to("shared", family::gozero));
  f.add("one");
  server().run({"DEL", "shared"});
  EXPECT_FALSE(f.may_contain("one"));
  EXPECT_THAT(behind(f).missing(behind(f).survey()), ElementsAre(HasSubstr("does not exist")));
  EXPECT_THAT(behind(f).lost_strings(), ElementsAre()) << "it may not have been created yet";
}

TEST_F(Attached, KeyThatExistedAndIsMissingIsLost) {
  server().run({"SETBIT", "shared", "5", "1"});
  const filter f = attached(*store(), "a", attachment_to("shared", family::gozero), missing_key::refuse);
  EXPECT_THAT(behind(f).lost_strings(), ElementsAre());
  server().run({"DEL", "shared"});
  EXPECT_THAT(behind(f).lost_strings(), ElementsAre(HasSubstr("was there when it was attached")));
}

// Promise: a string that is longer than its bits is an error (foreign-filters, Attached filters).
TEST_F(Attached, StringThatIsTooLongIsNotTheFilter) {
  server().run({"SETBIT", "shared", "1000", "1"});
  const attachment a = attachment_to("shared", family::gozero, 1'000);
  EXPECT_THAT(message_of<format_error>([&] { attach(store()->servers(), "a", a, missing_key::refuse); }),
              HasSubstr("shared is longer than the 1000 bits"));
  server().run({"DEL", "shared"});
  attach(store()->servers(), "a", a, missing_key::create);
  server().run({"SETBIT", "shared", "1000", "1"});
  const std::string bits = string_at("shared");
  for (const char* commands : {"?commands=script", "?commands=bitfield"}) {
    filter f("a", store(commands)->open("a", access::write));
    EXPECT_THAT(message_of<format_error>([&] { f.add("one"); }), HasSubstr("longer than the 1000 bits"))
        << commands;
    EXPECT_THAT(message_of<format_error>([&] { (void)f.may_contain("one"); }), HasSubstr("longer"))
        << commands;
  }
  EXPECT_TRUE(string_at("shared") == bits);
}

TEST_F(Attached, KeyOfAnotherTypeIsNotTheFilter) {
  filter f = attached(*store(), "a", attachment_to("shared", family::gozero));
  server().run({"SADD", "shared", "one"});
  for (const char* commands : {"?commands=script", "?commands=bitfield"}) {
    filter g("a", store(commands)->open("a", access::write));
    EXPECT_THAT(message_of<format_error>([&] { g.add("one"); }), HasSubstr("shared is no string"))
        << commands;
  }
  EXPECT_THAT(message_of<format_error>([&] {
                attach(store()->servers(), "b", attachment_to("shared", family::gozero), missing_key::refuse);
              }),
              HasSubstr("no string"));
}

// Promise: a number of bits that cannot be right is reported (foreign-filters, Attached filters).
TEST_F(Attached, ImplausibleNumberOfBitsIsDoubted) {
  const attachment a = attachment_to("shared", family::gozero, 10'007);
  for (const std::string& key : random_keys(100, 1)) add_as_original(server(), a, key);
  filter right = attached(*store(), "right", a);
  filter wrong = attached(*store(), "wrong", attachment_to("shared", family::gozero, 100'003));
  EXPECT_THAT(behind(right).doubts(behind(right).survey()), ElementsAre());
  EXPECT_THAT(behind(wrong).doubts(behind(wrong).survey()), ElementsAre(HasSubstr("fewer than 100003 bits")));
}

TEST_F(Attached, HashesThatPerformWorseThanTheirFormulaAreDoubted) {
  const auto doubts = [&](const attachment& a) {
    const attached_filter f(nullptr, a, "", access::read);
    bitmap whole;
    whole.bytes = 1;
    return f.doubts({whole});
  };
  EXPECT_THAT(doubts(attachment_to("a", family::bkdr_php, 1'000'003, 16)),
              ElementsAre(HasSubstr("8 probes")));
  EXPECT_THAT(doubts(attachment_to("a", family::bkdr_php, 1'000'003, 8)), ElementsAre());
  EXPECT_THAT(doubts(attachment_to("a", family::bkdr, std::uint64_t{1} << 32)),
              ElementsAre(HasSubstr("31 bits")));
  EXPECT_THAT(doubts(attachment_to("a", family::uid_php)), ElementsAre(HasSubstr("30 bytes")));
}

TEST_F(Attached, KeyThatTheFunnelRefusesIsUnknownAndTheOthersAreJudged) {
  attachment a = attachment_to("shared", family::guava64, 6'400);
  a.funnel = funnel_kind::int32;
  filter f = attached(*store(), "a", a);
  const auto got = add_to(f, {"1", "two", "3"});
  EXPECT_THAT(got.verdicts, ElementsAre(verdict::fresh, verdict::unknown, verdict::fresh));
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("'two'"));
}

TEST_F(Attached, FilterThatFitsNoStringIsRefused) {
  const auto refusal = [&](const attachment& a) {
    return message_of<parameter_error>([&] { attach(store()->servers(), "a", a, missing_key::create); });
  };
  EXPECT_THAT(refusal(attachment_to("a", family::gozero, (std::uint64_t{1} << 32) + 1)),
              HasSubstr("4294967296"));
  EXPECT_THAT(refusal(attachment_to("a", family::gozero, 1'000, 13)), HasSubstr("always has 14 probes"));
  EXPECT_THAT(refusal(attachment_to("a", family::guava64, 1'000, 65)), HasSubstr("64 probes"));
  EXPECT_THAT(refusal(attachment_to("a", family::redisbloom)), HasSubstr("BF.SCANDUMP"));
  EXPECT_THAT(refusal(attachment_to("", family::gozero)), HasSubstr("empty name"));
  attachment funnelled = attachment_to("a", family::gozero);
  funnelled.funnel = funnel_kind::chars;
  EXPECT_THAT(refusal(funnelled), HasSubstr("--funnel"));
}

TEST_F(Attached, SeveralServersAreRefusedInsteadOfGuessing) {
  redis_server other;
  const auto both = store_at("redis://" + server().address() + "," + other.address());
  EXPECT_THAT(message_of<parameter_error>([&] {
                attach(both->servers(), "a", attachment_to("shared", family::gozero), missing_key::create);
              }),
              HasSubstr("which of the servers"));
}

TEST_F(Attached, ReaderAddsNothing) {
  (void)attached(*store(), "a", attachment_to("shared", family::gozero));
  filter reader("a", store()->open("a", access::read));
  EXPECT_THAT(message_of<storage_error>([&] { reader.add("one"); }), HasSubstr("for reading"));
  EXPECT_FALSE(reader.may_contain("one"));
}

TEST_F(Attached, DigestsAreNotKeys) {
  filter f = attached(*store(), "a", attachment_to("shared", family::gozero));
  const digest d{1, 2};
  verdict out = verdict::unknown;
  EXPECT_THROW((void)f.add_digests({&d, 1}, {&out, 1}), parameter_error);
}

// -- How full it is. --

TEST_F(Attached, KeysAndErrorRateAreEstimatedFromTheBits) {
  filter f = attached(*store(), "a", attachment_to("shared", family::gozero, 100'003));
  (void)add_to(f, random_keys(5'000, 1));
  const auto all = behind(f).survey();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NEAR(static_cast<double>(f.info().keys), 5'000, 100);
  const double expected = std::pow(1 - std::exp(-14 * 5'000 / 100'003.0), 14);
  EXPECT_NEAR(behind(f).error_rate_now(all) / expected, 1, 0.2);
  EXPECT_NEAR(f.info().error_rate_now / expected, 1, 0.2);
  EXPECT_EQ(f.info().places.at(0), server().address());
}

TEST_F(Attached, FiguresOfAnOverfilledOneAreThoseOfItsBits) {
  filter f = attached(*store(), "a", attachment_to("shared", family::gozero, 100'003));
  std::uint64_t wrong = 0;
  for (std::uint64_t some = 0; some < 200; ++some) wrong += add_to(f, random_keys(100, some)).result->seen;
  EXPECT_NEAR(static_cast<double>(f.info().keys), 20'000, 400);
  EXPECT_NEAR(f.info().error_rate_now / behind(f).error_rate_now(behind(f).survey()), 1, 0.01);
  EXPECT_NEAR(f.info().expected_false_seen / static_cast<double>(wrong), 1, 0.1);
  EXPECT_EQ(server().run({"INFO", "commandstats"}).find("getrange"), std::string::npos)
      << "they are counted there";
}

/// From a line of INFO, or from the counters of a command.
int number_after(const std::string& text, const std::string& name) {
  const std::size_t position = text.find(name);
  return position == std::string::npos ? 0 : std::stoi(text.substr(position + name.size()));
}

// Promise: bits are counted in few ranges at a time, and not for every question (foreign-filters, Attached
// filters).
TEST_F(Attached, BitsAreCountedInFewRangesAtATime) {
  constexpr std::uint64_t bits = std::uint64_t{160} << 20;  // 20 ranges of a megabyte
  filter f = attached(*store(), "a", attachment_to("shared", family::gozero, bits));
  server().run({"SETBIT", "shared", std::to_string(bits - 1), "1"});
  server().run({"SETBIT", "shared", "8388608", "1"});  // the first bit of the second range
  server().run({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(behind(f).survey().at(0).set_bits, 2u);
  EXPECT_EQ(number_after(server().run({"INFO", "commandstats"}), "cmdstat_bitcount:calls="), 20);
  EXPECT_GE(number_after(server().run({"INFO", "stats"}), "total_reads_processed:"), 10)
      << "between two reads of one client the server serves the others";
}

// Promise: bits are counted in few ranges at a time, and not for every question (foreign-filters, Attached
// filters).
TEST_F(Attached, BitsOfALongStringAreNotCountedForEveryQuestion) {
  constexpr std::uint64_t bits = std::uint64_t{2048} << 20;  // a count is valid for half a minute
  filter f = attached(*store(), "a", attachment_to("shared", family::gozero, bits));
  f.add("one");
  const auto first = f.info();
  server().run({"CONFIG", "RESETSTAT"});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(f.info().keys, first.keys);
  EXPECT_EQ(number_after(server().run({"INFO", "commandstats"}), "cmdstat_bitcount:calls="), 0);
}

TEST_F(Attached, SegmentsAreTheUnchangedStrings) {
  filter f = attached(*store(), "a", attachment_to("shared", family::gozero));
  (void)add_to(f, random_keys(100, 1));
  std::string bits;
  f.stored().visit_segments(0, [&](const segment_id&, const layer_state&, std::span<const std::byte> bytes) {
    bits.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  EXPECT_TRUE(bits == string_at("shared"));
}

TEST_F(Attached, BitsOfAKeyAreShownUnchanged) {
  const attachment a = attachment_to("shared", family::gozero);
  filter f = attached(*store(), "a", a);
  f.add("one");
  const auto known = behind(f).foreign_bits_of("one")->strings;
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].string, "shared");
  EXPECT_THAT(known[0].set, Each(true));
  std::vector<std::uint64_t> expected(14);
  positions(a.hashing, "one", expected);
  EXPECT_EQ(known[0].positions, expected);
  EXPECT_THAT(behind(f).foreign_bits_of("two")->strings.at(0).set, Not(Each(true)));
}

}  // namespace
}  // namespace everseen::foreign
