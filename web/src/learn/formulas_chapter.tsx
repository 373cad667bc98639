import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { classicRate, rateOf } from "../bloom/rates";
import { chance } from "../ui/format";
import { Quantity } from "../ui/quantity";
import { useText } from "../ui/settings";
import { Chapter } from "./chapter";
import * as formulas from "./formulas";

/** The papers of the formulas, in the order of their numbers. */
const papers = [
  {
    name: "bloom",
    authors: "Burton H. Bloom",
    title: "Space/Time Trade-offs in Hash Coding with Allowable Errors",
    place: "Communications of the ACM 13(7), 1970, 422–426",
    doi: "10.1145/362686.362692",
  },
  {
    name: "hashes",
    authors: "Adam Kirsch, Michael Mitzenmacher",
    title: "Less Hashing, Same Performance: Building a Better Bloom Filter",
    place: "ESA 2006, LNCS 4168, 456–467",
    doi: "10.1007/11841036_42",
  },
  {
    name: "blocked",
    authors: "Felix Putze, Peter Sanders, Johannes Singler",
    title: "Cache-, Hash- and Space-Efficient Bloom Filters",
    place: "WEA 2007, LNCS 4525, 108–121",
    doi: "10.1007/978-3-540-72845-0_9",
  },
] as const;
type Paper = (typeof papers)[number]["name"];

interface RowProps {
  name: ComponentChildren;
  paper?: Paper;
  /** With the chosen numbers put in. */
  value?: string;
  children: ComponentChildren;
}

/** A formula, what it gives, and where it is from. */
function Row({ name, paper, value, children }: RowProps) {
  const { learn } = useText();
  const number = papers.findIndex((each) => each.name === paper) + 1;
  return (
    <li>
      <p>
        {name}
        {paper && (
          <>
            {" "}
            <a href={`https://doi.org/${papers[number - 1].doi}`} aria-label={learn.formulas.reference(number)}>
              [{number}]
            </a>
          </>
        )}
      </p>
      {children}
      {value !== undefined && <output>{value}</output>}
    </li>
  );
}

/** The formulas behind the chapters, and the papers that they are from. */
export function FormulasChapter() {
  const text = useText().learn.formulas;
  const [bits, setBits] = useState(10);
  const [probes, setProbes] = useState(7);
  const rate = classicRate(probes, bits);
  const best = bits * Math.LN2;
  return (
    <Chapter name="formulas" title={text.title} text={text.text}>
      <div class="quantities">
        <Quantity label={text.bits} kind="whole" value={bits} min={2} max={64} onInput={setBits} />
        <Quantity label={text.probes} kind="whole" value={probes} min={1} max={24} onInput={setProbes} />
      </div>
      <ul class="formula-list">
        <Row name={text.share} paper="bloom" value={chance(-Math.expm1(-probes / bits))}>
          {formulas.shareFormula}
        </Row>
        <Row name={text.rate} paper="bloom" value={chance(rate)}>
          {formulas.rateFormula}
        </Row>
        <Row name={text.best} value={best.toFixed(1)}>
          {formulas.bestProbesFormula}
        </Row>
        <Row name={text.bestRate} value={chance(2 ** -best)}>
          {formulas.bestRateFormula}
        </Row>
        <Row name={text.size} value={(-Math.log2(rate) / Math.LN2).toFixed(1)}>
          {formulas.sizeFormula}
        </Row>
        <Row name={text.hashes} paper="hashes">
          {formulas.twoHashesFormula}
        </Row>
        <Row name={text.line(formulas.keysOfLineFormula)} paper="blocked" value={chance(rateOf("line-8x64", bits))}>
          {formulas.lineFormula}
        </Row>
        <Row name={text.twoLines} value={chance(rateOf("two-line-8x64", bits))}>
          {formulas.twoLinesFormula}
        </Row>
        <Row name={text.layers}>{formulas.layersFormula}</Row>
      </ul>
      <h3>{text.references}</h3>
      <ol class="references">
        {papers.map(({ name, authors, title, place, doi }) => (
          <li key={name}>
            <span lang="en">
              {authors}: <a href={`https://doi.org/${doi}`}>{title}</a>. {place}.
            </span>{" "}
            {text.papers[name]}
          </li>
        ))}
      </ol>
    </Chapter>
  );
}
