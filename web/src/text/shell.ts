/** The frame around the pages, in both languages. */

export const shell = {
  tagline: "Has this key ever been seen?",
  skip: "To the content",
  pages: "Pages",
  learn: "Learn",
  plan: "Plan",
  watch: "Watch",
  language: "Language",
  theme: "Theme",
  themes: { auto: "as the system", light: "light", dark: "dark" },
  licences: "Licences",
  copy: "Copy",
  copied: "Copied",
  wrongNumber: (least: string, most: string, example: string) => `From ${least} to ${most}${example && `, as in ${example}`}.`,
};

export const shell_zh: typeof shell = {
  tagline: "这个键见过吗？",
  skip: "跳到正文",
  pages: "页面",
  learn: "学习",
  plan: "规划",
  watch: "观察",
  language: "语言",
  theme: "主题",
  themes: { auto: "跟随系统", light: "浅色", dark: "深色" },
  licences: "许可证",
  copy: "复制",
  copied: "已复制",
  wrongNumber: (least, most, example) => `从 ${least} 到 ${most}${example && `，例如 ${example}`}。`,
};
