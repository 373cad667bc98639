import type { ComponentChildren } from "preact";

import { useText } from "../ui/settings";
import { resolved } from "./openapi";
import type { OpenApi, Parameter, Schema } from "./openapi";
import { Translated } from "./prose";

interface Row {
  name: string;
  type: string;
  required: boolean;
  schema: Schema;
  /** In English. */
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

/** Fields of fields as in verdicts.add; of a list as in filters[].name. */
function rowsOf(given: Schema, api: OpenApi, prefix = "", depth = 0): Row[] {
  const schema = resolved(given, api);
  if (schema.oneOf && depth === 0) return schema.oneOf.flatMap((each) => rowsOf(each, api, prefix, depth));
  return Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const own = resolved(each, api);
    const inner = own.type === "array" && own.items ? own.items : own;
    const path = `${prefix}${name}`;
    const row = { name: path, type: typeOf(each, api), required: schema.required?.includes(name) ?? false, schema: own, about: own.description ?? "" };
    return depth > 2 ? [row] : [row, ...rowsOf(inner, api, `${path}${own.type === "array" ? "[]" : ""}.`, depth + 1)];
  });
}

export function parameterRows(parameters: readonly Parameter[], api: OpenApi): Row[] {
  return parameters.map(({ name, schema, required, description, ...where }) => ({
    name: where.in === "path" ? `{${name}}` : name,
    type: typeOf(schema, api),
    required: required ?? false,
    schema,
    about: description ?? schema.description ?? "",
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
  /** Which values there may be, and which is taken where none is given. */
  const limitsOf = ({ minimum, maximum, default: first }: Schema): string => {
    const bounds = [minimum !== undefined && minimum !== 0 && text.least(minimum), maximum !== undefined && text.most(maximum)];
    const limits = [bounds.filter(Boolean).join(text.betweenBounds), first !== undefined && text.first(JSON.stringify(first))];
    return limits.filter(Boolean).join(text.semicolon);
  };
  const aboutOf = (row: Row): ComponentChildren[] => {
    const limits = limitsOf(row.schema);
    return [row.about && <Translated text={row.about} />, row.about && limits && text.semicolon, limits];
  };
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
              <td>{aboutOf(row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
