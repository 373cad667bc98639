import { useText } from "../ui/settings";
import { resolved } from "./openapi";
import type { OpenApi, Parameter, Schema } from "./openapi";
import { Prose } from "./prose";

interface Row {
  name: string;
  type: string;
  required: boolean;
  about: string;
}

/** integer, text or list of text; its values where they are few. */
function typeOf(schema: Schema, api: OpenApi): string {
  const own = resolved(schema, api);
  if (own.enum) return own.enum.map(String).join(" | ");
  const choice = own.oneOf ?? own.anyOf;
  if (choice) return [...new Set(choice.map((each) => typeOf(each, api)))].join(" | ");
  if (own.type === "array") return own.items ? `[${typeOf(own.items, api)}]` : "[]";
  return [own.type ?? ""].flat().join(" | ");
}

function aboutOf(schema: Schema, description = schema.description ?? ""): string {
  const least = schema.minimum !== undefined && schema.minimum !== 0 ? `from ${schema.minimum}` : "";
  const most = schema.maximum !== undefined ? `to ${schema.maximum}` : "";
  const first = schema.default !== undefined ? `default: ${JSON.stringify(schema.default)}` : "";
  return [description, [least, most].filter(Boolean).join(" "), first].filter(Boolean).join("; ");
}

/** Fields of fields as in verdicts.add; of a list as in filters[].name. */
function rowsOf(given: Schema, api: OpenApi, prefix = "", depth = 0): Row[] {
  const schema = resolved(given, api);
  if (schema.oneOf && depth === 0) return schema.oneOf.flatMap((each) => rowsOf(each, api, prefix, depth));
  return Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const own = resolved(each, api);
    const inner = own.type === "array" && own.items ? own.items : own;
    const path = `${prefix}${name}`;
    const row = { name: path, type: typeOf(each, api), required: schema.required?.includes(name) ?? false, about: aboutOf(own) };
    return depth > 2 ? [row] : [row, ...rowsOf(inner, api, `${path}${own.type === "array" ? "[]" : ""}.`, depth + 1)];
  });
}

export function parameterRows(parameters: readonly Parameter[], api: OpenApi): Row[] {
  return parameters.map(({ name, schema, required, description, ...where }) => ({
    name: where.in === "path" ? `{${name}}` : name,
    type: typeOf(schema, api),
    required: required ?? false,
    about: aboutOf(schema, description),
  }));
}

export function fieldRows(schema: Schema, api: OpenApi): Row[] {
  return rowsOf(schema, api);
}

/**
 * Parameters, or fields of JSON.
 * @param of  the operation, for screen readers
 */
export function Fields({ title, of, rows }: { title: string; of: string; rows: readonly Row[] }) {
  const { docs: text } = useText();
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label={`${title}: ${of}`}>
      <table class="fields">
        <thead>
          <tr>
            <th scope="col">{title}</th>
            <th scope="col">{text.type}</th>
            <th scope="col">{text.meaning}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">
                <code>{row.name}</code>
                {row.required && <em>{text.required}</em>}
              </th>
              <td>
                <code>{row.type}</code>
              </td>
              <td lang="en">
                <Prose text={row.about} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
