// An app with a collection of notes, and quotas that a test sets.
import { type Caller, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from './api.ts';

/** The app. */
export interface QuotaApp {
  own: OwnWorkspace;
  app: OwnApp;
  /** Of the app. */
  admin: Caller;
  /** Path of the records of `notes`. */
  records: string;
  /** Sets a quota of the app, or of what is at another path. */
  allow(quota: string, max: number, path?: string): Promise<void>;
}

/** Makes one in a workspace of its own. */
export async function quotaApp(fields: readonly object[] = []): Promise<QuotaApp> {
  const own = await ownWorkspace();
  const app = await own.app();
  const { admin, path } = app;
  expectOk(await admin.post(`${path}/collections`, { schema: { id: 'notes', kind: 'base', fields } }));
  return {
    own,
    app,
    admin,
    records: `${path}/collections/notes/records`,
    allow: async (quota, max, of = path) => {
      expectOk(await own.admin.put(`${of}/policies/quota.${quota}`, { kind: 'range', min: 0, max }));
    },
  };
}
