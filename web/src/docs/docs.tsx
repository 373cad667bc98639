/** The HTTP interface for people, made of the document that the server has for programs. */

import { useEffect, useState } from "preact/hooks";

import { Away, get } from "../api";
import { useText } from "../ui/settings";
import { OperationSection } from "./operation";
import { operationsOf, reasonsOf } from "./openapi";
import type { OpenApi } from "./openapi";
import { Problems } from "./problems";
import { Prose, ReasonNames } from "./prose";

const retryMs = 2000;

/** The document, as soon as the server gives it. */
function useDocument(): { api: OpenApi | null; away: boolean } {
  const [state, setState] = useState<{ api: OpenApi | null; away: boolean }>({ api: null, away: false });
  useEffect(() => {
    const aborter = new AbortController();
    let timer = 0;
    const ask = async (): Promise<void> => {
      try {
        setState({ api: await get<OpenApi>("/openapi.json", aborter.signal), away: false });
      } catch (error) {
        if (aborter.signal.aborted) return;
        setState({ api: null, away: error instanceof Away });
        timer = window.setTimeout(ask, retryMs);
      }
    };
    void ask();
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, []);
  return { api: state.api, away: state.away };
}

/** Sections are there only now: the browser has looked for that of the address already. */
function useAnchor(isThere: boolean): void {
  useEffect(() => {
    if (!isThere) return;
    const show = (): void => {
      const section = document.getElementById(location.hash.slice(1));
      section?.scrollIntoView({ block: "start" });
      section?.focus({ preventScroll: true });
    };
    void document.fonts.ready.then(show);
    addEventListener("hashchange", show);
    return () => removeEventListener("hashchange", show);
  }, [isThere]);
}

export function Docs() {
  const { docs: text } = useText();
  const { api, away } = useDocument();
  useAnchor(api !== null);
  return (
    <div class="docs">
      <div class="page-head">
        <h1 tabIndex={-1}>{text.title}</h1>
        <p class="lead">{text.lead}</p>
        <p class="hint">
          {text.forPrograms} <a href="/openapi.json">openapi.json</a>
        </p>
      </div>
      <div role="status">
        {!api && <p class={away ? "problem" : "hint"}>{away ? text.away : text.loading}</p>}
      </div>
      {api && <Contents api={api} />}
    </div>
  );
}

function Contents({ api }: { api: OpenApi }) {
  const { docs: text } = useText();
  const operations = operationsOf(api);
  const reasons = reasonsOf(api);
  return (
    <ReasonNames.Provider value={new Set(reasons.map(([name]) => name))}>
      <div class="docs-grid">
        <nav class="docs-contents" aria-label={text.contents}>
          <p>{text.operations}</p>
          <ul>
            {operations.map(({ operationId, method, path }) => (
              <li key={operationId}>
                <a href={`#${operationId}`}>
                  <b>{method}</b> {path.replace("/api/v1", "")}
                </a>
              </li>
            ))}
          </ul>
          <p>{text.problems}</p>
          <ul class="reasons">
            {reasons.map(([name]) => (
              <li key={name}>
                <a href={`#${name}`}>{name}</a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="docs-sections">
          <div class="intro">
            {text.translate(api.info.description).split("\n\n").map((paragraph, i) => (
              <p key={i}>
                <Prose text={paragraph} />
              </p>
            ))}
          </div>
          <h2>{text.operations}</h2>
          {operations.map((operation) => (
            <OperationSection key={operation.operationId} operation={operation} api={api} />
          ))}
          <h2>{text.problems}</h2>
          <p>{text.problemsText}</p>
          <Problems api={api} />
        </div>
      </div>
    </ReasonNames.Provider>
  );
}
