import { useState } from "preact/hooks";

import { bestProbes, bitsPerKey, hashSetBitsPerKey } from "../bloom/rates";
import { bytes, chance } from "../ui/format";
import { Plot } from "../ui/plot";
import { Quantity } from "../ui/quantity";
import { useText } from "../ui/settings";
import { Bars } from "./bars";
import { Chapter } from "./chapter";

const wordBytes = 20;

const curveX = Array.from({ length: 70 }, (_, i) => 10 ** (-i / 5)).filter((rate) => rate >= 1e-12 && rate <= 0.1);

export function SizeChapter() {
  const { learn } = useText();
  const text = learn.size;
  const [keys, setKeys] = useState(1e6);
  const [oneIn, setOneIn] = useState(1000);
  const rate = 1 / oneIn;
  const bits = bitsPerKey("classic", rate);
  const memory = [
    { name: text.filter, value: (keys * bits) / 8, strong: true },
    { name: text.hashSet, value: (keys * hashSetBitsPerKey) / 8 },
    { name: text.plain, value: keys * wordBytes },
  ];
  return (
    <Chapter name="size" title={text.title} text={text.text}>
      <div class="quantities">
        <Quantity label={text.keys} kind="count" value={keys} min={1e3} max={1e10} onInput={setKeys} />
        <Quantity label={text.rate} kind="oneIn" value={oneIn} min={10} max={1e12} onInput={setOneIn} />
      </div>
      <div class="facts" role="status">
        <p>
          <b data-fact="bits">{bits.toFixed(1)}</b> {text.perWord}
        </p>
        <p>
          <b>{bestProbes(rate)}</b> {text.probes}
        </p>
        <p>
          <b>{bytes(memory[0].value)}</b>
        </p>
      </div>
      <Bars title={text.compare} rows={memory} format={bytes} />
      <Plot
        label={`${text.curve} ${bits.toFixed(1)}: ${chance(rate)}`}
        x={curveX.map((r) => bitsPerKey("classic", r))}
        curves={[{ label: text.rate, color: "--lamp-line", values: curveX }]}
        xAxis={{ label: text.bitsAxis, range: [0, 60] }}
        yAxis={{ log: true, range: [1e-12, 1] }}
        dot={{ x: bits, y: rate }}
        height={200}
      />
      <p class="hint">{text.curve}</p>
    </Chapter>
  );
}
