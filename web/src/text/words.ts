/** Words to try the row with, and to look for one that fools it. */

const english =
  "acorn amber anchor apple arrow aspen badger bamboo barley basil beacon birch bison bramble breeze brook candle canoe " +
  "cedar cherry cinder clover cobalt comet copper coral cosmos cricket crystal daisy dawn delta dolphin dune eagle ember " +
  "falcon feather fennel fern finch flint forest fox garnet ginger glacier granite grove harbor hazel heron honey horizon " +
  "indigo iris island ivory jasmine juniper kelp lagoon lantern lemon lichen lily linen lotus lunar maple marble meadow " +
  "mint mist moss nectar nutmeg oak ocean olive onyx opal orchid otter owl pearl pebble pepper pine plum poppy prairie " +
  "quartz quill raven reed river robin saffron sage salt sand shell silk sorrel sparrow spruce stone storm summit swan " +
  "thistle thyme tide timber topaz tulip tundra umber velvet violet walnut willow wren yarrow zephyr zinc";

const chinese =
  "春天 夏天 秋天 冬天 苹果 香蕉 葡萄 西瓜 桃子 梨子 樱桃 柠檬 石榴 荔枝 橘子 草莓 竹子 松树 柳树 梅花 兰花 菊花 荷花 牡丹 茉莉 " +
  "桂花 向日葵 银杏 枫叶 小草 老虎 狮子 大象 熊猫 猴子 兔子 狐狸 松鼠 刺猬 海豚 鲸鱼 乌龟 青蛙 蝴蝶 蜜蜂 蜻蜓 蚂蚁 燕子 麻雀 喜鹊 " +
  "老鹰 白鹭 孔雀 天鹅 长江 黄河 泰山 华山 大海 沙漠 草原 森林 湖泊 瀑布 月亮 太阳 星星 彩虹 白云 闪电 雷声 细雨 大雪 清风 露水 霜叶 " +
  "茶叶 咖啡 米饭 面条 饺子 豆腐 馒头 包子 蜂蜜 红糖 生姜 大蒜 花椒 芝麻 书本 毛笔 砚台 宣纸 灯笼 风筝 算盘 瓷器 丝绸 玉石 琥珀 珍珠";

/** Those that are in the row at the start. */
export const firstWords = { en: ["apple", "river", "owl"], zh: ["苹果", "香蕉", "葡萄"] };

export const sampleWords = { en: english.split(" "), zh: chinese.split(" ") };
