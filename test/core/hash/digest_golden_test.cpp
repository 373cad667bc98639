#include <string>

#include <gtest/gtest.h>

#include "everseen/core/hash/digest.hpp"

// Digests are never stored, but every stored bit follows from them: after a change here, all filters would
// forget their keys.

namespace everseen {
namespace {

constexpr hash_seed seed = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

TEST(DigestGolden, PinsXxh3) {
  const hasher hash(hash_kind::xxh3, seed);
  EXPECT_EQ(hash(""), (digest{0xAA6A62C39E6AC9E1, 0xA0E0A04487F25F04}));
  EXPECT_EQ(hash("everseen"),
            (digest{0x6FB5374FA9D0260A, 0xB26018DAECD8CEEB}));  // doc/hashing.md, "Worked example"
  EXPECT_EQ(hash("user:42"), (digest{0xA109277E22476BA2, 0x88B15D91D5BD5227}));
  EXPECT_EQ(hash(std::string(300, 'x')), (digest{0xC9E90168FE888377, 0xB0046D9EF1406125}));
}

TEST(DigestGolden, PinsXxh3With64Bits) {
  const hasher hash(hash_kind::xxh3_64, seed);
  EXPECT_EQ(hash(""), (digest{0x28217112654C42F2, 0x70C91A4259AB530B}));
  EXPECT_EQ(hash("everseen"), (digest{0x73C1537B9616CF3E, 0x1CFBCE173F61CA9D}));
  EXPECT_EQ(hash("user:42"), (digest{0x5575D7CE8204FB45, 0x02CB2D8450FC9E96}));
  EXPECT_EQ(hash(std::string(300, 'x')), (digest{0xC9E90168FE888377, 0xD9500EFAD19A3958}));
}

TEST(DigestGolden, PinsSipHash) {
  const hasher hash(hash_kind::siphash, seed);
  EXPECT_EQ(hash(""), (digest{0xE6A825BA047F81A3, 0x930255C71472F66D}));
  EXPECT_EQ(hash("everseen"), (digest{0xBFAB82B0EDE5F01F, 0x60A519DF1E7EAC59}));
  EXPECT_EQ(hash("user:42"), (digest{0x1C0ECC9E601F6C1D, 0xD0CD2A140B925694}));
  EXPECT_EQ(hash(std::string(300, 'x')), (digest{0x8E6F44EE760056B1, 0x47BC7659BFDF2036}));
}

}  // namespace
}  // namespace everseen
