// Every route of the server, one file a resource.
import type { AnyRoute } from '../route.ts';
import { appsCreate, appsList, appsRemove, appsRename, appsShow } from './apps.ts';
import { auditApp, auditSystem, auditWorkspace } from './audit.ts';
import {
  collectionsAlter,
  collectionsCreate,
  collectionsDrop,
  collectionsList,
  collectionsShow,
} from './collections.ts';
import { openApiRoute } from './openapi.ts';
import { recordsCreate, recordsGet, recordsList, recordsRemove, recordsUpdate } from './records.ts';
import { healthz, readyz } from './server.ts';
import {
  workspacesCreate,
  workspacesList,
  workspacesRemove,
  workspacesRename,
  workspacesShow,
} from './workspaces.ts';

const described: readonly AnyRoute[] = [
  healthz,
  readyz,
  workspacesList,
  workspacesCreate,
  workspacesShow,
  workspacesRename,
  workspacesRemove,
  appsList,
  appsCreate,
  appsShow,
  appsRename,
  appsRemove,
  collectionsList,
  collectionsCreate,
  collectionsShow,
  collectionsAlter,
  collectionsDrop,
  recordsList,
  recordsCreate,
  recordsGet,
  recordsUpdate,
  recordsRemove,
  auditSystem,
  auditWorkspace,
  auditApp,
];

/** The list that router, API description and contract tests are made from. */
export const routes: readonly AnyRoute[] = [...described, openApiRoute(described)];
