// Record events and jobs in a real runner.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../hook-runner/calls.ts';
import { order, startRunner, type TestRunner } from './runner.ts';

const source = `
onRecordBeforeCreate('orders', (e) => {
  e.record.fields.total = e.record.fields.total * 2;
  delete e.record.fields.title;
});
onRecordBeforeCreate('orders', (e) => { e.record.fields.meta.tags.push(e.action, e.collection, e.requestId); });
onRecordBeforeCreate('untouched', (e) => { e.record.fields.meta = { tags: ['a'] }; e.record.fields.total = 3; });
onRecordBeforeCreate('false', () => false);
let open;
const closed = () => new Promise((resolve) => { open = resolve; });
onRecordBeforeDelete('untouched', (e) => { e.record.fields.total = 9; });
onRecordBeforeDelete('gate', async () => { console.log('before: first'); await closed(); });
onRecordBeforeDelete('gate', () => { console.log('before: second'); });
onRecordAfterDelete('gate', async () => { console.log('after: first'); await closed(); });
onRecordAfterDelete('gate', () => { console.log('after: second'); });
onRecordBeforeCreate('gate', async () => { open(); await new Promise((resolve) => setTimeout(resolve)); console.log('opened'); });
onRecordBeforeCreate('async-false', async () => { await null; return false; });
onRecordBeforeCreate('thrown', () => { throw 'only words'; });
onRecordBeforeCreate('field', () => { throw new FieldError('title', 'is in use', 'taken'); });
onRecordBeforeCreate('field-only', () => { throw new FieldError('title'); });
onRecordBeforeCreate('no-path', () => { throw new FieldError('', 'of what?'); });
onRecordBeforeCreate('bad-code', () => { throw new FieldError('title', 'no', 'two words'); });
class Own extends FieldError { path = 7; }
onRecordBeforeCreate('own', () => { throw new Own('title', 'no'); });
onRecordBeforeCreate('falsy', () => undefined);
for (const value of [null, 0, '', NaN]) onRecordBeforeCreate('falsy', () => value);
onRecordBeforeCreate('replaced', (e) => { e.record = { fields: { total: 9 } }; });
const nested = (levels) => { let value = 1; for (let i = 0; i < levels; i++) value = [value]; return value; };
onRecordBeforeCreate('deepest', (e) => { e.record.fields.meta = nested(60); });
onRecordBeforeCreate('deeper', (e) => { e.record.fields.meta = nested(61); });
onRecordBeforeCreate('widest', (e) => { e.record.fields.meta = Array(90_000).fill(0); });
onRecordBeforeCreate('wider', (e) => { e.record.fields.meta = Array(90_001).fill(0); });
onRecordBeforeCreate('nan', (e) => { e.record.fields.total = NaN; });
onRecordBeforeCreate('never', (e) => { e.record.fields.total = new Date('never'); });
onRecordBeforeCreate('deep', (e) => {
  let value = 1;
  for (let i = 0; i < 5000; i++) value = [value];
  e.record.fields.meta = value;
});
onRecordBeforeCreate('ring', (e) => { e.record.fields.meta.self = e.record.fields.meta; });
onRecordBeforeCreate('huge', (e) => { e.record.fields.title = 'x'.repeat(2_000_000); });
onRecordBeforeCreate('huge_as_bytes', (e) => { e.record.fields.title = 'ह'.repeat(400_000); });
onRecordBeforeCreate('frozen', (e) => { e.record.id = 'mine'; });
onRecordBeforeCreate('odd', () => { throw { get message() { throw 1 }, get stack() { throw 2 }, toString() { throw 3 } }; });
onRecordBeforeUpdate('orders', (e) => {
  if (e.previous.fields.total > e.record.fields.total)
    throw new Error('a total never falls');
  e.record.fields.by = e.auth?.email ?? 'nobody';
});
onRecordAfterUpdate('orders', async () => { throw new Error('first'); });
onRecordAfterUpdate('orders', () => { console.log('second ran'); });
onRecordBeforeDelete('orders', (e) => e.record.fields.total === 0);
cronAdd('nightly', '0 3 * * *', (e) => { console.warn(e.name, e.scheduledAt); });
cronAdd('broken', '0 3 * * *', () => { throw new Error('no'); });
`;

/** The line of the hook file that has this text. */
function lineOf(text: string): number {
  return source.split('\n').findIndex((line) => line.includes(text)) + 1;
}

/** Matched by nothing that has changes, as an object that is merely to hold `{}` would be. */
const unchanged = { type: 'result', id: expect.any(Number), outcome: 'done', changes: {} };

