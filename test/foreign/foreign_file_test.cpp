// Files of other systems that are damaged, contradict themselves or have another format.

#include "everseen/foreign/foreign_file.hpp"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/bytes.hpp"
#include "everseen/filter/filter_chunks.hpp"
#include "everseen/open_store.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/foreign/vectors.hpp"
#include "test/support/samples/foreign_files.hpp"

namespace everseen {
namespace {

using namespace test;
using foreign::guava::strategy;
using redisbloom::chain;
using testing::HasSubstr;
using testing::ThrowsMessage;

class ForeignFile : public testing::Test {
 protected:
  std::shared_ptr<store> store_ = open_store("mem:");

  template <typename Error = format_error>
  void refuses_guava(const foreign_source& from, const std::string& why) {
    EXPECT_THAT([&] { import_guava(*store_, "g", from, {}); }, ThrowsMessage<Error>(HasSubstr(why)));
    EXPECT_FALSE(store_->exists("g"));
  }
  template <typename Error = format_error>
  void refuses_redisbloom(const foreign_source& from, const std::string& why) {
    EXPECT_THAT([&] { import_redisbloom(*store_, "r", from); }, ThrowsMessage<Error>(HasSubstr(why)));
    EXPECT_FALSE(store_->exists("r"));
  }
};

std::string guava_of_strings() {
  foreign::guava::filter f(foreign::guava::smallest(strategy::mitz_64, 100, 0.01));
  for (int i = 0; i < 100; ++i) f.add(std::to_string(i));
  return stream_of(f);
}

chain grown_chain() {
  chain c = chain::reserve({0.01, 100, 2, true});
  for (int i = 0; i < 650; ++i) c.add(std::to_string(i));
  return c;
}

TEST_F(ForeignFile, OfGuavaThatIsCutOffIsRefused) {
  const std::string whole = guava_of_strings();
  for (const std::size_t length : {std::size_t{0}, std::size_t{5}, std::size_t{6}, whole.size() - 1}) {
    const std::string cut = whole.substr(0, length);
    refuses_guava(file_of(cut), "not a Guava filter");
    refuses_guava(pipe_of(cut, 7), "not a Guava filter");
  }
}

TEST_F(ForeignFile, OfGuavaThatIsTooLongIsRefused) {
  const std::string longer = guava_of_strings() + '\0';
  refuses_guava(file_of(longer), "promises");
  refuses_guava(pipe_of(longer), "more bytes follow");
}

TEST_F(ForeignFile, OfGuavaThatAnnouncesMoreThanItHasIsRefusedWithoutAllocating) {
  const std::string huge("\x01\x05\x7f\xff\xff\xff", 6);
  refuses_guava(file_of(huge), "promises 17179869176 bytes");
}

TEST_F(ForeignFile, OfGuavaWithMoreProbesThanEverseenSetsIsRefused) {
  std::string many = guava_of_strings();
  many[1] = 65;
  refuses_guava<parameter_error>(file_of(many), "sets 65 bits a key");
}

TEST_F(ForeignFile, OfGuavaAnswersAsRecorded) {
  const auto row = vectors("guava")["filters"][0];
  const std::string stream = as_text(from_base64(row["writeTo_base64"].get<std::string>()));
  import_guava(*store_, "g", file_of(stream), {});
  const filter f("g", store_->open("g", access::read));
  const std::string answers = row["probe_mightContain"];
  for (std::size_t i = 0; i < answers.size(); ++i)
    EXPECT_EQ(f.may_contain(row["probe_prefix"].get<std::string>() + std::to_string(i)), answers[i] == '1');
  EXPECT_EQ(exported_guava(f), stream);
}

// Promise: a chain of RedisBloom continues byte for byte, in every store (foreign-filters, Imported filters).
TEST_F(ForeignFile, OfRedisBloomAnswersAsRecordedAndIsWrittenBack) {
  const auto recorded = vectors("redisbloom");
  for (const auto& row : recorded["filters"]) {
    std::string commands;
    for (const auto& chunk : row["scandump"])
      commands += load_chunk("bloom", chunk["iterator"],
                             as_text(from_base64(chunk["data_base64"].get<std::string>())));
    import_redisbloom(*store_, "r", file_of(commands));
    const filter f("r", store_->open("r", access::read));
    const std::string answers = row["mexists_replies"];
    const std::string pattern = row["probe_pattern"];
    for (std::size_t i = 0; i < answers.size(); ++i)
      EXPECT_EQ(f.may_contain(pattern.substr(0, pattern.find("<i>")) + std::to_string(i)), answers[i] == '1');
    EXPECT_EQ(exported_redisbloom(f), commands);
    EXPECT_EQ(f.info().keys, row["info"]["Number of items inserted"]);
    store_->drop("r");
  }
}

TEST_F(ForeignFile, OfRedisBloomIsReadInPiecesAndChunksOfAnySize) {
  const chain c = grown_chain();
  for (const std::size_t chunk_bytes : {1U, 13U, 64U, 100'000U}) {
    import_redisbloom(*store_, "r", pipe_of(commands_of(c, "k", chunk_bytes), 11));
    EXPECT_EQ(exported_redisbloom({"r", store_->open("r", access::read)}), commands_of(c));
    store_->drop("r");
  }
}

TEST_F(ForeignFile, OfRedisBloomThatIsCutOffAnywhereIsRefused) {
  const std::string whole = commands_of(grown_chain(), "k", 100);
  for (std::size_t length = 0; length < whole.size(); length += 1 + length / 50)
    refuses_redisbloom(pipe_of(whole.substr(0, length)), "");
}

TEST_F(ForeignFile, OfOtherCommandsIsRefused) {
  const std::string whole = commands_of(grown_chain());
  refuses_redisbloom(file_of("hello"), "not a file of BF.LOADCHUNK commands");
  refuses_redisbloom(file_of("*4\r\n$12\r\nBF.LOADCHUNK\r\n$99999999999999999999\r\n"), "length");
  refuses_redisbloom(file_of("*4\r\n$12\r\nBF.LOADCHUNK\r\n$1\r\nk\r\n$1\r\nx\r\n$0\r\n\r\n"), "iterator");
  refuses_redisbloom(file_of(whole + "x"), "something else");
  refuses_redisbloom(file_of(whole + load_chunk("bloom", 9, "x")), "is past its end");
}

TEST_F(ForeignFile, OfRedisBloomForTwoKeysIsRefused) {
  const chain c = grown_chain();
  const std::string one = commands_of(c, "one");
  const std::string other = commands_of(c, "other");
  refuses_redisbloom(file_of(one.substr(0, one.find("*4", 1)) + other.substr(other.find("*4", 1))),
                     "for the keys one and other");
}

TEST_F(ForeignFile, OfRedisBloomThatAnnouncesMoreThanItHasIsRefusedWithoutAllocating) {
  chain huge = chain::reserve({0.01, 100, 2, true});
  huge.layers[0].capacity = std::uint64_t{1} << 40;
  std::string commands = commands_of(huge);
  const std::size_t header = commands.find("\r\n", commands.find("$73")) + 2;
  const double bits = std::floor(static_cast<double>(huge.layers[0].capacity) * huge.layers[0].bits_per_key);
  const auto bytes = static_cast<std::uint64_t>(std::ceil(bits / 64)) * 8;
  store_le(commands.data() + header + 20, bytes);
  store_le(commands.data() + header + 28, 8 * bytes);
  refuses_redisbloom(file_of(commands), "the file has");
}

/// The commands of a chain that its own system would not have created in this form.
std::string tampered(const std::function<void(chain&)>& change) {
  chain c = grown_chain();
  change(c);
  return commands_of(c);
}

TEST_F(ForeignFile, OfRedisBloomThatCannotContinueByItsRulesIsRefused) {
  refuses_redisbloom(file_of(tampered([](chain& x) { x.expansion = 3; })), "its expansion of 3 gives 300");
  refuses_redisbloom(file_of(tampered([](chain& x) { x.flags |= redisbloom::flags::fixed_size; })),
                     "must not grow");
  refuses_redisbloom(
      file_of(tampered([](chain& x) { x.layers[0].bits.resize(x.layers[0].bits.size() + 64); })),
      "its capacity and rate need");
  refuses_redisbloom(file_of(tampered([](chain& x) { x.layers[1] = x.layers[0]; })), "");
  refuses_redisbloom(file_of(tampered([](chain& x) { x.flags &= ~redisbloom::flags::exact_size; })),
                     "layer 0 uses");
}

TEST_F(ForeignFile, OfRedisBloomWithMoreLayersThanOursContinues) {
  chain theirs = chain::reserve({0.4, 1, 1, true});
  for (int i = 0; theirs.layers.size() < 100; ++i) theirs.add(std::to_string(i));
  import_redisbloom(*store_, "r", file_of(commands_of(theirs)));
  filter ours("r", store_->open("r", access::write));
  for (int i = 0; theirs.layers.size() < 300; ++i)
    ASSERT_EQ(ours.add("more " + std::to_string(i)), theirs.add("more " + std::to_string(i))) << i;
  EXPECT_EQ(exported_redisbloom(ours), commands_of(theirs));
}

// Promise: a chain of RedisBloom ends where RedisBloom's own does (foreign-filters, Imported filters).
TEST_F(ForeignFile, OfRedisBloomEndsWhereItsOwnSystemEndsIt) {
  chain theirs = chain::reserve({0.4, 1, 1, true});
  EXPECT_THROW(for (int i = 0;; ++i) theirs.add(std::to_string(i)), parameter_error);
  ASSERT_GT(theirs.layers.size(), 1'000U);
  import_redisbloom(*store_, "r", file_of(commands_of(theirs)));
  filter ours("r", store_->open("r", access::write));
  EXPECT_EQ(exported_redisbloom(ours), commands_of(theirs));
  EXPECT_THAT([&] { (void)ours.add("one more"); },
              ThrowsMessage<full_error>(HasSubstr("cannot grow further")));
  EXPECT_EQ(ours.add("1"), verdict::seen);
}

// A valid file that everseen cannot hold is not damage: the advice and the exit code differ.

TEST_F(ForeignFile, OfRedisBloomWithALowerRateThanEverseenSupportsIsRefused) {
  refuses_redisbloom<parameter_error>(file_of(commands_of(chain::reserve({1e-16, 100, 2, false}))),
                                      "migrate");
}

TEST_F(ForeignFile, OfRedisBloomWithTheHashOf32BitsIsRefused) {
  refuses_redisbloom<parameter_error>(
      file_of(tampered([](chain& x) { x.flags &= ~redisbloom::flags::wide_hash; })), "before version 2.0");
}

/// A store whose segments end early, as Redis's do.
class short_store final : public memory_store {
 public:
  [[nodiscard]] store_traits traits() const override {
    store_traits mine;
    mine.longest_segment_bytes = 64;
    return mine;
  }
};

TEST_F(ForeignFile, LongerThanTheStoresLimitIsRefused) {
  store_ = std::make_shared<short_store>();
  refuses_guava<parameter_error>(file_of(guava_of_strings()), "the store allows at most 64");
  refuses_redisbloom<parameter_error>(file_of(commands_of(grown_chain())), "the store allows at most 64");
}

/// Calls something between the first and the second request of an export, as another process may.
class watched_filter final : public stored_filter {
 public:
  watched_filter(std::shared_ptr<stored_filter> real, std::function<void()> between)
      : real_(std::move(real)), between_(std::move(between)) {}

  [[nodiscard]] const spec& get_spec() const noexcept override { return real_->get_spec(); }
  batch_result add(std::span<const partition_batch> batches) override { return real_->add(batches); }
  batch_result check(std::span<const partition_batch> batches) const override {
    return std::as_const(*real_).check(batches);
  }
  [[nodiscard]] partition_state state(std::uint32_t partition) const override {
    return real_->state(partition);
  }
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override {
    between_();
    real_->visit_segments(partition, visit);
  }
  void sync() override {}

 private:
  std::shared_ptr<stored_filter> real_;
  std::function<void()> between_;
};

// Promise: a filter that is emptied during its export is not written (foreign-filters, Imported filters).
TEST_F(ForeignFile, OfAFilterThatIsEmptiedMeanwhileIsNotWritten) {
  const auto emptied = [&](const std::string& name, bool filled_again) {
    import_redisbloom(*store_, name, file_of(commands_of(grown_chain())));
    return filter(name, std::make_shared<watched_filter>(store_->open(name, access::write), [=, this] {
                    store_->reset(name);
                    if (filled_again) filter(name, store_->open(name, access::write)).add("another");
                  }));
  };
  EXPECT_THAT([&] { (void)exported_redisbloom(emptied("a", false)); },
              ThrowsMessage<storage_error>(HasSubstr("emptied")));
  EXPECT_THROW((void)exported_redisbloom(emptied("b", true)), storage_error);
  EXPECT_THROW((void)dump_chunk(emptied("c", false), 1), storage_error);
  EXPECT_THROW((void)dump_chunk(emptied("d", true), 1), storage_error);
}

TEST_F(ForeignFile, OfAnEmptyFilterIsWrittenAsKeysArrive) {
  const filter f(
      "r",
      std::make_shared<watched_filter>(
          store_->create(
              "r", store_->plan({.capacity = 100, .error_rate = 0.01, .layout = layout_kind::redisbloom})),
          [&] { filter("r", store_->open("r", access::write)).add("early"); }));
  const std::string text = exported_redisbloom(f);
  import_redisbloom(*store_, "copy", file_of(text));
  EXPECT_TRUE(filter("copy", store_->open("copy", access::read)).may_contain("early"));
}

TEST_F(ForeignFile, IsWrittenOnlyForAFilterOfThatSystem) {
  const filter own("own", store_->create("own", store_->plan({})));
  EXPECT_THAT([&] { (void)exported_guava(own); }, ThrowsMessage<parameter_error>(HasSubstr("guava64")));
  EXPECT_THAT([&] { (void)exported_redisbloom(own); },
              ThrowsMessage<parameter_error>(HasSubstr("redisbloom")));
}

TEST_F(ForeignFile, IsNotImportedUnderAnExistingName) {
  (void)store_->create("g", store_->plan({}));
  EXPECT_THROW(import_guava(*store_, "g", file_of(guava_of_strings()), {}), name_taken);
}

TEST_F(ForeignFile, OfChainsOfPowersOfTwoContinuesWithThem) {
  chain theirs = chain_of_powers_of_two();
  import_redisbloom(*store_, "r", file_of(commands_of(theirs)));
  filter ours("r", store_->open("r", access::write));
  for (int i = 0; i < 900; ++i) ASSERT_EQ(ours.add(std::to_string(i)), theirs.add(std::to_string(i))) << i;
  EXPECT_GE(theirs.layers.size(), 3U);
  EXPECT_EQ(exported_redisbloom(ours), commands_of(theirs));
}

}  // namespace
}  // namespace everseen
