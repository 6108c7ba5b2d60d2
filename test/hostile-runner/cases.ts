// What a runner might say that is not what it was asked: the hook files of a hostile runner.

/** One way to break the protocol when a record is about to be created. */
export interface Breach {
  title: string;
  /** Statements, with `frame` being the invocation. */
  says: string;
  /** What the caller of the write is told. */
  told: RegExp;
}

const done = `{ type: 'result', id: frame.id, outcome: 'done', changes: {} }`;
const broke = /^the hook runner was stopped for breaking its protocol$/;
const late = /^the hook did not finish in time$/;
const invalid = /unknown field|must be|cannot be/;

/** Bytes that are no frames, and frames that are no messages. */
export const garbage: readonly Breach[] = [
  { title: 'random bytes', says: `raw(crypto.getRandomValues(new Uint8Array(4096)));`, told: broke },
  { title: 'a length of 0', says: `raw(new Uint8Array(4));`, told: broke },
  { title: 'a length of 4 GiB', says: `raw(new Uint8Array([255, 255, 255, 255]));`, told: broke },
  { title: 'half a frame', says: `raw(frameOf(JSON.stringify(${done})).subarray(0, 20));`, told: late },
  {
    title: 'a byte at a time',
    says: `let at = 0; const bytes = frameOf(JSON.stringify(${done}));
      setInterval(() => at < bytes.length && raw(bytes.subarray(at, ++at)), 100);`,
    told: late,
  },
  { title: 'no JSON', says: `send('{nope');`, told: broke },
  { title: 'no object', says: `send('[1]');`, told: broke },
  { title: 'no UTF-8', says: `raw(frameOf(new Uint8Array([123, 34, 255, 34, 58, 49, 125])));`, told: broke },
  { title: 'a million levels', says: `send('['.repeat(500_000) + ']'.repeat(500_000));`, told: broke },
  { title: '200 levels', says: `send('{"a":' + '['.repeat(200) + ']'.repeat(200) + '}');`, told: broke },
  { title: 'half a million values', says: `send('{"a":[' + '1,'.repeat(500_000) + '1]}');`, told: broke },
];

/** Messages that were not asked for, or are of another shape. */
export const forged: readonly Breach[] = [
  { title: 'an unknown type', says: `send({ type: 'admin', id: frame.id });`, told: broke },
  { title: 'a type of the language', says: `send({ type: 'constructor', id: frame.id });`, told: broke },
  { title: 'a result of another id', says: `send({ ...${done}, id: frame.id + 1 });`, told: broke },
  { title: 'an id that is a text', says: `send({ ...${done}, id: String(frame.id) });`, told: broke },
  { title: 'changes that are no object', says: `send({ ...${done}, changes: 5 });`, told: broke },
  {
    title: 'a response to an event',
    says: `send({ type: 'response', id: frame.id, status: 200, headers: [], body: null, end: true });`,
    told: broke,
  },
  {
    title: 'an error that only routes have',
    says:
      `send({ type: 'result', id: frame.id, outcome: 'http_error', status: 418, code: 'x', message: 'x' });`,
    told: /^the hook responded as a route$/,
  },
  { title: 'another load', says: `send({ type: 'loaded', id: 1, files: [], errors: [] });`, told: broke },
  { title: 'progress of a load', says: `send({ type: 'loading', id: frame.id, files: [] });`, told: broke },
  { title: 'a pong for nothing', says: `send({ type: 'pong', id: frame.id });`, told: broke },
  {
    title: 'a call of a method that is none',
    says: `send({ type: 'call', id: 1, parent: frame.id, method: 'policies.set', args: [] });`,
    told: broke,
  },
  {
    title: 'a call for an invocation to come',
    says: `send({ type: 'call', id: 1, parent: frame.id + 1, method: 'users.findOne', args: ['x'] });`,
    told: broke,
  },
  ...[
    ['no argument', `'users.findOne', args: []`],
    ['an argument of another kind', `'records.findOne', args: ['posts', 7]`],
    ['a query that is no object', `'records.list', args: ['posts', 'title = 1']`],
    ['fields that are a list', `'records.create', args: ['posts', ['x']]`],
  ].map(([title = '', rest = '']) => ({
    title: `a call with ${title}`,
    says: `send({ type: 'call', id: 1, parent: frame.id, method: ${rest} });`,
    told: broke,
  })),
  {
    title: 'another time',
    says: `send({ ...${done}, changes: { created_at: '1999-01-01T00:00:00.000Z' } });`,
    told: invalid,
  },
  {
    title: 'a field that is none',
    says: `send({ ...${done}, changes: { password_hash: 'x' } });`,
    told: invalid,
  },
  {
    title: 'a prototype',
    says:
      `send('{"type":"result","id":' + frame.id + ',"outcome":"done","changes":{"__proto__":{"title":"x"}}}');`,
    told: invalid,
  },
  {
    title: 'a veto that is no text',
    says: `send({ type: 'result', id: frame.id, outcome: 'veto', message: {}, fault: null });`,
    told: broke,
  },
  {
    title: 'a veto of a field without a name',
    says:
      `send({ type: 'result', id: frame.id, outcome: 'veto', message: 'no', fault: null, field: { path: null } });`,
    told: broke,
  },
];

/** Too late, too much, or nothing. */
export const excessive: readonly Breach[] = [
  { title: 'nothing', says: ``, told: late },
  { title: 'a response after the deadline', says: `setTimeout(() => send(${done}), 900);`, told: late },
  {
    title: '100,000 calls',
    says:
      `for (let id = 1; id <= 100_000; id++) send({ type: 'call', id, parent: frame.id, method: 'records.list', args: ['orders', {}] });`,
    told: late,
  },
  {
    title: '20,000 lines of log',
    says:
      `const line = { type: 'log', parent: frame.id, level: 'info', message: 'x'.repeat(2000), file: null, fields: null };
      for (let n = 0; n < 20_000; n++) send(line);`,
    told: late,
  },
  {
    title: 'a line of log of 1 MiB',
    says:
      `send({ type: 'log', parent: 0, level: 'info', message: 'x'.repeat(1e6), file: null, fields: null });`,
    told: broke,
  },
];
