// The type of JSON Schemas, by which the API description describes values.

/** The part of JSON Schema 2020-12 that the schema builders produce. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  enum?: readonly (string | null)[];
  const?: boolean | string;
  default?: unknown;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  anyOf?: JsonSchema[];
  minItems?: number;
  maxItems?: number;
}

/** The schema of a value or null. */
export function orNull(json: JsonSchema): JsonSchema {
  const { type, ...rest } = json;
  if (typeof type === 'string' && rest.enum === undefined) return { ...rest, type: [type, 'null'] };
  // One that says nothing of the value admits null already.
  const isAny = type === undefined && json.$ref === undefined && json.anyOf === undefined;
  return isAny ? json : { anyOf: [json, { type: 'null' }] };
}
