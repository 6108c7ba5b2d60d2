// The schemas of error responses, for the API description.
import { type ErrorCode, errorCodes, fieldErrorCodes } from '../errors.ts';
import type { JsonSchema } from './json-schema.ts';

/** The body of a response with one of these codes. */
export function errorSchema(found: readonly ErrorCode[]): JsonSchema {
  const properties: JsonSchema['properties'] = {
    code: { type: 'string', enum: [...found] },
    message: { type: 'string' },
  };
  if (found.some((code) => 'hasErrors' in errorCodes[code])) {
    properties['errors'] = { type: 'array', items: { $ref: '#/components/schemas/FieldError' } };
  }
  return { type: 'object', properties, required: ['code', 'message'], additionalProperties: false };
}

/** One of the `errors` of a response. */
export const fieldErrorSchema: JsonSchema = {
  type: 'object',
  description: 'One wrong member of the request.',
  properties: {
    path: {
      type: 'string',
      description: 'The member: names and positions, with dots between them, as in `requests.0.body.title`.',
    },
    code: {
      type: 'string',
      description: `One of ${Object.keys(fieldErrorCodes).join(', ')}, or the code that a hook chose.`,
    },
    message: { type: 'string' },
  },
  required: ['path', 'code', 'message'],
  additionalProperties: false,
};
