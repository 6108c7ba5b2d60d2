// An app whose collections of kind `auth` hold profiles of its workspace's users.
import { as, type Caller, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from './api.ts';
import { ruleBody, type Rules } from './scenario.ts';

/** The password of everybody whom a test registers through a profile. */
export const password = 'a password of the user';

/** A field of a profile. */
export const nick = { name: 'nick', kind: 'text' };

/** The app, and ways to make profiles in it. */
export interface ProfileApp {
  workspace: OwnWorkspace;
  app: OwnApp;
  admin: Caller;
  /** Makes an `auth` collection with rules, and answers the path of its records. */
  profiles(id: string, options?: { fields?: unknown[]; rules?: Rules }): Promise<string>;
  /** Logs a user in by `password`. */
  login(email: string): Promise<Caller>;
  /** Users of the workspace whose email this is a part of. */
  usersNamed(email: string): Promise<{ id: string; has_password: boolean }[]>;
}

/** Makes a workspace and an app in it. */
export async function profileApp(): Promise<ProfileApp> {
  const workspace = await ownWorkspace();
  const app = await workspace.app();
  const { admin } = app;
  const collections = `${app.path}/collections`;
  return {
    workspace,
    app,
    admin,
    profiles: async (id, { fields = [nick], rules = {} } = {}) => {
      expectOk(await admin.post(collections, { schema: { id, kind: 'auth', fields } }));
      for (const [action, rule] of Object.entries(rules)) {
        expectOk(await admin.put(`${collections}/${id}/access_rules/${action}`, ruleBody(rule)));
      }
      return `${collections}/${id}/records`;
    },
    login: async (email) => {
      const response = await as().post(`${workspace.path}/auth/users/login`, { email, password });
      return as(expectOk(response).access_token);
    },
    usersNamed: async (email) =>
      expectOk(await workspace.admin.get(`${workspace.path}/users?q=${encodeURIComponent(email)}`)).items,
  };
}
