import { curlLine } from "../ui/commands";
import { Command } from "../ui/copy";
import { useText } from "../ui/settings";
import { fieldRows, Fields, parameterRows } from "./fields";
import { tryOf } from "./openapi";
import type { Content, OpenApi, Operation } from "./openapi";
import { Translated } from "./prose";

/** The fields of what is sent or answered as JSON. */
function fieldsIn(content: Content | undefined, api: OpenApi) {
  const schema = content?.["application/json"]?.schema;
  return schema ? fieldRows(schema, api) : [];
}

export function OperationSection({ operation, api }: { operation: Operation; api: OpenApi }) {
  const { docs: text } = useText();
  const { method, path, parameters, operationId: id } = operation;
  const name = `${method} ${path}`;
  const body = fieldsIn(operation.requestBody?.content, api);
  const good = Object.entries(operation.responses).find(([status]) => status.startsWith("2"))?.[1];
  const answer = fieldsIn(good?.content, api);
  return (
    <section id={id} class="operation card" aria-labelledby={`${id}-name`} tabIndex={-1}>
      <h3 id={`${id}-name`}>
        <b class={`method ${method.toLowerCase()}`}>{method}</b> <code>{path}</code>
      </h3>
      <p>
        <Translated text={operation.summary} />
        {operation.description && text.blank}
        {operation.description && <Translated text={operation.description} />}
      </p>
      <Command line={curlLine({ method, ...tryOf(operation, api) })} />
      {parameters.length > 0 && <Fields title={text.parameters} of={name} rows={parameterRows(parameters, api)} />}
      {body.length > 0 && <Fields title={text.body} of={name} rows={body} />}
      <Statuses operation={operation} />
      {answer.length > 0 && (
        <details>
          <summary>{text.answer}</summary>
          <Fields title={text.field} of={name} rows={answer} />
        </details>
      )}
    </section>
  );
}

function Statuses({ operation: { responses, method, path } }: { operation: Operation }) {
  const { docs: text } = useText();
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label={`${text.statuses}: ${method} ${path}`}>
      <table class="fields statuses">
        <thead>
          <tr>
            <th scope="col">{text.status}</th>
            <th scope="col">{text.meaning}</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(responses).map(([status, { description }]) => (
            <tr key={status} class={status.startsWith("2") ? "good" : ""}>
              <th scope="row">
                <code>{status}</code>
              </th>
              <td>
                <Translated text={description} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
