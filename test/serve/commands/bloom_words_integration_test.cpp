// Words of new filters and replies of full ones, where versions of RedisBloom differ.

#include <string_view>

#include <gtest/gtest.h>

#include "test/serve/serving.hpp"
#include "test/serve/transcript.hpp"

namespace everseen::test {
namespace {

class BloomWords : public testing::Test {
 protected:
  void plays(std::string_view transcript) { play(client_, transcript); }

 private:
  serving server_{};
  raw_client client_{server_.path()};
};

// Promise: the words of BF.RESERVE and BF.INSERT are read as RedisBloom does (operations, RedisBloom's
// versions).
TEST_F(BloomWords, ReadsTheOptionsOfNewFiltersAsRedisBloomDoes) {
  plays(R"(> BF.INSERT a CAP 200 ERR 0.001 EXP 3 I x y
*2
:1
:1
> BF.INFO a CAPACITY
*1
:200
> BF.INFO a EXPANSION
*1
:3
> BF.INSERT b nons c 2 e 0.001 items x
-Unknown argument received
> BF.INSERT b nons c 2 er 0.001 i x y z
*3
:1
:1
-ERR non scaling filter is full
> BF.INSERT c EXPANSION 0 CAPACITY 1 ITEMS x
*1
:1
> BF.INFO c EXPANSION
*1
$-1
> BF.INSERT d CAPACITY 200 CAPACITY 300 NONSCALING EXPANSION 4 ITEMS x
*1
:1
> BF.INFO d CAPACITY
*1
:300
> BF.INFO d EXPANSION
*1
$-1
> BF.INSERT e NOC ITEMS x
-ERR not found
> BF.INSERT e CAPACITIES 5 ITEMS x
-Unknown argument received
> BF.RESERVE e 0.01 100 BOGUS
+OK
> BF.RESERVE f 0.01 100 BOGUS NONSCALING BOGUS
+OK
> BF.INFO f EXPANSION
*1
$-1
> BF.RESERVE g 0.01 100 EXPANSION 3 EXPANSION
+OK
> BF.INFO g EXPANSION
*1
:3
> BF.RESERVE h 0.01 100 EXPANSION 2 EXPANSION 3
-ERR wrong number of arguments for 'bf.reserve' command
> BF.RESERVE h 0.01 100 NONSCALING EXPANSION 0
+OK
> BF.RESERVE i 0.01 100 EXPANSION 0
+OK
> BF.INFO i EXPANSION
*1
$-1
> BF.RESERVE j 0.01 100 EXPANSION -1
-ERR expansion must be in the range [0, 32768]
> BF.RESERVE j 0.01 100 NONSCALING EXPANSION -1
-Nonscaling filters cannot expand
)");
}

// Promise: a filter that is full ends the reply as RedisBloom does (operations, RedisBloom's versions).
TEST_F(BloomWords, EndsTheReplyOfAFullFilterWithItsError) {
  plays(R"(> BF.RESERVE a 0.000001 2 NONSCALING
+OK
> BF.MADD a p p q r s
*4
:1
:0
:1
-ERR non scaling filter is full
> BF.MADD a z
*1
-ERR non scaling filter is full
> BF.MADD a p q
*2
:0
:0
> BF.INSERT a ITEMS p z q
*2
:0
-ERR non scaling filter is full
> EVERSEEN.ADD a ITEMS p z q
*3
+seen
-ERR non scaling filter is full
+seen
)");
}

}  // namespace
}  // namespace everseen::test
