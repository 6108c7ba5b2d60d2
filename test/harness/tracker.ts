// The app of docs/examples/tracker, made from its files, with people in it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Caller, expectOk } from './api.ts';
import { type EndUser, type Scenario, scenario } from './scenario.ts';

const folder = join(import.meta.dirname, '../../docs/examples/tracker');

/** The collections, each after those that its relations point to. */
export const trackerCollections = ['people', 'projects', 'memberships', 'invitations', 'issues', 'comments'];

/** A file of the example, read as JSON. */
function trackerFile(name: string) {
  return JSON.parse(readFileSync(join(folder, name), 'utf8'));
}

/** All rules by collection and action, as texts. */
export function trackerRules(): Record<string, Record<string, string>> {
  const rulesOf = (file: string): [string, Record<string, string>] => {
    const rules: Record<string, { filter: string }> = trackerFile(`rules/${file}`);
    return [
      file.replace('.json', ''),
      Object.fromEntries(Object.entries(rules).map(([action, { filter }]) => [action, filter])),
    ];
  };
  return Object.fromEntries(readdirSync(join(folder, 'rules')).map(rulesOf));
}

/** The app, and what people do in it. */
export interface Tracker extends Scenario {
  /** An end-user with a profile and a verified address. */
  person(name: string): Promise<EndUser>;
  /** Makes a project as its owner does, with the membership in the same batch. Returns its id. */
  project(owner: EndUser, name: string): Promise<string>;
  /** Invites somebody, who accepts. Returns the id of the membership. */
  join(owner: Caller, project: string, user: EndUser, role: string): Promise<string>;
  /** Makes an issue, and returns the record. */
  issue(
    author: EndUser,
    project: string,
    title: string,
    fields?: Record<string, unknown>,
  ): Promise<TrackerIssue>;
}

/** A record of `issues`. */
export interface TrackerIssue {
  id: string;
  fields: Record<string, unknown>;
}

/** Makes the app in a workspace of its own. */
export async function tracker(): Promise<Tracker> {
  const app = await scenario();
  for (const name of trackerCollections) {
    expectOk(await app.admin.post(app.collections, trackerFile(`collections/${name}.json`)));
  }
  for (const [name, rules] of Object.entries(trackerRules())) await app.setRules(name, rules);
  return { ...app, ...inTracker(app) };
}

function inTracker(app: Scenario): Omit<Tracker, keyof Scenario> {
  const { workspace, app: { path }, records } = app;
  return {
    person: async (name) => {
      const user = await app.user();
      expectOk(await user.post(records('people'), { email: user.email, name }));
      expectOk(await workspace.admin.patch(`${workspace.path}/users/${user.id}/verify`, { verified: true }));
      return user;
    },
    project: async (owner, name) => {
      const project = { id: crypto.randomUUID(), name, key: name.slice(0, 4), created_by: owner.id };
      const membership = { project: project.id, user: owner.id, role: 'owner' };
      const requests = [
        { method: 'POST', collection: 'projects', body: project },
        { method: 'POST', collection: 'memberships', body: membership },
      ];
      expectOk(await owner.post(`${path}/batch`, { requests }));
      return project.id;
    },
    join: async (owner, project, user, role) => {
      const invitation = { project, email: user.email, role };
      const { id } = expectOk(await owner.post(records('invitations'), invitation));
      const requests = [
        { method: 'POST', collection: 'memberships', body: { project, user: user.id, role } },
        { method: 'DELETE', collection: 'invitations', id },
      ];
      const { results } = expectOk(await user.post(`${path}/batch`, { requests }));
      return results[0].body.id;
    },
    issue: async (author, project, title, fields = {}) =>
      expectOk(await author.post(records('issues'), { project, title, author: author.id, ...fields })),
  };
}
