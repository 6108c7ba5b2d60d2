// Field kind `json`: any JSON value but null, which clears the field. Numbers keep all of their digits.
import { textFault } from '../../sql/characters.ts';
import { parseJson } from '../../sql/exact-json.ts';
import { type ExactNumber, isOutOfRange } from '../../sql/exact-number.ts';
import { JsonText } from '../../sql/json-text.ts';
import { type Kind, noFaults, pointsNowhere } from './kind.ts';

const maxDepth = 64;
/** Of one number. */
const maxDigits = 1_000;

/** Any JSON value. Bodies are scanned before they are parsed, but values of hooks are not, so everything is checked here. */
export const json: Kind = {
  column: 'jsonb',
  cast: '::text::jsonb',
  // As text, since the driver would parse it.
  output: '::text',
  // Numbers that are equal, say 1 and 1.0, may have other digits.
  identity: '::text',
  comparable: 'json',
  isLowerCase: false,
  settings: [],
  settingFaults: noFaults,
  reader: () => (value) => {
    const reason = valueFault(value, 0);
    return reason === undefined ? { value: JSON.stringify(value) } : { reason };
  },
  fromDatabase: (text) => new JsonText(String(text)),
  shown: (stored) => parseJson(String(stored)),
  pointsTo: pointsNowhere,
  typeScript: () => 'any',
  jsonSchema: () => ({ description: 'Any JSON value.' }),
};

/** The reason why a value cannot be stored unchanged; undefined when it can. */
function valueFault(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return textFault(value);
    case 'number':
      return Number.isFinite(value) ? undefined : 'must not contain a number that is not finite';
    case 'boolean':
      return undefined;
    case 'object':
      if (value === null) return undefined;
      return JSON.isRawJSON(value) ? numberFault(value) : containerFault(value, depth);
    default:
      return 'must be a JSON value';
  }
}

function numberFault({ rawJSON }: ExactNumber): string | undefined {
  if (rawJSON.length > maxDigits) return `must not contain a number of more than ${maxDigits} digits`;
  return isOutOfRange(rawJSON) ? 'must not contain a number beyond the range of a double' : undefined;
}

function containerFault(value: object, depth: number): string | undefined {
  if (depth >= maxDepth) return `must not be nested deeper than ${maxDepth}`;
  if (Array.isArray(value)) {
    for (const item of value) {
      const fault = valueFault(item, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value)) {
    const fault = key === '__proto__' ? 'must not contain the key __proto__' : textFault(key);
    const inside = fault ?? valueFault(item, depth + 1);
    if (inside !== undefined) return inside;
  }
  return undefined;
}
