import { useState } from "preact/hooks";

import { layersAfter, rateOfLayers, rateOverfilled } from "../bloom/growth";
import { bytes, chance, count } from "../ui/format";
import { Plot } from "../ui/plot";
import { Quantity } from "../ui/quantity";
import { useText } from "../ui/settings";
import { Chapter } from "./chapter";

const capacity = 1000;
const promise = 0.01;
const most = 64000;
const curveX = Array.from({ length: 121 }, (_, i) => 100 * (most / 100) ** (i / 120));

export function GrowthChapter() {
  const { learn } = useText();
  const text = learn.growth;
  const [keys, setKeys] = useState(700);
  const layers = layersAfter(keys, capacity, promise);
  const grown = rateOfLayers(layers);
  const over = rateOverfilled(keys, capacity, promise);
  const widest = layers[layers.length - 1].bits;
  return (
    <Chapter name="growth" title={text.title} text={text.text}>
      <div class="quantities">
        <Quantity label={text.keys} kind="count" value={keys} min={100} max={most} format={count} onInput={setKeys} />
      </div>
      <p class="hint">{text.made}</p>
      <ol class="layers">
        {layers.map((layer) => (
          <li key={layer.index} style={{ "--size": `${(layer.bits / widest) * 100}%` }}>
            <i aria-hidden="true" style={{ "--share": `${(layer.keys / layer.capacity) * 100}%` }} />
            <span>
              {text.layer(layer.index, count(layer.capacity), bytes(layer.bits / 8), chance(layer.rateFull), chance(layer.rateNow))}
            </span>
          </li>
        ))}
      </ol>
      <div class="answer" role="status" data-verdict="no">
        <p>{text.status(layers.length, chance(grown), chance(over))}</p>
      </div>
      <Plot
        label={text.chartLabel(chance(grown), chance(over))}
        x={curveX}
        curves={[
          { label: text.growing, color: "--no", values: curveX.map((n) => rateOfLayers(layersAfter(n, capacity, promise))) },
          { label: text.overfilled, color: "--first", values: curveX.map((n) => rateOverfilled(n, capacity, promise)) },
          { label: text.promise, color: "--muted", values: curveX.map(() => promise), dash: [4, 4], width: 1 },
        ]}
        xAxis={{ label: text.words, log: true, range: [100, most], format: count }}
        yAxis={{ log: true, range: [1e-6, 1] }}
        dot={{ x: keys, y: Math.max(grown, 1e-6), color: "--no" }}
        height={240}
        legend
      />
    </Chapter>
  );
}
