// Facts about values that a schema does not check by itself, because what checks them can say more of what is wrong.
import type { JsonSchema } from './json-schema.ts';
import type { Schema } from './schema.ts';

/** The schema, with what else is checked in its description. */
export function stated<Value>(inner: Schema<Value>, facts: JsonSchema): Schema<Value> {
  return { ...inner, json: { ...inner.json, ...facts } };
}
