// The pace of attempts at a server that refuses connections.
import { beforeEach, describe, expect, it } from 'vitest';
import { Outage } from '../../../storage/connections/outage.ts';

/** As PostgreSQL sends them: kind, length, and fields of which each ends with a zero. */
const message = (kind: string, text: string) =>
  Buffer.concat([Buffer.from(kind), Buffer.from([0, 0, 0, text.length + 4]), Buffer.from(text)]);
const startingUp = message(
  'E',
  'SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0Fpostmaster.c\0\0',
);
const noDatabase = message('E', 'SFATAL\0VFATAL\0C3D000\0Mdatabase "57P03" does not exist\0\0');
const askForPassword = Buffer.from([...Buffer.from('R'), 0, 0, 0, 8, 0, 0, 0, 10]);

let now = 0;
let outage = new Outage();
const triesOf = (count: number) =>
  Array.from({ length: count }, () => outage.mayTry()).filter(Boolean).length;

beforeEach(() => {
  now = 1_000;
  outage = new Outage(() => now);
});

describe('the connections to one server', () => {
  it('are all tried as long as the server takes them', () => {
    expect(triesOf(100)).toBe(100);
    outage.noteFirstBytes(askForPassword);
    expect(triesOf(100)).toBe(100);
  });

  it('are tried once in 50 ms while it cannot be reached', () => {
    outage.begin();
    let tries = 0;
    for (let milliseconds = 0; milliseconds < 1_000; milliseconds++, now++) tries += triesOf(10);
    expect(tries).toBe(19);
  });

  it('are tried once in 50 ms while it starts', () => {
    outage.noteFirstBytes(startingUp);
    expect(triesOf(100)).toBe(0);
    now += 50;
    expect(triesOf(100)).toBe(1);
    outage.noteFirstBytes(startingUp);
    now += 49;
    expect(triesOf(100)).toBe(0);
  });

  it.each([['asks for a password', askForPassword], ['refuses one database', noDatabase]])(
    'are all tried again once it %s',
    (_says, response) => {
      outage.begin();
      now += 50;
      expect(triesOf(100)).toBe(1);
      outage.noteFirstBytes(response);
      expect(triesOf(100)).toBe(100);
    },
  );
});
