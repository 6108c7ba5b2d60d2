// Rules and filters that ask for related records of which there may be many: backwards along relations, and of any collection.
import { describe, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { scenario, title, titlesOf } from '../../harness/scenario.ts';

const app = await scenario();
const { admin } = app;
const [ada, bob, eve] = [await app.user(), await app.user(), await app.user()];

const text = (name: string) => ({ name, kind: 'text' });
const to = (name: string, target: string) => ({ name, kind: 'relation', target });
const isMember = 'project.memberships_via_project(user = @request.auth.id)';

const projects = await app.define('projects', [title], {});
const memberships = await app.define('memberships', [
  to('project', 'projects'),
  to('user', 'users'),
  text('role'),
], {});
const issues = await app.define('issues', [title, to('project', 'projects'), to('reporter', 'users')], {
  list: isMember,
  get: isMember,
  create: isMember,
  update: "project.memberships_via_project(user = @request.auth.id && role = 'owner')",
  delete: "project.memberships_via_project(user = @request.auth.id && role = 'owner')",
});
const comments = await app.define('comments', [title, to('issue', 'issues'), to('author', 'users')], {});
await app.setRules('projects', {
  list: 'memberships_via_project.user = @request.auth.id',
  get: 'memberships_via_project.user = @request.auth.id',
});

const apollo = await app.make(projects, { title: 'Apollo' });
const gemini = await app.make(projects, { title: 'Gemini' });
await app.make(memberships, { project: apollo, user: ada.id, role: 'owner' });
await app.make(memberships, { project: apollo, user: bob.id, role: 'guest' });
await app.make(memberships, { project: gemini, user: bob.id, role: 'owner' });
const engine = await app.make(issues, { title: 'engine', project: apollo, reporter: bob.id });
const hatch = await app.make(issues, { title: 'hatch', project: gemini, reporter: bob.id });
const stray = await app.make(issues, { title: 'stray' });
await app.make(comments, { title: 'loud', issue: engine, author: ada.id });
await app.make(comments, { title: 'quiet', issue: engine, author: bob.id });

const filtered = async (path: string, filter: string, caller = admin) =>
  titlesOf(await caller.get(`${path}?sort=title&filter=${encodeURIComponent(filter)}`));

describe('a rule that asks for memberships', () => {
  it('shows each member the records of his own projects, and others none', async () => {
    expect(titlesOf(await ada.get(`${issues}?sort=title`))).toEqual(['engine']);
    expect(titlesOf(await bob.get(`${issues}?sort=title`))).toEqual(['engine', 'hatch']);
    expect(titlesOf(await eve.get(issues))).toEqual([]);
    expect(titlesOf(await bob.get(`${projects}?sort=title`))).toEqual(['Apollo', 'Gemini']);
    expect(titlesOf(await eve.get(projects))).toEqual([]);
    expectError(await as().get(issues), 401, 'unauthorized');
    expectOk(await ada.get(`${issues}/${engine}`));
    expectError(await ada.get(`${issues}/${hatch}`), 403, 'forbidden');
    expectError(await bob.get(`${issues}/${stray}`), 403, 'forbidden');
  });

  it('is met by one and the same record', async () => {
    const path = `${issues}/${engine}`;
    // Apollo has an owner, and Bob is a member: only Ada is both.
    expectError(await bob.patch(path, { title: 'engine' }), 403, 'forbidden');
    expectOk(await ada.patch(path, { title: 'engine' }));
    expectError(await bob.delete(path), 403, 'forbidden');
  });

  it('holds for what a create or an update would make of the record', async () => {
    expectError(await eve.post(issues, { title: 'mine' }), 403, 'forbidden');
    // To somebody who may not get it, a project does not exist.
    expectError(await ada.post(issues, { title: 'hers', project: gemini }), 400, 'validation');
    const made = expectOk(await ada.post(issues, { title: 'made', project: apollo }));
    expectError(await ada.patch(`${issues}/${made.id}`, { project: gemini }), 400, 'validation');
    expectOk(await ada.delete(`${issues}/${made.id}`));
  });

  it('ends with the membership', async () => {
    const project = await app.make(projects, { title: 'Zond' });
    const membership = await app.make(memberships, { project, user: eve.id, role: 'guest' });
    const probe = await app.make(issues, { title: 'probe', project });
    expect(titlesOf(await eve.get(issues))).toEqual(['probe']);
    expectOk(await admin.delete(`${memberships}/${membership}`));
    expect(titlesOf(await eve.get(issues))).toEqual([]);
    expectOk(await admin.delete(`${issues}/${probe}`));
    expectOk(await admin.delete(`${projects}/${project}`));
  });
});

describe('rule.null-logic of many', () => {
  it.each([
    '!memberships_via_project(user = @request.auth.id)',
    'memberships_via_project.user != @request.auth.id',
    '!(memberships_via_project.user in [@request.auth.id])',
    '!@collection.memberships(user = @request.auth.id)',
    '!issues_via_project(comments_via_issue(author = @request.auth.id))',
    '!(memberships_via_project.user = @request.query.absent)',
  ])('nothing is missing enough to let an anonymous caller pass %s', async (rule) => {
    const target = await scenario();
    const lonely = await target.define('projects', [title], {});
    await target.define('memberships', [to('project', 'projects'), to('user', 'users')], {});
    await target.define('issues', [to('project', 'projects')], {});
    await target.define('comments', [to('issue', 'issues'), to('author', 'users')], {});
    await target.setRules('projects', { list: rule, get: rule });
    const id = await target.make(lonely, { title: 'nobody is a member' });
    expectError(await as().get(lonely), 401, 'unauthorized');
    expectError(await as().get(`${lonely}/${id}`), 401, 'unauthorized');
  });

  it('lets whom no record names pass', async () => {
    const rule = '!memberships_via_project(user = @request.auth.id)';
    const others = await app.define('others', [title, to('project', 'projects')], {
      list: `project.title != null && ${rule.replace('!', '!project.')}`,
    });
    await app.make(others, { title: 'of Apollo', project: apollo });
    expect(titlesOf(await ada.get(others))).toEqual([]);
    expect(titlesOf(await eve.get(others))).toEqual(['of Apollo']);
  });
});

describe('a filter', () => {
  it('goes backwards, and on from there', async () => {
    expect(await filtered(issues, `comments_via_issue(author = '${ada.id}')`)).toEqual(['engine']);
    expect(await filtered(issues, "comments_via_issue.title ~ 'lou%'")).toEqual(['engine']);
    expect(await filtered(issues, "comments_via_issue(title = 'loud' && author.email = '')")).toEqual([]);
    expect(await filtered(projects, "issues_via_project.comments_via_issue(title = 'loud')")).toEqual([
      'Apollo',
    ]);
    expect(
      await filtered(projects, "issues_via_project(title = 'engine' && comments_via_issue(title = 'loud'))"),
    )
      .toEqual(['Apollo']);
    expect(await filtered(comments, `issue.project.memberships_via_project.user = '${ada.id}'`))
      .toEqual(['loud', 'quiet']);
  });

  it('says that there is none', async () => {
    expect(await filtered(issues, '!(comments_via_issue(title != null))')).toEqual(['hatch', 'stray']);
    expect(await filtered(issues, "comments_via_issue.title != 'loud'")).toEqual(['hatch', 'stray']);
    expect(await filtered(issues, "!comments_via_issue(title = 'loud')")).toEqual(['hatch', 'stray']);
    expect(await filtered(issues, 'comments_via_issue = null')).toEqual(['hatch', 'stray']);
    expect(await filtered(issues, 'comments_via_issue != null')).toEqual(['engine']);
    expect(await filtered(issues, "comments_via_issue.title in ['loud', 'other']")).toEqual(['engine']);
    expect(await filtered(issues, "comments_via_issue.title in ['other']")).toEqual([]);
  });

  it('compares with the record at hand, and with @record', async () => {
    // By whoever reported the issue.
    expect(await filtered(issues, 'comments_via_issue.author = reporter')).toEqual(['engine']);
    expect(await filtered(issues, "comments_via_issue(author = @record.reporter && title = 'quiet')"))
      .toEqual(['engine']);
    expect(await filtered(issues, "comments_via_issue(author = @record.reporter && title = 'loud')")).toEqual(
      [],
    );
    expect(await filtered(issues, '@collection.comments(issue = @record.id && author = @record.reporter)'))
      .toEqual(['engine']);
    expect(await filtered(issues, "@collection.projects(title = 'Apollo') && title = 'stray'")).toEqual([
      'stray',
    ]);
    expect(await filtered(issues, "@collection.projects(title = 'Soyuz')")).toEqual([]);
    expect(await filtered(issues, "@collection.projects.title = 'Gemini' && @record.title = 'hatch'"))
      .toEqual(['hatch']);
  });

  it('of a user reaches only records that its get rule admits', async () => {
    // Ada may get no comment and no membership, and one project.
    expect(await filtered(issues, 'comments_via_issue != null', ada)).toEqual([]);
    expect(await filtered(issues, '!(comments_via_issue != null)', ada)).toEqual(['engine']);
    expect(await filtered(issues, "@collection.memberships(role = 'owner')", ada)).toEqual([]);
    expect(await filtered(issues, "@collection.projects(title = 'Apollo')", ada)).toEqual(['engine']);
    expect(await filtered(issues, "@collection.projects(title = 'Gemini')", ada)).toEqual([]);
    expect(await filtered(issues, "@collection.projects(title = 'Gemini')", bob)).toEqual([
      'engine',
      'hatch',
    ]);
    expect(await filtered(issues, "project.issues_via_project(title = 'hatch')", ada)).toEqual([]);
  });

  it.each([
    ["members_via_project.user = 'x'", 'unknown_column', 'members_via_project.user'],
    ["memberships_via_user.role = 'x'", 'unknown_column', 'memberships_via_user.role'],
    ["memberships_via_project(rank = 'x')", 'unknown_column', 'rank'],
    ["@collection.nothing(role = 'x')", 'unknown_column', '@collection.nothing'],
    ["title(role = 'x')", 'parse_error', 'takes no condition in parentheses'],
    ["memberships_via_project.role > 'x'", 'parse_error', 'memberships_via_project(role > …)'],
    ['memberships_via_project', 'parse_error', 'expected an operator'],
    ['memberships_via_project()', 'parse_error', 'expected a field or a value'],
    ["memberships_via_project(role = 'x'", 'parse_error', 'expected ")"'],
    [
      'issues_via_project.project.issues_via_project.project.issues_via_project.project.issues_via_project != null',
      'parse_error',
      'more than 3 levels',
    ],
  ])('%s is refused', async (filter, code, message) => {
    const response = await admin.get(`${projects}?filter=${encodeURIComponent(filter)}`);
    expectError(response, 400, code);
    expect(response.body.message).toContain(message);
  });
});
