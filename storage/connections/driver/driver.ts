// The database driver, loaded with a fault of it mended, with four of its functions written so that V8 makes them among the young
// objects, and with results that cost less to make.
import { registerHooks } from 'node:module';
import type driver from 'postgres';

/**
 * Functions of postgres 3.4.9 that each statement and each transaction assigns to a property, as they are written there.
 *
 * V8 takes `object.name = () => …` for a method of something that lasts, and makes the function among the old objects at
 * once. It holds all that it can see, here the statement with its parameters and its rows, until the old objects are
 * collected: every young collection had to copy them, twice. What an expression answers is made young.
 */
const assigned: Readonly<Record<string, readonly string[]>> = {
  'query.js': ['x => (this.active = false, resolve(x))', 'x => (this.active = false, reject(x))'],
  'index.js': [
    'x => prepare = x.replace(/[^a-z0-9$-_. ]/gi)',
    `() => queries.length
        ? c.execute(queries.shift())
        : move(c, reserved)`,
  ],
};

/** A piece of a file, and what to have in its place. */
type Change = readonly [written: string, instead: string];

/**
 * What a result says besides its rows, hidden from who lists its members. The driver defines it so on each one, which takes
 * longer than all else that is done for a small one (1.4 µs); a member of its class is hidden for nothing.
 */
const hidden = ['count', 'state', 'command', 'columns', 'statement']
  .map((name) =>
    `#${name} = null; get ${name}() { return this.#${name} } set ${name}(x) { this.#${name} = x }`
  )
  .join('\n');

/**
 * The driver counts the rows of a statement, and begins anew when one is complete. One that fails after its first rows leaves the
 * count, and the rows of the next statement, which may be anybody's, then stand behind as many holes (porsager/postgres issues
 * 1119 and 1181).
 */
const mended: Readonly<Record<string, readonly Change[]>> = {
  'connection.js': [[
    'query = results = errorResponse = null',
    'rows = 0; query = results = errorResponse = null',
  ]],
  'result.js': [[
    `constructor() {
    super()
    Object.defineProperties(this, {
      count: { value: null, writable: true },
      state: { value: null, writable: true },
      command: { value: null, writable: true },
      columns: { value: null, writable: true },
      statement: { value: null, writable: true }
    })
  }`,
    hidden,
  ]],
};

/** Throws when the file is not the one that this was written for. */
function change(file: string, source: string): string {
  const young = (assigned[file] ?? []).map((written): Change => [`= ${written}`, `= (0, ${written})`]);
  return [...young, ...mended[file] ?? []].reduce((text, [written, instead]) => {
    if (!text.includes(written)) throw new Error(`the driver's ${file} is not that of postgres 3.4.9`);
    return text.replace(written, () => instead);
  }, source);
}

async function load(): Promise<typeof driver> {
  const hooks = registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const file = /\/postgres\/src\/(\w+\.js)$/.exec(url)?.[1];
      if (file === undefined || !loaded.source) return loaded;
      const source = typeof loaded.source === 'string'
        ? loaded.source
        : new TextDecoder().decode(loaded.source);
      return { ...loaded, source: change(file, source) };
    },
  });
  try {
    return (await import('postgres')).default;
  } finally {
    hooks.deregister();
  }
}

/** Opens a client. Every use of the driver goes through this one: it may be loaded nowhere before. */
export const postgres: typeof driver = await load();
