// Field kind `select`: one of the declared options.
import { textFault } from '../../sql/characters.ts';
import type { Field } from '../../definition.ts';
import { asStored, type Kind, pointsNowhere, type SettingFault } from './kind.ts';

const maxOptions = 1_000;
const maxOptionLength = 500;

/** One of a list of options. */
export const select: Kind = {
  column: 'text collate "C"',
  cast: '::text',
  output: '',
  identity: '',
  comparable: 'text',
  isLowerCase: false,
  settings: ['options', 'many', 'unique', 'index'],
  settingFaults,
  reader: (field) => {
    const options = new Set<unknown>(field.options);
    const reason = `must be one of ${(field.options ?? []).slice(0, 20).join(', ')}`;
    return (value) => typeof value === 'string' && options.has(value) ? { value } : { reason };
  },
  fromDatabase: undefined,
  shown: asStored,
  pointsTo: pointsNowhere,
  typeScript: ({ options = [] }) => options.map((option) => JSON.stringify(option)).join(' | ') || 'string',
  jsonSchema: ({ options = [] }) => ({ type: 'string', enum: options }),
};

function settingFaults({ options }: Field): SettingFault[] {
  const fault = (reason: string): SettingFault[] => [{ setting: 'options', reason }];
  if (options === undefined || options.length === 0) return fault('must list at least one option');
  if (options.length > maxOptions) return fault(`must list at most ${maxOptions} options`);
  if (new Set(options).size !== options.length) return fault('must not list an option twice');
  for (const option of options) {
    if (option === '' || option.length > maxOptionLength) {
      return fault(`must be texts of 1 to ${maxOptionLength} characters`);
    }
    const reason = textFault(option);
    if (reason !== undefined) return fault(reason);
  }
  return [];
}
