// The patches to the source of postgres.js 3.4.9: which text of which file, and what takes its place.

/** A piece of a file as upstream wrote it, and what takes its place. */
type Patch = readonly [written: string, instead: string];

/**
 * Assigns a function that each statement, or each transaction, creates. V8 takes `object.name = () => …` for a method
 * of a long-lived object, and allocates the function in the old generation. There it keeps what it closes over, the
 * statement with its parameters and rows, until the next full collection. The value of an expression is allocated
 * young.
 */
function young(written: string): Patch {
  return [`= ${written}`, `= (0, ${written})`];
}

/**
 * The members of a result besides its rows, hidden from enumeration. Upstream defines them as properties of each
 * result, which takes longer than everything else that is done for a small one (1.4 µs). Members of the class cost
 * nothing.
 */
const hidden = ['count', 'state', 'command', 'columns', 'statement']
  .map((name) =>
    `#${name} = null; get ${name}() { return this.#${name} } set ${name}(x) { this.#${name} = x }`
  )
  .join('\n');

const patches: Readonly<Record<string, readonly Patch[]>> = {
  'connection.js': [
    // The row count starts anew also after a statement that failed amid its rows.
    ['query = results = errorResponse = null', 'rows = 0; query = results = errorResponse = null'],
    // `begin` reserves its connection also when its own bytes fill the socket or the pipeline.
    [
      `return write(toBuffer(q))
        && !q.describeFirst
        && !q.cursorFn
        && sent.length < max_pipeline
        && (!q.options.onexecute || q.options.onexecute(connection))`,
      `const hasRoom = write(toBuffer(q))
      if (q.options.onexecute)
        return void q.options.onexecute(connection)
      return hasRoom
        && !q.describeFirst
        && !q.cursorFn
        && sent.length < max_pipeline`,
    ],
  ],
  'query.js': [
    young('x => (this.active = false, resolve(x))'),
    young('x => (this.active = false, reject(x))'),
  ],
  'index.js': [
    young('x => prepare = x.replace(/[^a-z0-9$-_. ]/gi)'),
    young(`() => queries.length
        ? c.execute(queries.shift())
        : move(c, reserved)`),
  ],
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

/** The patched source of a file of the driver; undefined when its text is not the one that the patches are for. */
export function patched(file: string, source: string): string | undefined {
  const own = patches[file] ?? [];
  if (!own.every(([written]) => source.includes(written))) return undefined;
  return own.reduce((text, [written, instead]) => text.replace(written, () => instead), source);
}
