// The response to a request whose hooks ended: 404 when the app has been deleted, the hooks' error otherwise.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiError } from '../../api/errors.ts';
import { explainFailure } from '../../api/deleted-tenant.ts';
import { deleteApp } from '../../storage/workspace/apps.ts';
import { type BareApp, bareApp } from '../harness/bare-app.ts';

let bare: BareApp;
beforeAll(async () => {
  bare = await bareApp();
});
afterAll(() => bare.end());

it('is 404 once the app is deleted, and the error of the hooks before', async () => {
  const { deps: { definitions, databases } } = bare;
  const app = await bare.definition();
  const { workspace, id, schema } = app;
  const failure = new ApiError('hook_error', 'the hook runner was stopped while the hook ran');
  const explained = () => explainFailure(definitions, { workspace, app }, failure);
  expect(await explained()).toBe(failure);
  definitions.invalidateLocally({ kind: 'app', workspace: workspace.id, app: id });
  expect(await explained()).toBe(failure);
  await databases.provisioner(workspace.database).run((sql) => deleteApp(sql, id, schema));
  expect(await explained()).toMatchObject({ status: 404, code: 'app_not_found' });
  const other = new ApiError('conflict', 'it is taken');
  expect(await explainFailure(definitions, { workspace, app }, other)).toBe(other);
});
