// The rules of the example "tracker": who may do what in a project.
import { describe, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { tracker } from '../../harness/tracker.ts';

const app = await tracker();
const { records } = app;
const [ada, bob, gus, eve] = [
  await app.person('Ada'),
  await app.person('Bob'),
  await app.person('Gus'),
  await app.person('Eve'),
];
const garden = await app.project(ada, 'Garden');
const bobs = await app.join(ada, garden, bob, 'member');
const guss = await app.join(ada, garden, gus, 'guest');
const first = await app.issue(bob, garden, 'first');

const batch = (caller: typeof ada, ...requests: object[]) =>
  caller.post(`${app.app.path}/batch`, { requests });

describe('a project', () => {
  it('belongs to whoever makes it, and is never made without a member', async () => {
    const mine = await app.project(eve, 'Eve');
    expect(expectOk(await eve.get(records('projects'))).items.map(({ id }: { id: string }) => id)).toEqual([
      mine,
    ]);
    const foreign = { name: 'x', key: 'X', created_by: ada.id };
    expectError(await eve.post(records('projects'), foreign), 403, 'forbidden');
    const id = crypto.randomUUID();
    const half = await batch(
      eve,
      { method: 'POST', collection: 'projects', body: { id, name: 'x', key: 'X', created_by: eve.id } },
      { method: 'POST', collection: 'memberships', body: { project: id, user: ada.id, role: 'owner' } },
    );
    expect(half.status).toBe(400);
    expectError(await eve.get(`${records('projects')}/${id}`), 404, 'not_found');
  });

  it('is changed and deleted by owners only', async () => {
    const path = `${records('projects')}/${garden}`;
    expectOk(await ada.patch(path, { description: 'Beds and paths' }));
    for (const other of [bob, gus, eve]) {
      expectError(await other.patch(path, { name: 'mine' }), 403, 'forbidden');
      expectError(await other.delete(path), 403, 'forbidden');
    }
    expectError(await ada.patch(path, { created_by: bob.id }), 403, 'forbidden');
  });

  it('takes everything along when it is deleted', async () => {
    const project = await app.project(ada, 'Pond');
    const { id } = await app.issue(ada, project, 'dry');
    expectOk(await ada.post(records('comments'), { issue: id, author: ada.id, text: 'rain' }));
    expectOk(await ada.delete(`${records('projects')}/${project}`));
    expectError(await ada.get(`${records('issues')}/${id}`), 404, 'not_found');
  });
});

describe('a membership', () => {
  const memberships = records('memberships');

  it('comes from an invitation, with its role, to a verified address, once', async () => {
    const mine = { project: garden, user: eve.id, role: 'guest' };
    // Of a project that nobody has invited one to, one does not even learn that it is there.
    expectError(await eve.post(memberships, mine), 400, 'validation');
    expectOk(await ada.post(records('invitations'), { project: garden, email: eve.email, role: 'guest' }));
    expectOk(await eve.get(`${records('projects')}/${garden}`));
    expectError(await eve.post(memberships, { ...mine, role: 'owner' }), 403, 'forbidden');
    expectError(await bob.post(memberships, mine), 400, 'validation');
    const verify = (verified: boolean) =>
      app.workspace.admin.patch(`${app.workspace.path}/users/${eve.id}/verify`, { verified });
    expectOk(await verify(false));
    expect(expectOk(await eve.get(records('invitations'))).items).toEqual([]);
    expectError(await eve.post(memberships, mine), 400, 'validation');
    expectOk(await verify(true));
    const { id } = expectOk(await eve.post(memberships, mine));
    expectError(await eve.post(memberships, mine), 409, 'conflict');
    expectOk(await eve.delete(`${memberships}/${id}`));
    const [invitation] = expectOk(await eve.get(records('invitations'))).items;
    expectOk(await eve.delete(`${records('invitations')}/${invitation.id}`));
    expectError(await eve.get(`${records('projects')}/${garden}`), 403, 'forbidden');
  });

  it('is invited to by owners only', async () => {
    for (const other of [bob, gus]) {
      const invitation = { project: garden, email: 'x@example.com', role: 'owner' };
      expectError(await other.post(records('invitations'), invitation), 403, 'forbidden');
    }
  });

  it('is changed by owners, but not their own, and never becomes another', async () => {
    expectOk(await ada.patch(`${memberships}/${bobs}`, { role: 'guest' }));
    expectOk(await ada.patch(`${memberships}/${bobs}`, { role: 'member' }));
    for (const body of [{ user: eve.id }, { project: await app.project(ada, 'Other') }]) {
      expect((await ada.patch(`${memberships}/${bobs}`, body)).status).toBeGreaterThanOrEqual(400);
    }
    expectError(await bob.patch(`${memberships}/${bobs}`, { role: 'owner' }), 403, 'forbidden');
    const filter = encodeURIComponent("role = 'owner'");
    const { items: [own] } = expectOk(await bob.get(`${memberships}?filter=${filter}`));
    expectError(await ada.patch(`${memberships}/${own.id}`, { role: 'guest' }), 403, 'forbidden');
    // The last owner stays.
    expectError(await ada.delete(`${memberships}/${own.id}`), 403, 'forbidden');
    expectError(await bob.delete(`${memberships}/${guss}`), 403, 'forbidden');
  });

  it('can be left by everybody but the last owner', async () => {
    const project = await app.project(ada, 'Shed');
    const second = await app.join(ada, project, bob, 'owner');
    const { items } = expectOk(
      await bob.get(`${memberships}?filter=${encodeURIComponent(`project = '${project}'`)}`),
    );
    const adas = items.find(({ id }: { id: string }) => id !== second).id;
    expectOk(await ada.delete(`${memberships}/${adas}`));
    expectError(await bob.delete(`${memberships}/${second}`), 403, 'forbidden');
    // Who made it, and left, has no way back.
    expectError(await ada.get(`${records('projects')}/${project}`), 403, 'forbidden');
    const again = { project, user: ada.id, role: 'owner' };
    expectError(await ada.post(memberships, again), 400, 'validation');
  });
});

describe('issues and comments', () => {
  const issues = records('issues');

  it('are numbered in each project, whoever creates them at the same moment', async () => {
    const project = await app.project(ada, 'Numbers');
    await app.join(ada, project, bob, 'member');
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, at) => app.issue(at % 2 === 0 ? ada : bob, project, `issue ${at}`)),
    );
    expect(made.map(({ fields }) => Number(fields['number'])).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, at) => at + 1),
    );
  });

  it('are written by members, and commented on by guests', async () => {
    const issue = { project: garden, title: 'x' };
    expectError(await gus.post(issues, { ...issue, author: gus.id }), 403, 'forbidden');
    expectError(await bob.post(issues, { ...issue, author: ada.id }), 403, 'forbidden');
    expectError(await gus.patch(`${issues}/${first.id}`, { status: 'done' }), 403, 'forbidden');
    expectOk(await ada.patch(`${issues}/${first.id}`, { 'labels+': ['bug'], 'assignees+': [bob.id] }));
    expectError(await ada.patch(`${issues}/${first.id}`, { author: ada.id }), 403, 'forbidden');
    const { id } = expectOk(
      await gus.post(records('comments'), { issue: first.id, author: gus.id, text: 'why?' }),
    );
    expectOk(await gus.patch(`${records('comments')}/${id}`, { text: 'how?' }));
    expectError(await bob.patch(`${records('comments')}/${id}`, { text: 'no' }), 403, 'forbidden');
    expectError(await bob.delete(`${records('comments')}/${id}`), 403, 'forbidden');
    expectOk(await ada.delete(`${records('comments')}/${id}`));
  });

  it('are assigned to members of their project', async () => {
    const other = await app.project(ada, 'Elsewhere');
    const issue = { project: other, title: 'x', author: ada.id };
    // Ada knows Bob from another project.
    expectError(await ada.post(issues, { ...issue, assignees: [ada.id, bob.id] }), 403, 'forbidden');
    expectOk(await ada.post(issues, { ...issue, assignees: [ada.id] }));
    expectError(await ada.post(issues, { ...issue, assignees: [eve.id] }), 400, 'validation');
  });

  it('are deleted by owners, and by authors who are still members', async () => {
    const { id } = await app.issue(bob, garden, 'mine');
    expectOk(await ada.patch(`${records('memberships')}/${bobs}`, { role: 'guest' }));
    expectError(await bob.delete(`${issues}/${id}`), 403, 'forbidden');
    expectOk(await ada.patch(`${records('memberships')}/${bobs}`, { role: 'member' }));
    expectOk(await bob.delete(`${issues}/${id}`));
  });
});
