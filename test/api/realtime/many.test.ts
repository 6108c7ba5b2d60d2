// Live changes under rules and filters that ask for related records of which there may be many.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { type EndUser, type Scenario, scenario } from '../../harness/scenario.ts';
import {
  relationTo,
  titlesOf,
  tokenOf,
  type Watched,
  watched,
  watchedFields,
} from '../../harness/watched.ts';

let app: Scenario;
let ada: EndUser;
let bob: EndUser;

beforeAll(async () => {
  app = await scenario();
  [ada, bob] = [await app.user(), await app.user()];
});

/** Projects, their memberships, and issues that members see. */
async function tracker() {
  const projects = await watched(app, {}, watchedFields);
  const memberships = await watched(app, {}, [
    ...watchedFields,
    relationTo(projects.name, 'project', { cascade_delete: true }),
    relationTo('users', 'user'),
  ]);
  const rule = `project.${memberships.name}_via_project(user = @request.auth.id && title != 'guest')`;
  const issues = await watched(app, { list: rule, get: rule }, [
    ...watchedFields,
    relationTo(projects.name, 'project', { cascade_delete: true }),
  ]);
  const own = `${memberships.name}_via_project.user = @request.auth.id`;
  await app.setRules(projects.name, { list: own, get: own });
  return { projects, memberships, issues };
}

const watchAs = (collection: Watched, user: EndUser, filter?: string) =>
  collection.watch({ token: tokenOf(user), ...(filter === undefined ? {} : { filter }) });

describe('a rule that asks for memberships on a stream', () => {
  it('sse.authz-live: shows each member the issues of his projects, from the moment that he is one until he is none', async () => {
    const { projects, memberships, issues } = await tracker();
    const [hers, his] = [await watchAs(issues, ada), await watchAs(issues, bob)];
    const [apollo, gemini] = [await projects.create({}), await projects.create({})];
    await memberships.create({ project: apollo.id, user: ada.id, title: 'owner' });
    const membership = await memberships.create({ project: gemini.id, user: bob.id, title: 'owner' });
    await memberships.create({ project: gemini.id, user: ada.id, title: 'guest' });
    const engine = await issues.create({ title: 'engine', project: apollo.id });
    await issues.create({ title: 'of nobody' });
    await issues.create({ title: 'hatch', project: gemini.id });
    await issues.change(engine.id, { title: 'moved', project: gemini.id });
    await his.count(2);
    await memberships.remove(membership.id);
    await issues.create({ title: 'too late for Bob', project: gemini.id });
    // Once this one has come, the one before it has been judged.
    await issues.create({ title: 'next', project: apollo.id });
    await hers.count(2);
    await memberships.create({ project: gemini.id, user: bob.id, title: 'owner' });
    await issues.create({ title: 'back', project: gemini.id });
    await his.count(3);
    await issues.create({ title: 'last', project: apollo.id });
    await hers.count(3);
    expect(titlesOf(his)).toEqual(['hatch', 'moved', 'back']);
    expect(titlesOf(hers)).toEqual(['engine', 'next', 'last']);
    hers.socket.destroy();
    his.socket.destroy();
  });

  it('sse.authz-live: shows a deletion to members whose memberships went with it', async () => {
    const { projects, memberships, issues } = await tracker();
    const [project, other] = [await projects.create({ title: 'project' }), await projects.create({})];
    await memberships.create({ project: project.id, user: ada.id, title: 'owner' });
    await memberships.create({ project: other.id, user: bob.id, title: 'owner' });
    const issue = await issues.create({ title: 'issue', project: project.id });
    const hers = [await watchAs(projects, ada), await watchAs(issues, ada)];
    const his = [await watchAs(projects, bob), await watchAs(issues, bob)];
    await projects.remove(project.id);
    expect((await hers[0]?.count(1))?.[0]).toMatchObject({ event: 'record_deleted', data: project });
    expect((await hers[1]?.count(1))?.[0]).toMatchObject({ event: 'record_deleted', data: issue });
    const next = await issues.create({ title: 'next', project: other.id });
    expect((await his[1]?.count(1))?.[0]).toMatchObject({ event: 'record_created', data: next });
    await projects.change(other.id, { title: 'renamed' });
    expect((await his[0]?.count(1))?.[0]).toMatchObject({ event: 'record_updated' });
    for (const { socket } of [...hers, ...his]) socket.destroy();
  });
});

describe('a filter on a stream', () => {
  it('reaches only records that the caller may get', async () => {
    const { projects, memberships, issues } = await tracker();
    const project = await projects.create({});
    await memberships.create({ project: project.id, user: ada.id, title: 'owner' });
    const filter = `project.${memberships.name}_via_project(title = 'owner')`;
    const hers = await watchAs(issues, ada, filter);
    await issues.create({ title: 'one', project: project.id });
    const own = 'user = @request.auth.id';
    await app.setRules(memberships.name, { get: own });
    await issues.create({ title: 'two', project: project.id });
    await hers.count(1);
    expect(titlesOf(hers)).toEqual(['two']);
    hers.socket.destroy();
  });

  it('tells many callers apart in one batch', async () => {
    const { projects, memberships, issues } = await tracker();
    const users: EndUser[] = [];
    // One after the other: each takes a connection of its own to the database.
    while (users.length < 8) users.push(await app.user());
    const made = await Promise.all(users.map(async (user) => {
      const project = await projects.create({});
      await memberships.create({ project: project.id, user: user.id, title: 'owner' });
      return project;
    }));
    const streams = await Promise.all(users.map((user) => watchAs(issues, user)));
    const requests = made.map(({ id }, n) => ({
      method: 'POST',
      collection: issues.name,
      body: { title: `${n}`, project: id },
    }));
    expectOk(await app.admin.post(app.collections.replace(/collections$/, 'batch'), { requests }));
    for (const [n, stream] of streams.entries()) {
      await stream.count(1);
      expect(titlesOf(stream)).toEqual([`${n}`]);
      stream.socket.destroy();
    }
  });
});
