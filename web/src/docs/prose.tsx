import { createContext } from "preact";
import { useContext } from "preact/hooks";

import { useText } from "../ui/settings";

/** The reasons of problems, which are sections of the page. */
export const ReasonNames = createContext<ReadonlySet<string>>(new Set());

/** A text of openapi.json: what it has in `backticks` is code, and a link where it is the reason of a problem. */
export function Prose({ text }: { text: string }) {
  const reasons = useContext(ReasonNames);
  return (
    <>
      {text.split("`").map((part, i) => {
        if (i % 2 === 0) return part;
        const code = <code key={i}>{part}</code>;
        return reasons.has(part) ? (
          <a key={i} href={`#${part}`}>
            {code}
          </a>
        ) : (
          code
        );
      })}
    </>
  );
}

/** An English text of openapi.json, in the language of the page. */
export function Translated({ text }: { text: string }) {
  const { docs } = useText();
  return <Prose text={docs.translate(text)} />;
}
