/** Every word of the page, by language. The Chinese must have what the English has: the types see to it. */

import { docs as docsEn, docs_zh as docsZh } from "./docs";
import { learn as learnEn } from "./learn_en";
import { learn as learnZh } from "./learn_zh";
import { plan as planEn, plan_zh as planZh } from "./plan";
import { shell as shellEn, shell_zh as shellZh } from "./shell";
import { watch as watchEn } from "./watch_en";
import { watch as watchZh } from "./watch_zh";

const en = { shell: shellEn, learn: learnEn, plan: planEn, watch: watchEn, docs: docsEn };
const zh: typeof en = { shell: shellZh, learn: learnZh, plan: planZh, watch: watchZh, docs: docsZh };

export type Text = typeof en;
export const texts: Record<"en" | "zh", Text> = { en, zh };