describe('record events in the hook runner', () => {
  let runner: TestRunner;
  beforeAll(async () => {
    runner = await startRunner();
    expect((await runner.load({ 'hooks.ts': source })).errors).toEqual([]);
  });
  afterAll(() => runner.kill());
  const create = (collection: string) => runner.event('before_create', { collection });

  it('sends exactly the fields that handlers changed, in the order of the handlers', async () => {
    expect(await create('orders')).toMatchObject({
      outcome: 'done',
      changes: { total: 6, title: null, meta: { tags: ['a', 'create', 'orders', 'r1'] } },
    });
    expect(await create('untouched')).toEqual(unchanged);
    expect(await create('falsy')).toEqual(unchanged);
    // A deletion changes nothing of its record.
    const deletion = await runner.event('before_delete', { collection: 'untouched' });
    expect(deletion).toEqual(unchanged);
    expect(await create('nothing')).toEqual(unchanged);
  });

  it('refuses a write by false, a rejected promise or a throw', async () => {
    const refused = { outcome: 'veto', message: 'a hook refused the write', fault: null };
    expect(await create('false')).toMatchObject(refused);
    expect(await create('async-false')).toMatchObject(refused);
    expect(await create('thrown')).toMatchObject({ outcome: 'veto', message: 'only words' });
    expect(await create('frozen')).toMatchObject({
      outcome: 'veto',
      message: expect.stringContaining("'id'"),
    });
    expect(await create('replaced')).toMatchObject({
      outcome: 'veto',
      message: expect.stringContaining("'record'"),
    });
    const previous = { ...order, fields: { ...order.fields, total: 4 } };
    expect(await runner.event('before_update', { previous })).toMatchObject({
      outcome: 'veto',
      message: 'a total never falls',
      fault: { file: 'hooks.ts', line: lineOf('a total never falls'), column: 11 },
    });
    expect(await runner.event('before_delete')).toMatchObject({ outcome: 'veto' });
  });

  it('says which field a FieldError refuses', async () => {
    const fault = expect.objectContaining({ file: 'hooks.ts' });
    expect(await create('field')).toMatchObject({
      outcome: 'veto',
      message: 'is in use',
      field: { path: 'title', code: 'taken' },
      fault,
    });
    expect(await create('field-only')).toMatchObject({
      message: 'a hook refused the write',
      field: { path: 'title', code: 'invalid' },
    });
    expect(await create('thrown')).toMatchObject({ field: undefined });
  });

  it('tells the author of a FieldError that cannot be sent', async () => {
    for (const [collection, member] of [['no-path', 'path'], ['bad-code', 'code']] as const) {
      const refused = await create(collection);
      const message = expect.stringContaining(`the ${member} of a FieldError is`);
      expect(refused).toMatchObject({ outcome: 'veto', message, field: undefined });
    }
    // As with a bad result, nobody knows what the author meant: the write fails, and the log says why.
    expect(await create('own')).toMatchObject({
      outcome: 'failed',
      faults: [{ message: expect.stringContaining('the path of a FieldError is'), file: 'hooks.ts' }],
    });
  });

  it('survives what throws when it is looked at', async () => {
    expect(await create('odd')).toMatchObject({ outcome: 'veto', message: expect.stringMatching(/\S/) });
  });

  it.each([
    ['nan', 'record.fields.total is NaN'],
    ['never', 'record.fields.total is an invalid Date'],
    ['deep', 'record.fields.meta is nested deeper'],
    ['deeper', 'record.fields.meta is nested deeper than 60 levels'],
    ['wider', 'record.fields.meta has more than 90000 parts'],
    ['ring', 'record.fields.meta cannot be written as JSON'],
    ['huge', 'exceeds 1048576 bytes'],
    ['huge_as_bytes', 'exceeds 1048576 bytes'],
  ])('says that %s cannot be sent, and goes on', async (collection, message) => {
    expect(await create(collection)).toMatchObject({
      outcome: 'failed',
      faults: [{ message: expect.stringContaining(message), file: 'hooks.ts' }],
    });
    expect(await create('falsy')).toMatchObject({ outcome: 'done' });
  });

  it('sends what is as deep and as wide as it may be, which the API takes', async () => {
    for (const collection of ['deepest', 'widest']) {
      expect(await create(collection)).toMatchObject({
        outcome: 'done',
        changes: { meta: expect.any(Array) },
      });
    }
  });

  it('sends nothing of what handlers left as it came, however deep it is', async () => {
    const deep: Json = JSON.parse('['.repeat(63) + ']'.repeat(63));
    const record = { ...order, fields: { ...order.fields, deep, many: Array<Json>(95_000).fill(0) } };
    expect(await runner.event('before_create', { collection: 'falsy', record })).toEqual(unchanged);
    expect(await runner.event('before_create', { record })).toMatchObject({
      outcome: 'done',
      changes: { total: 6 },
    });
  });

  it('tells handlers who writes', async () => {
    const auth = { id: 'u1', email: 'ann@example.com', role: 'user', workspace: 'acme', app: 'shop' };
    expect(await runner.event('before_update', { previous: order, auth })).toMatchObject({
      changes: { by: 'ann@example.com' },
    });
    expect(await runner.event('before_update', { previous: order })).toMatchObject({
      changes: { by: 'nobody' },
    });
  });

  it('runs the other after-handlers when one throws', async () => {
    const id = runner.start('after_update', { previous: order });
    expect(await runner.log()).toMatchObject({
      parent: id,
      message: 'second ran',
      level: 'info',
      file: 'hooks.ts',
    });
    expect(await runner.next('result', id)).toMatchObject({
      outcome: 'failed',
      faults: [{ message: 'Error: first', file: 'hooks.ts', line: lineOf("Error('first')") }],
    });
  });

  it.each(['before', 'after'] as const)(
    'runs no further %s-handler for who no longer waits',
    async (when) => {
      const id = runner.start(`${when}_delete`, { collection: 'gate' });
      expect(await runner.log()).toMatchObject({ message: `${when}: first` });
      runner.send({ type: 'cancel', id });
      await runner.event('before_create', { collection: 'gate' });
      await runner.event('before_create', { collection: 'gate' });
      // What the second handler had said would have come before.
      expect(await runner.log()).toMatchObject({ message: 'opened' });
      expect(await runner.log()).toMatchObject({ message: 'opened' });
    },
  );

  it('runs jobs by name', async () => {
    const due = '2026-11-21T03:00:00.000Z';
    const run = (name: string) => {
      const id = runner.newId();
      runner.send({ type: 'cron', id, name, scheduled_at: due, request_id: 'r2' });
      return runner.next('result', id);
    };
    expect(await run('nightly')).toEqual(unchanged);
    expect(await runner.log()).toMatchObject({ level: 'warn', message: `nightly ${due}` });
    expect(await run('broken')).toMatchObject({ outcome: 'failed', faults: [{ message: 'Error: no' }] });
  });
});
