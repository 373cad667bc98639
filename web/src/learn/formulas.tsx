/** The formulas of Bloom filters, as MathML: n keys, m bits, k probes a key, error rate p. */

import type { ComponentChildren } from "preact";

function Formula({ children }: { children: ComponentChildren }) {
  return (
    <math display="block">
      <mrow>{children}</mrow>
    </math>
  );
}

const minus = <mo>−</mo>;
// Without the spaces that browsers put around them.
const open = (
  <mo lspace="0" rspace="0">
    (
  </mo>
);
const close = (
  <mo lspace="0" rspace="0">
    )
  </mo>
);
const over = (
  <mo lspace="0" rspace="0">
    /
  </mo>
);
const equals = <mo>=</mo>;
const ln2 = (
  <mrow>
    <mi>ln</mi>
    <mspace width="0.17em" />
    <mn>2</mn>
  </mrow>
);
const bitsPerKey = (
  <mfrac>
    <mi>m</mi>
    <mi>n</mi>
  </mfrac>
);

function InParentheses({ children }: { children: ComponentChildren }) {
  return (
    <mrow>
      {open}
      {children}
      {close}
    </mrow>
  );
}

/** 1 − e^(−kn/m) */
const share = (
  <mrow>
    <mn>1</mn>
    {minus}
    <msup>
      <mi>e</mi>
      <mrow>
        {minus}
        <mi>k</mi>
        <mi>n</mi>
        {over}
        <mi>m</mi>
      </mrow>
    </msup>
  </mrow>
);

export const shareFormula = (
  <Formula>
    <mn>1</mn>
    {minus}
    <msup>
      <InParentheses>
        <mn>1</mn>
        {minus}
        <mfrac>
          <mn>1</mn>
          <mi>m</mi>
        </mfrac>
      </InParentheses>
      <mrow>
        <mi>k</mi>
        <mi>n</mi>
      </mrow>
    </msup>
    <mo>≈</mo>
    {share}
  </Formula>
);

export const rateFormula = (
  <Formula>
    <mi>p</mi>
    <mo>≈</mo>
    <msup>
      <InParentheses>{share}</InParentheses>
      <mi>k</mi>
    </msup>
  </Formula>
);

export const bestProbesFormula = (
  <Formula>
    <mi>k</mi>
    {equals}
    {bitsPerKey}
    <mspace width="0.17em" />
    {ln2}
    <mo>≈</mo>
    <mn>0.693</mn>
    <mspace width="0.17em" />
    {bitsPerKey}
  </Formula>
);

export const bestRateFormula = (
  <Formula>
    <mi>p</mi>
    {equals}
    <msup>
      <mn>2</mn>
      <mrow>
        {minus}
        <mi>k</mi>
      </mrow>
    </msup>
    <mo>≈</mo>
    <msup>
      <mn>0.6185</mn>
      <mrow>
        <mi>m</mi>
        {over}
        <mi>n</mi>
      </mrow>
    </msup>
  </Formula>
);

const log2OfRate = (
  <mrow>
    <msub>
      <mi>log</mi>
      <mn>2</mn>
    </msub>
    <mfrac>
      <mn>1</mn>
      <mi>p</mi>
    </mfrac>
  </mrow>
);

export const sizeFormula = (
  <Formula>
    {bitsPerKey}
    {equals}
    <mfrac>
      <mn>1</mn>
      {ln2}
    </mfrac>
    <mspace width="0.17em" />
    {log2OfRate}
    <mo>≈</mo>
    <mn>1.443</mn>
    <mspace width="0.17em" />
    {log2OfRate}
  </Formula>
);

export const lineFormula = (
  <Formula>
    <msub>
      <mi>p</mi>
      <mn>1</mn>
    </msub>
    {equals}
    <munderover>
      <mo>∑</mo>
      <mrow>
        <mi>i</mi>
        <mo>=</mo>
        <mn>0</mn>
      </mrow>
      <mi>∞</mi>
    </munderover>
    <mfrac>
      <mrow>
        <msup>
          <mi>λ</mi>
          <mi>i</mi>
        </msup>
        <msup>
          <mi>e</mi>
          <mrow>
            {minus}
            <mi>λ</mi>
          </mrow>
        </msup>
      </mrow>
      <mrow>
        <mi>i</mi>
        <mo lspace="0" rspace="0">!</mo>
      </mrow>
    </mfrac>
    <msup>
      <InParentheses>
        <mn>1</mn>
        {minus}
        <msup>
          <InParentheses>
            <mn>1</mn>
            {minus}
            <mfrac>
              <mn>1</mn>
              <mi>w</mi>
            </mfrac>
          </InParentheses>
          <mi>i</mi>
        </msup>
      </InParentheses>
      <mi>s</mi>
    </msup>
  </Formula>
);

export const keysOfLineFormula = (
  <math>
    <mrow>
      <mi>λ</mi>
      {equals}
      <mn>512</mn>
      <mspace width="0.17em" />
      <mi>n</mi>
      {over}
      <mi>m</mi>
    </mrow>
  </math>
);

export const twoLinesFormula = (
  <Formula>
    <msub>
      <mi>p</mi>
      <mn>2</mn>
    </msub>
    {equals}
    <msup>
      <mrow>
        <msub>
          <mi>p</mi>
          <mn>1</mn>
        </msub>
        <InParentheses>
          <mi>λ</mi>
          {equals}
          <mn>1024</mn>
          <mspace width="0.17em" />
          <mi>n</mi>
          {over}
          <mi>m</mi>
        </InParentheses>
      </mrow>
      <mn>2</mn>
    </msup>
  </Formula>
);

function HashOf({ index }: { index: string }) {
  return (
    <mrow>
      <msub>
        <mi>h</mi>
        <mn>{index}</mn>
      </msub>
      <InParentheses>
        <mi>x</mi>
      </InParentheses>
    </mrow>
  );
}

export const twoHashesFormula = (
  <Formula>
    <msub>
      <mi>g</mi>
      <mi>i</mi>
    </msub>
    <InParentheses>
      <mi>x</mi>
    </InParentheses>
    {equals}
    <InParentheses>
      <HashOf index="1" />
      <mo>+</mo>
      <mi>i</mi>
      <mspace width="0.17em" />
      <HashOf index="2" />
    </InParentheses>
    <mspace width="0.28em" />
    <mi>mod</mi>
    <mspace width="0.28em" />
    <mi>m</mi>
  </Formula>
);

export const layersFormula = (
  <Formula>
    <munderover>
      <mo>∑</mo>
      <mrow>
        <mi>i</mi>
        <mo>=</mo>
        <mn>1</mn>
      </mrow>
      <mi>∞</mi>
    </munderover>
    <mfrac>
      <mi>p</mi>
      <msup>
        <mn>2</mn>
        <mi>i</mi>
      </msup>
    </mfrac>
    {equals}
    <mi>p</mi>
  </Formula>
);
