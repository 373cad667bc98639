#include "everseen/dedup/record/block_reader.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/record_ends.hpp"

#include "test/support/pipe.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/text_files.hpp"

namespace everseen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The texts of all blocks, each checked for the guarantees of every block.
std::vector<std::string> blocks(block_reader& reader, char separator = '\n') {
  std::vector<std::string> texts;
  for (block b; reader.next(b);) {
    EXPECT_FALSE(b.text().empty());
    EXPECT_EQ(b.text().back(), separator) << "a block ends with a whole record";
    EXPECT_EQ(b.number(), texts.size());
    texts.emplace_back(b.text());
    volatile char beyond = b.data()[b.text().size() + block_reader::padding - 1];  // may be read
    static_cast<void>(beyond);
  }
  return texts;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

std::string read(const std::vector<std::string>& paths, std::size_t block_bytes, char separator = '\n') {
  block_reader reader(paths, {separator}, block_bytes);
  return joined(blocks(reader, separator));
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Promise: the last record of each of several files is a record, with a separator or without (dedup, Keys and
// records).
TEST(BlockReader, ReturnsFilesRecordByRecord) {
  test::random_digests random(1);
  for (int round = 0; round < 200; ++round) {
    test::text_files files;
    std::string expected;
    const std::size_t count = 1 + random.word() % 4;
    for (std::size_t f = 0; f < count; ++f) {
      std::string text;
      const std::size_t length = random.word() % (random.word() % 2 == 0 ? 10 : 200);
      const std::uint64_t rarity = 2 + random.word() % 40;
      for (std::size_t i = 0; i < length; ++i) text += random.word() % rarity == 0 ? '\n' : 'x';
      files.make(text);
      expected += text;
      if (!text.empty() && text.back() != '\n') expected += '\n';
    }
    for (const std::size_t block_bytes : {1U, 2U, 3U, 7U, 16U, 50U, 64U, 1000U})
      ASSERT_EQ(read(files.paths(), block_bytes), expected) << "blocks of " << block_bytes;
  }
}

TEST(BlockReader, ReadsTheNextFileWhenTheLastSeparatorFillsTheBlock) {
  test::text_files files;
  files.make("abcdefg");  // with its separator exactly one block
  files.make("second\n");
  EXPECT_EQ(read(files.paths(), 8), "abcdefg\nsecond\n");
}

TEST(BlockReader, ReadsRecordsLongerThanABlock) {
  test::text_files files;
  const std::string text = std::string(100'000, 'a') + "\nb\n" + std::string(3'000, 'c') + "\nd";
  files.make(text);
  for (const std::size_t block_bytes : {1U, 10U, 4096U, 200'000U})
    EXPECT_TRUE(read(files.paths(), block_bytes) == text + "\n") << "blocks of " << block_bytes;
}

TEST(BlockReader, CutsBlocksAfterWholeRecords) {
  test::text_files files;
  files.make("aaa\nbbb\nccc\nddd\n");
  block_reader reader(files.paths(), {}, 9);
  EXPECT_THAT(blocks(reader), ElementsAre("aaa\nbbb\n", "ccc\nddd\n"));
}

TEST(BlockReader, ReadsNothingFromEmptyFiles) {
  test::text_files files;
  files.make("");
  files.make("");
  block_reader reader(files.paths(), {}, 100);
  block b;
  EXPECT_FALSE(reader.next(b));
  EXPECT_FALSE(reader.next(b)) << "the end remains the end";
}

TEST(BlockReader, KeepsEmptyRecordsAndCarriageReturns) {
  test::text_files files;
  files.make("\n\r\n\n\n");
  EXPECT_EQ(read(files.paths(), 2), "\n\r\n\n\n");
}

TEST(BlockReader, SeparatesByNul) {
  test::text_files files;
  files.make(std::string("a\nb\0c\0d\n", 8));
  EXPECT_EQ(read(files.paths(), 3, '\0'), std::string("a\nb\0c\0d\n\0", 9));
}

TEST(BlockReader, ReadsAPipeThatArrivesByteByByte) {
  test::pipe pipe;
  const std::string text = "first\nsecond\n\nlast without its end";
  std::jthread writer([&] {
    for (const char c : text) {
      pipe.write({&c, 1});
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    pipe.close_writer();
  });
  EXPECT_EQ(read({pipe.path()}, 1000), text + "\n");
  writer.join();
}

TEST(BlockReader, ReturnsALiveRecordBeforeThePipeIsClosed) {
  test::pipe pipe;
  block_reader reader({pipe.path()}, {}, 1 << 20);
  pipe.write("one\ntwo\nthr");
  block b;
  ASSERT_TRUE(reader.next(b));
  EXPECT_EQ(b.text(), "one\ntwo\n");
  pipe.write("ee\n");
  ASSERT_TRUE(reader.next(b));
  EXPECT_EQ(b.text(), "three\n");
  pipe.close_writer();
  EXPECT_FALSE(reader.next(b));
}

/// Another descriptor as standard input, for a scope.
class standard_input_from {
 public:
  explicit standard_input_from(int descriptor) : saved_(::dup(STDIN_FILENO)) {
    ::dup2(descriptor, STDIN_FILENO);
  }
  ~standard_input_from() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }
  standard_input_from(const standard_input_from&) = delete;
  standard_input_from& operator=(const standard_input_from&) = delete;

 private:
  int saved_;
};

TEST(BlockReader, ReadsStandardInputWhereNoFileIsNamed) {
  for (const std::vector<std::string>& paths : {std::vector<std::string>{}, {"-"}}) {
    test::pipe pipe;
    const standard_input_from redirected(pipe.reader());
    pipe.write("a\nb");
    pipe.close_writer();
    EXPECT_EQ(read(paths, 100), "a\nb\n");
  }
}

TEST(BlockReader, WaitsForNonBlockingStandardInput) {
  test::pipe pipe(O_NONBLOCK);
  const standard_input_from redirected(pipe.reader());
  block_reader reader({}, {}, 1000);
  std::jthread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    pipe.write("late\n");
  });
  block b;
  EXPECT_TRUE(reader.next(b));
  EXPECT_EQ(b.text(), "late\n");
  writer.join();
}

TEST(BlockReader, NamesAMissingFileBeforeAnythingIsRead) {
  test::text_files files;
  const std::string good = files.make("a\n");
  const std::string missing = files.directory() + "/missing";
  const std::size_t before = open_descriptors();
  try {
    block_reader reader({good, missing}, {}, 100);
    FAIL();
  } catch (const storage_error& e) {
    EXPECT_EQ(e.code(), ENOENT);
    EXPECT_EQ(e.path(), missing);
    EXPECT_THAT(e.what(), HasSubstr("No such file"));
  }
  EXPECT_EQ(open_descriptors(), before) << "the files before it were closed again";
}

TEST(BlockReader, RefusesADirectoryBeforeAnythingIsRead) {
  test::text_files files;
  const std::string good = files.make("a\n");
  try {
    block_reader reader({good, files.directory()}, {}, 100);
    FAIL();
  } catch (const storage_error& e) {
    EXPECT_EQ(e.code(), EISDIR);
    EXPECT_EQ(e.path(), files.directory());
  }
}

TEST(BlockReader, ReturnsDataThatItReadBeforeAReadFailed) {
  test::text_files files;
  const std::string good = files.make("a\nb\n");
  block_reader reader({good, "/proc/self/mem"}, {}, 100);  // no memory is mapped at address 0
  block b;
  ASSERT_TRUE(reader.next(b));
  EXPECT_EQ(b.text(), "a\nb\n");
  for (int i = 0; i < 2; ++i) {
    try {
      static_cast<void>(reader.next(b));
      FAIL();
    } catch (const storage_error& e) {
      EXPECT_EQ(e.code(), EIO);
      EXPECT_EQ(e.path(), "/proc/self/mem");
    }
  }
}

TEST(BlockReader, ClosesItsFiles) {
  test::text_files files;
  files.make("a\n");
  const std::size_t before = open_descriptors();
  { const block_reader reader(files.paths(), {}, 100); }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(BlockReader, KnowsTheSizeOfFilesButNotOfPipes) {
  test::text_files files;
  files.make("12345\n");
  files.make("123");
  EXPECT_EQ(block_reader(files.paths(), {}, 100).total_bytes(), 9U);
  const test::pipe pipe;
  const block_reader mixed({files.paths().front(), pipe.path()}, {}, 100);
  EXPECT_FALSE(mixed.total_bytes());
  EXPECT_FALSE(mixed.estimate_records());
}

TEST(BlockReader, DoesNotTrustAFileThatClaimsToBeEmpty) {
  block_reader reader({"/proc/self/maps"}, {}, 100);
  EXPECT_FALSE(reader.total_bytes());
  EXPECT_FALSE(reader.estimate_records());
  EXPECT_GT(blocks(reader).size(), 1U);
}

TEST(BlockReader, EstimatesRecords) {
  const auto estimate = [](const std::vector<std::string>& texts) {
    test::text_files files;
    for (const std::string& text : texts) files.make(text);
    return block_reader(files.paths(), {}, 100).estimate_records().value();
  };
  EXPECT_NEAR(static_cast<double>(estimate({"", "a\nb\nc\n"})), 3, 1);
  EXPECT_NEAR(static_cast<double>(estimate({"a\nb\nc\n"})), 3, 1);

  std::string even;
  for (int i = 0; i < 50'000; ++i) even += "a line of twenty 4b\n";
  EXPECT_NEAR(static_cast<double>(estimate({even})), 50'000, 100);
  EXPECT_NEAR(static_cast<double>(estimate({even, even, "x"})), 100'000, 200);

  // Lengths that differ by place: the three samples have equal weight, so a factor of two is the expected
  // error.
  std::string uneven;
  for (int i = 0; i < 20'000; ++i) uneven += std::string(static_cast<std::size_t>(i) / 200, 'x') + '\n';
  const auto guess = static_cast<double>(estimate({uneven}));
  EXPECT_GT(guess, 10'000);
  EXPECT_LT(guess, 400'000);

  EXPECT_GE(estimate({std::string(500'000, 'x')}), 1U) << "no separator at all";
}

TEST(BlockReader, EstimatesWithoutMovingTheReader) {
  test::text_files files;
  files.make("a\nb\n");
  block_reader reader(files.paths(), {}, 100);
  static_cast<void>(reader.estimate_records());
  EXPECT_EQ(joined(blocks(reader)), "a\nb\n");
}

TEST(BlockReader, RestartsWhereItBegan) {
  test::text_files files;
  files.make("one\ntwo\nthree");
  files.make("four\n");
  block_reader reader(files.paths(), {}, 5);
  ASSERT_TRUE(reader.can_rewind());
  const test::pipe pipe;
  EXPECT_FALSE(block_reader({files.paths().front(), pipe.path()}, {}, 5).can_rewind());
  block b;
  ASSERT_TRUE(reader.next(b));
  reader.rewind();
  EXPECT_EQ(joined(blocks(reader)), "one\ntwo\nthree\nfour\n");
  reader.rewind();
  EXPECT_EQ(joined(blocks(reader)), "one\ntwo\nthree\nfour\n");
}

TEST(BlockReader, CallsBackWhileAPipeIsIdle) {
  test::pipe pipe;
  block_reader reader({pipe.path()}, {}, 100);
  int calls = 0;
  reader.while_waiting([&] {
    if (++calls == 2) pipe.write("there\n");
  });
  block b;
  ASSERT_TRUE(reader.next(b));
  EXPECT_EQ(b.text(), "there\n");
  EXPECT_EQ(calls, 2);
}

/// The first block of a pipe that delivers a record in three parts. Bytes that the reader has looked at
/// change meanwhile: a reader that looked at them again would take a part for the record.
std::string block_of_three_parts(const record_format& format, char change) {
  test::pipe pipe;
  pipe.write("first");
  block_reader reader({pipe.path()}, format, 1 << 20);
  block b;
  int calls = 0;
  reader.while_waiting([&] {
    if (calls == 0) {
      EXPECT_EQ(std::string_view(b.data(), 5), "first");
      b.data()[1] = change;
    }
    pipe.write(calls++ == 0 ? "second" : "third\n");
  });
  EXPECT_TRUE(reader.next(b));
  EXPECT_EQ(calls, 2);
  return std::string(b.text());
}

TEST(BlockReader, LooksAtEachByteOfALongRecordOnce) {
  EXPECT_EQ(block_of_three_parts({}, '\n'), "f\nrstsecondthird\n");
  EXPECT_EQ(block_of_three_parts({'\n', true}, '\n'), "f\nrstsecondthird\n");
  EXPECT_EQ(block_of_three_parts({'\n', true}, '"'), "f\"rstsecondthird\n");
}

const record_format quoted_records{'\n', true};
const record_format with_header{'\n', false, true};

// Promise: a line break between the quotes of CSV belongs to its record (dedup, Keys and records).
TEST(BlockReader, CutsNoRecordOfCsvBetweenItsQuotes) {
  test::text_files files;
  const std::string text = "1,\"a\nb\"\n2,c\n3,\"d\"\"\n\ne\"\n4,f\n";
  files.make(text);
  for (std::size_t block_bytes = 1; block_bytes < text.size() + 3; ++block_bytes) {
    block_reader reader(files.paths(), quoted_records, block_bytes);
    const std::vector<std::string> all = blocks(reader);
    EXPECT_EQ(joined(all), text);
    for (const std::string& each : all) EXPECT_FALSE(ends_in_quotes(each, quoted_records)) << each;
  }
}

// Promise: a quotation mark that is not closed is an error, and nothing before it is lost (dedup, Keys and
// records).
TEST(BlockReader, ReturnsRecordsBeforeAnUnclosedQuotationMark) {
  test::text_files files;
  files.make("1,a\n2,b\n3,\"c\n4,d\n");
  files.make("5,e\n");
  for (const std::size_t block_bytes : {1U, 9U, 100U}) {
    block_reader reader(files.paths(), quoted_records, block_bytes);
    std::string before;
    block b;
    try {
      while (reader.next(b)) before += b.text();
      ADD_FAILURE();
    } catch (const format_error& e) {
      EXPECT_THAT(e.what(), HasSubstr(files.paths().front() + " ends between quotation marks"));
    }
    EXPECT_EQ(before, "1,a\n2,b\n");
    EXPECT_THROW((void)reader.next(b), format_error) << "again";
  }
}

TEST(BlockReader, ReadsTheFirstLineOfEachFileAsItsHeader) {
  test::text_files files;
  files.make("id,name\n1,a\n");
  files.make("");
  files.make("id,name\r\n2,b");
  files.make("id,name");
  for (const std::size_t block_bytes : {1U, 6U, 100U}) {
    block_reader reader(files.paths(), with_header, block_bytes);
    EXPECT_EQ(reader.header(), "id,name");
    EXPECT_EQ(joined(blocks(reader)), "1,a\n2,b\n");
    reader.rewind();
    EXPECT_EQ(joined(blocks(reader)), "1,a\n2,b\n");
    EXPECT_EQ(joined([&] {
                block_reader unasked(files.paths(), with_header, block_bytes);
                return blocks(unasked);
              }()),
              "1,a\n2,b\n");
  }
}

// Promise: the header is that of the first file that has one (dedup, Keys and records).
TEST(BlockReader, TakesTheHeaderFromTheFirstFileThatHasOne) {
  test::text_files files;
  files.make("");
  files.make("");
  files.make("id,name\n1,a\n");
  files.make("");
  files.make("id,name\n2,b\n");
  block_reader reader(files.paths(), with_header, 100);
  EXPECT_EQ(reader.header(), "id,name");
  EXPECT_EQ(joined(blocks(reader)), "1,a\n2,b\n");
  reader.rewind();
  EXPECT_EQ(joined(blocks(reader)), "1,a\n2,b\n");
  block_reader unasked(files.paths(), with_header, 100);
  EXPECT_EQ(joined(blocks(unasked)), "1,a\n2,b\n");
  block_reader empty({files.paths()[0], files.paths()[1]}, with_header, 100);
  EXPECT_EQ(empty.header(), std::nullopt);
  EXPECT_EQ(joined(blocks(empty)), "");
}

// Promise: the names of fields are compared without quotation marks and byte order marks (dedup, Keys and
// records).
TEST(BlockReader, ComparesTheNamesOfFieldsAsTheyRead) {
  const record_format csv{'\n', true, true, true, ','};
  test::text_files files;
  files.make("id,\"full \"\"name\"\"\"\n1,a\n");
  files.make("\xef\xbb\xbfid,\"full \"\"name\"\"\"\n2,b\n");
  files.make("\xef\xbb\xbf\"id\",\"full \"\"name\"\"\"\r\n3,c\r\n");
  block_reader reader(files.paths(), csv, 100);
  EXPECT_EQ(joined(blocks(reader)), "1,a\n2,b\n3,c\r\n");
  files.make("\"id,full \"\"name\"\"\"\n4,d\n");
  block_reader other(files.paths(), csv, 100);
  EXPECT_THROW((void)blocks(other), format_error) << "one field";
  const record_format tabs{'\n', false, true};
  test::text_files of_tabs;
  of_tabs.make("id\tname\n1\ta\n");
  of_tabs.make("\"id\"\t\"name\"\r\n2\tb\n");
  block_reader quoted(of_tabs.paths(), tabs, 100);
  EXPECT_EQ(joined(blocks(quoted)), "1\ta\n2\tb\n");
}

TEST(BlockReader, RefusesAFileWithOtherFieldNames) {
  test::text_files files;
  files.make("");
  files.make("id,name\n1,a\n");
  files.make("name,id\nb,2\n");
  block_reader reader(files.paths(), with_header, 100);
  block b;
  ASSERT_TRUE(reader.next(b));
  EXPECT_EQ(b.text(), "1,a\n");
  try {
    (void)reader.next(b);
    ADD_FAILURE();
  } catch (const format_error& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("first line of " + files.paths()[2] + " names other fields than that of " +
                          files.paths()[1] + ": 'name,id', not 'id,name'"));
  }
}

TEST(BlockReader, ReadsAHeaderOfSeveralLinesBetweenQuotes) {
  test::text_files files;
  files.make("id,\"the\nname\"\n1,a\n");
  block_reader reader(files.paths(), {'\n', true, true, true, ','}, 100);
  EXPECT_EQ(reader.header(), "id,\"the\nname\"");
  EXPECT_EQ(joined(blocks(reader)), "1,a\n");
}

TEST(BlockReader, ReturnsLinesThatAPipeDeliveredWithItsHeader) {
  test::pipe pipe;
  pipe.write("id\n1\n2\n");
  block_reader reader({pipe.path()}, with_header, 1 << 20);
  EXPECT_EQ(reader.header(), "id");
  block b;
  ASSERT_TRUE(reader.next(b)) << "although the pipe is open and empty";
  EXPECT_EQ(b.text(), "1\n2\n");
}

TEST(BlockReader, StartsWithSmallBlocksOnRequest) {
  test::text_files files;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "0123456\n";
  files.make(text);
  block_reader reader(files.paths(), {}, 64);
  reader.begin_with(8);
  const std::vector<std::string> all = blocks(reader);
  EXPECT_LE(all.front().size(), 16U);
  EXPECT_GE(all[5].size(), 64U);
  EXPECT_EQ(joined(all), text);
}

TEST(BlockReader, NamesTheFileOfABlock) {
  test::text_files files;
  files.make("a\n");
  files.make("b\n");
  block_reader reader(files.paths(), {}, 100);
  block b;
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(reader.next(b));
    EXPECT_EQ(b.input(), i);
    EXPECT_EQ(reader.name_of(b.input()), files.paths()[i]);
  }
}

TEST(BlockReader, ShowsTheFirstBlockOfEachInputOnce) {
  test::text_files files;
  files.make("a\nb\n");
  files.make("");
  files.make("c\nd\n");
  block_reader reader(files.paths(), {}, 2);
  std::vector<std::string> shown;
  reader.on_blocks([&](std::string_view text, const std::string& name, bool is_first) {
    if (!is_first) return;
    EXPECT_EQ(name, files.paths()[shown.empty() ? 0 : 2]);
    shown.emplace_back(text);
  });
  static_cast<void>(blocks(reader));
  EXPECT_THAT(shown, ElementsAre("a\n", "c\n"));
}

/// The output of a program for a text.
std::string compressed_by(const std::string& program, const std::string& text,
                          const test::text_files& files) {
  const std::string plain = files.directory() + "/plain", packed = files.directory() + "/packed";
  std::ofstream(plain, std::ios::binary) << text;
  EXPECT_EQ(std::system((program + " -c " + plain + " > " + packed).c_str()), 0) << program;
  return test::text_of(packed);
}

class Compressed : public testing::TestWithParam<std::string> {
 protected:
  static std::string lines() {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + '\n';
    return text;
  }
  [[nodiscard]] std::string packed() const { return compressed_by(GetParam(), lines(), files_); }

  test::text_files files_;
};

// Promise: compressed input is decompressed, also from a pipe (dedup, Keys and records).
TEST_P(Compressed, IsReadLikeTheOriginal) {
  files_.make(packed());
  files_.make("between\n");
  files_.make(packed() + packed());  // like two files through cat
  EXPECT_EQ(read(files_.paths(), 4096), lines() + "between\n" + lines() + lines());
  block_reader reader(files_.paths(), {}, 4096);
  EXPECT_EQ(reader.total_bytes(), std::nullopt);
  ASSERT_TRUE(reader.can_rewind());
  block b;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reader.next(b));
  reader.rewind();
  EXPECT_EQ(joined(blocks(reader)), lines() + "between\n" + lines() + lines());
}

TEST_P(Compressed, IsReadFromAPipeThatStartsSlowly) {
  const std::string bytes = packed();
  test::pipe pipe;
  block_reader reader({pipe.path()}, {}, 4096);
  std::jthread writer([&] {
    for (std::size_t i = 0; i < 12; ++i) {
      pipe.write(bytes.substr(i, 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    pipe.write(bytes.substr(12));
    pipe.close_writer();
  });
  EXPECT_EQ(joined(blocks(reader)), lines());
}

// Promise: compressed input that is cut off is an error, and nothing before it is lost (dedup, Keys and
// records).
TEST_P(Compressed, TruncatedIsAnError) {
  const std::string bytes = packed();
  files_.make(bytes.substr(0, bytes.size() - 1));
  block_reader reader(files_.paths(), {}, 4096);
  std::string before;
  block b;
  try {
    while (reader.next(b)) before += b.text();
    ADD_FAILURE();
  } catch (const format_error& e) {
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr(files_.paths().front()), HasSubstr("cut off or damaged"),
                                         HasSubstr(GetParam())));
  }
  EXPECT_TRUE(lines().starts_with(before));
}

/// The text that is read before an error, and the error; empty if there was none.
std::pair<std::string, std::string> text_and_error(block_reader& reader) {
  std::string text;
  block b;
  try {
    while (reader.next(b)) text += b.text();
  } catch (const format_error& e) {
    return {text, e.what()};
  }
  return {text, ""};
}

// From version 1.10 on, lz4 loses text that it has not written yet when it fails.
// Promise: what follows the compressed part of an input is an error, unless it is compressed, too (dedup,
// Keys and records).
TEST_P(Compressed, FollowedByOtherBytesIsAnError) {
  const std::string member = compressed_by(GetParam(), "a\nb\n", files_);
  const std::string other = compressed_by(GetParam() == "bzip2" ? "xz" : "bzip2", "c\n", files_);
  for (const std::string& rest :
       {std::string("c\n"), std::string("c"), std::string("\n"), other, std::string(20'000, 'x'),
        std::string(300, '\0') + "c\n", member.substr(0, 1), member.substr(0, 3),
        member.substr(0, member.size() - 1)}) {
    const std::string path = files_.make(member + rest);
    block_reader reader({path}, {}, 4096);
    const auto [text, error] = text_and_error(reader);
    EXPECT_TRUE(text.starts_with("a\nb\n") || (GetParam() == "lz4" && text.empty())) << text;
    EXPECT_THAT(error, testing::AllOf(HasSubstr(path), HasSubstr("bytes of text"), HasSubstr(GetParam())))
        << rest.size() << " bytes follow";
    EXPECT_EQ(text_and_error(reader).second, error) << "again";
  }
}

// gzip and xz allow padding; nothing of the text is lost.
TEST_P(Compressed, FollowedByZerosIsWholeOrAnError) {
  const std::string path = files_.make(compressed_by(GetParam(), "a\nb\n", files_) + std::string(1024, '\0'));
  block_reader reader({path}, {}, 4096);
  const auto [text, error] = text_and_error(reader);
  EXPECT_TRUE(text == "a\nb\n" || (GetParam() == "lz4" && text.empty())) << text;
  EXPECT_EQ(error.empty(), GetParam() == "gzip" || GetParam() == "xz") << error;
}

TEST_P(Compressed, IsReadWholeWhateverOptionsTheEnvironmentHasForItsProgram) {
  const std::string member = compressed_by(GetParam(), "a\n", files_);
  for (const char* name : {"GZIP", "BZIP2", "BZIP"}) ::setenv(name, "-q", 1);
  for (const char* name : {"XZ_OPT", "XZ_DEFAULTS"}) ::setenv(name, "--single-stream", 1);
  files_.make(member + member);
  files_.make(member + "c\n");
  block_reader whole({files_.paths().front()}, {}, 4096);
  EXPECT_EQ(text_and_error(whole), (std::pair<std::string, std::string>("a\na\n", "")));
  block_reader more({files_.paths().back()}, {}, 4096);
  EXPECT_NE(text_and_error(more).second, "");
  for (const char* name : {"GZIP", "BZIP2", "BZIP", "XZ_OPT", "XZ_DEFAULTS"}) ::unsetenv(name);
}

TEST_P(Compressed, IsReadUnchangedOnRequest) {
  std::string bytes = packed();
  if (bytes.back() != '\n') bytes += '\n';
  files_.make(bytes);
  record_format plain;
  plain.decompress = false;
  block_reader reader(files_.paths(), plain, 4096);
  EXPECT_EQ(joined(blocks(reader)), bytes);
}

TEST_P(Compressed, LeavesNoProcessBehindWhenItIsNotReadToItsEnd) {
  files_.make(packed());
  {
    block_reader reader(files_.paths(), {}, 16);
    block b;
    ASSERT_TRUE(reader.next(b));
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child process remains";
}

INSTANTIATE_TEST_SUITE_P(BlockReader, Compressed, testing::Values("gzip", "zstd", "bzip2", "xz", "lz4"),
                         [](const auto& program) { return program.param; });

/// What a file has, and what comes through a pipe that is written byte by byte at first.
void expect_text(const std::string& packed, const std::string& text) {
  test::text_files files;
  files.make(packed);
  EXPECT_EQ(read(files.paths(), 4096), text);
  EXPECT_EQ(block_reader(files.paths(), {}, 4096).total_bytes(), std::nullopt);
  test::pipe pipe;
  block_reader reader({pipe.path()}, {}, 4096);
  std::jthread writer([&] {
    for (const char c : packed.substr(0, 30)) {
      pipe.write({&c, 1});
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    pipe.write(packed.substr(std::min<std::size_t>(30, packed.size())));
    pipe.close_writer();
  });
  EXPECT_EQ(joined(blocks(reader)), text);
}

class CompressedInAnyForm : public testing::TestWithParam<std::string> {};

// Promise: compressed input is decompressed, also if it is empty, or several members or frames (dedup, Keys
// and records).
TEST_P(CompressedInAnyForm, IsReadEmptySingleAndJoined) {
  const test::text_files files;
  const std::string none = compressed_by(GetParam(), "", files);
  const std::string one = compressed_by(GetParam(), "a\nb\n", files);
  expect_text(none, "");
  expect_text(one, "a\nb\n");
  expect_text(none + one, "a\nb\n");
  expect_text(one + none + one, "a\nb\na\nb\n");
}

INSTANTIATE_TEST_SUITE_P(BlockReader, CompressedInAnyForm,
                         testing::Values("gzip", "zstd", "pzstd -q", "bzip2", "xz", "lz4", "lz4 -l"),
                         [](const auto& command) {
                           std::string name = command.param;
                           std::erase_if(name, [](char c) { return c == ' ' || c == '-'; });
                           return name;
                         });

/// A frame that zstd and lz4 pass over.
std::string skippable(const std::string& content) {
  std::string frame = "\x5f\x2a\x4d\x18";
  for (unsigned shift = 0; shift < 32; shift += 8) frame += static_cast<char>(content.size() >> shift);
  return frame + content;
}

TEST(BlockReader, LooksBehindSkippableFramesForTheProgram) {
  const test::text_files files;
  for (const std::string program : {"zstd", "lz4", "lz4 -l"}) {
    const std::string packed = compressed_by(program, "a\nb\n", files);
    expect_text(skippable("note") + packed, "a\nb\n");
    expect_text(skippable("") + skippable(std::string(1000, '\n')) + packed, "a\nb\n");
  }
  const std::string far = skippable(std::string(300'000, '\n')) + compressed_by("zstd", "a\n", files);
  expect_text(far, "a\n");  // a pipe has no room for the frame
  expect_text(skippable("nothing behind it"), "");
}

TEST(BlockReader, ReportsASkippableFrameThatIsDamaged) {
  for (const std::string& damaged : {skippable("cut off").substr(0, 9), skippable("note") + "text\n"}) {
    test::text_files files;
    files.make(damaged);
    block_reader reader(files.paths(), {}, 4096);
    EXPECT_THAT(text_and_error(reader).second, HasSubstr("is cut off or damaged"));
  }
}

TEST(BlockReader, ReadsABeginningSimilarToAMagicNumberAsText) {
  for (const std::string text : {"BZ", "BZh", "BZh9\n", "\x1f", "\x1f\x8b", "\xfd"}) {
    test::text_files files;
    files.make(text + "\n");
    EXPECT_EQ(read(files.paths(), 100), text + "\n");
    test::pipe pipe;
    block_reader reader({pipe.path()}, {}, 100);
    pipe.write(text);
    pipe.close_writer();
    EXPECT_EQ(joined(blocks(reader)), text.ends_with('\n') ? text : text + "\n");
  }
}

TEST(BlockReader, NamesTheMissingProgram) {
  test::text_files files;
  files.make(compressed_by("gzip", "a\n", files));
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  block_reader reader(files.paths(), {}, 100);
  block b;
  try {
    (void)reader.next(b);
    ADD_FAILURE();
  } catch (const storage_error& e) {
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr("is compressed"), HasSubstr("gzip cannot be started"),
                                         HasSubstr("install it")));
  }
  ::setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace everseen
