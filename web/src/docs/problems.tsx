import { useText } from "../ui/settings";
import { operationsOf, reasonsOf } from "./openapi";
import type { OpenApi, Operation, Reason } from "./openapi";
import { Translated } from "./prose";

/** A section for each kind of problem: the `type` of an error leads here. */
export function Problems({ api }: { api: OpenApi }) {
  const operations = operationsOf(api);
  const from = (reason: string): Operation[] =>
    operations.filter(({ responses }) => Object.values(responses).some(({ description }) => description.includes(`\`${reason}\``)));
  return (
    <>
      {reasonsOf(api).map(([name, reason]) => (
        <Problem key={name} name={name} reason={reason} from={from(name)} />
      ))}
    </>
  );
}

function Problem({ name, reason, from }: { name: string; reason: Reason; from: readonly Operation[] }) {
  const { docs: text } = useText();
  return (
    <section id={name} class="reason card" aria-labelledby={`${name}-name`} tabIndex={-1}>
      <h3 id={`${name}-name`}>
        <b class="method">{reason.status}</b> <code>{name}</code>
      </h3>
      <dl>
        <dt>{text.cause}</dt>
        <dd>
          <Translated text={reason.cause} />
        </dd>
        <dt>{text.remedy}</dt>
        <dd>
          <Translated text={reason.remedy} />
        </dd>
        <dt>{text.from}</dt>
        <dd>
          {from.length === 0
            ? text.fromAny
            : from.map(({ operationId, method, path }, i) => (
                <span key={operationId}>
                  {i > 0 && text.comma}
                  <a href={`#${operationId}`}>
                    {method} {path}
                  </a>
                </span>
              ))}
        </dd>
      </dl>
    </section>
  );
}
