// How much mail hooks may send, by a clock that stands still.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hookMailLimits, sendForHook, workspaceMailLimits } from '../../../api/app-api/mail.ts';
import type { LogEvent } from '../../../api/logging/events.ts';
import { SpentShares } from '../../../api/logging/spent-shares.ts';
import { opaqueName } from '../../../storage/sql/ids.ts';
import type { Storage } from '../../../storage/boot/boot.ts';
import { type OwnInstallation, ownInstallation } from '../../harness/database.ts';
import { makeTenant } from '../../harness/tenants.ts';

let now = new Date();
const events: LogEvent[] = [];
const spentShares = new SpentShares({ observe: (event) => events.push(event), now: () => now });
let installation: OwnInstallation;
let storage: Storage;
beforeAll(async () => {
  installation = await ownInstallation();
  storage = await installation.open();
});
afterAll(() => installation.remove());

/** A workspace; each app of it is told from all others by its schema. */
async function makeWorkspace() {
  const { database } = await makeTenant(storage);
  return { id: 'acme', name: 'Acme', created_at: now, updated_at: now, database };
}

type Workspace = Awaited<ReturnType<typeof makeWorkspace>>;

/** Sends mails from an app. Returns how many were accepted, and the error of the first that was not. */
async function send(workspace: Workspace, schema: string, times: number) {
  const posted: unknown[] = [];
  const mail = { enqueue: (letter: unknown) => Promise.resolve(void posted.push(letter)) };
  const app = { id: 'shop', schema, workspace };
  const letter = { to: `${randomUUID()}@example.com`, subject: 'news', text: 'of ours' };
  const deps = { databases: storage.databases, mail, spentShares, now: () => now };
  let refused: unknown;
  for (let sent = 0; sent < times && refused === undefined; sent++) {
    await sendForHook(deps, app, letter).catch((error: unknown) => refused = error);
  }
  return { sent: posted.length, refused };
}

it(
  'is bounded for all apps of a workspace together, those that were deleted too, and for no other workspace',
  async () => {
    const [workspace, other] = [await makeWorkspace(), await makeWorkspace()];
    const { burst } = hookMailLimits;
    let sent = 0;
    for (let app = 0; app < workspaceMailLimits.burst / burst; app++) {
      sent += (await send(workspace, opaqueName('a_'), burst)).sent;
    }
    expect(sent).toBe(workspaceMailLimits.burst);
    const another = opaqueName('a_');
    expect(await send(workspace, another, 1)).toMatchObject({
      sent: 0,
      refused: {
        code: 'too_many_requests',
        message: 'the hooks of a workspace may send 1000 mails at once, then 100 a minute',
      },
    });
    expect(events).toMatchObject([{ type: 'share_spent', share: 'mail of hooks', workspace: 'acme' }]);
    expect(await send(other, opaqueName('a_'), 1)).toEqual({ sent: 1, refused: undefined });
    now = new Date(now.getTime() + 6_000);
    // The refusal of the workspace has cost the app nothing.
    expect(await send(workspace, another, burst)).toMatchObject({ sent: 10 });
  },
  60_000,
);

it('costs the workspace nothing when an app is refused', async () => {
  const workspace = await makeWorkspace();
  const { burst } = hookMailLimits;
  const busy = opaqueName('a_');
  await send(workspace, busy, burst);
  for (let round = 0; round < 20; round++) {
    expect(await send(workspace, busy, 1)).toMatchObject({
      sent: 0,
      refused: { message: 'the hooks of an app may send 100 mails at once, then 10 a minute' },
    });
  }
  let sent = 0;
  while (sent < workspaceMailLimits.burst - burst) {
    const { sent: more } = await send(workspace, opaqueName('a_'), burst);
    expect(more).toBe(burst);
    sent += more;
  }
}, 300_000);
