// What came of an attempt, in words that are the same on every machine.

/** What an attempt gave, or threw; neither when it did not end in time. */
export interface Outcome {
  readonly value?: string;
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
}

/** Milliseconds that an attempt has: less than a hook, and more than a busy machine takes to refuse one. */
const patience = 4_000;

/** The code that makes one attempt: a function of a function, and of what bounds it. */
export const tryCode = `
  const tryOne = async (go) => {
    let timer;
    const late = new Promise((resolve) => { timer = later(() => resolve({}), ${patience}); });
    const tried = (async () => {
      try {
        const value = await go();
        return { value: typeof value === 'string' ? value : JSON.stringify(value) ?? String(value) };
      } catch (e) {
        return { name: String(e?.name), code: e?.code === undefined ? '' : String(e.code), message: String(e?.message) };
      }
    })();
    const outcome = await Promise.race([tried, late]);
    clearTimeout(timer);
    return outcome;
  };`;

/** The words for the table. */
export function wordsOf({ value, name, code = '', message = '' }: Outcome): string {
  if (value !== undefined) {
    return `gives ${value.length > 50 ? `${value.length} characters` : value || 'nothing'}`;
  }
  if (name === undefined) return 'never ends';
  if (name === 'ReferenceError') return 'no such name';
  if (message.startsWith('cannot import ')) return 'no such module';
  const permission = /Requires (\w+) access/.exec(message)?.[1];
  if (permission !== undefined) return `no permission (${permission})`;
  return code === '' ? name : `${name} ${code}`;
}
