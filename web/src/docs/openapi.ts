/** The server's own description of its interface, /openapi.json, as far as the page shows it. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  required?: string[];
  properties?: Record<string, Schema>;
  example?: unknown;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

interface Media {
  schema?: Schema;
  example?: unknown;
}

export type Content = Record<string, Media>;

export interface Answer {
  description: string;
  content?: Content;
}

interface OperationObject {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, Answer>;
}

export interface Reason {
  status: number;
  cause: string;
  remedy: string;
}

type Method = "get" | "put" | "post" | "patch" | "delete" | "head";
type PathItem = Partial<Record<Method, OperationObject>> & { parameters?: Parameter[] };

export interface OpenApi {
  info: { title: string; description: string };
  paths: Record<string, PathItem>;
  components: { schemas: Record<string, Schema> & { problem: Schema & { "x-reasons": Record<string, Reason> } } };
}

export interface Operation extends OperationObject {
  method: string;
  path: string;
  parameters: Parameter[];
}

const methods: readonly Method[] = ["get", "head", "post", "put", "patch", "delete"];

export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      return [{ ...operation, method: method.toUpperCase(), path, parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])] }];
    }),
  );
}

export function reasonsOf(api: OpenApi): [string, Reason][] {
  return Object.entries(api.components.schemas.problem["x-reasons"]);
}

/** The schema itself, where another place has it. */
export function resolved(schema: Schema, api: OpenApi): Schema {
  const name = schema.$ref?.split("/").pop();
  return name === undefined ? schema : { ...api.components.schemas[name], ...(schema.description ? { description: schema.description } : {}) };
}

/** A value that fits a schema: its example, or the simplest. */
export function sampleOf(given: Schema, api: OpenApi): unknown {
  const schema = resolved(given, api);
  const fixed = schema.example ?? schema.const ?? schema.default ?? schema.enum?.[0];
  if (fixed !== undefined) return fixed;
  const choice = schema.oneOf ?? schema.anyOf;
  if (choice) return sampleOf(choice[0], api);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "object": {
      const wanted = Object.entries(schema.properties ?? {}).filter(([name]) => schema.required?.includes(name));
      return Object.fromEntries(wanted.map(([name, each]) => [name, sampleOf(each, api)]));
    }
    case "array":
      return schema.items ? [sampleOf(schema.items, api)] : [];
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    default:
      return "text";
  }
}

/** What to send to try an operation: its path, and the body where it has one. */
export function tryOf(operation: Operation, api: OpenApi): { path: string; type?: string; body?: string } {
  const value = (parameter: Parameter): string => String(parameter.example ?? sampleOf(parameter.schema, api));
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((each) => each.in === "path" && each.name === name);
    return encodeURIComponent(parameter ? value(parameter) : name);
  });
  const asked = operation.parameters.filter((each) => each.in === "query" && (each.required || each.example !== undefined));
  const query = new URLSearchParams(asked.map((each) => [each.name, value(each)]));
  const address = path + (asked.length > 0 ? `?${query}` : "");
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (type === undefined) return { path: address };
  const example = media?.example ?? (media?.schema ? sampleOf(media.schema, api) : "");
  return { path: address, type, body: typeof example === "string" ? example : JSON.stringify(example) };
}
