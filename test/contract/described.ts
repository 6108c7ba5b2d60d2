// What the served API description announces, looked up by method and path.
import { as, expectOk } from '../harness/api.ts';

/** Whether an operation announces a status, and for an error its code. */
export type Announces = (
  method: string,
  path: string,
  response: { status: number; code?: unknown },
) => boolean;

interface Described {
  $ref?: string;
  content?: Record<string, { schema: { properties?: { code?: { enum?: unknown[] } } } }>;
}

/** Reads `/_/openapi.json` of the shared server. Paths are asked for as they are declared, with `:name`. */
export async function readDescription(): Promise<Announces> {
  const document = expectOk(await as().get('/_/openapi.json'));
  const responses: Record<string, Described> = document.components.responses;
  return (method, path, { status, code }) => {
    const found = Object.entries<Record<string, { responses: Record<string, Described> }>>(document.paths)
      .find(([template]) => template.replaceAll(/\{[a-z]+\}/g, ':') === path.replaceAll(/:[a-z]+/g, ':'));
    const response = found?.[1][method.toLowerCase()]?.responses[status];
    if (response === undefined || status < 400) return response !== undefined;
    const described = responses[response.$ref?.split('/').at(-1) ?? ''];
    return described?.content?.['application/json']?.schema.properties?.code?.enum?.includes(code) === true;
  };
}
