// Every route of the server, one file a resource.
import type { AnyRoute } from '../contract/route.ts';
import { accessRulesPut, accessRulesReset, accessRulesShow } from './access-rules.ts';
import { adminsCreate, adminsList, adminsRemove, adminsUpdate } from './admins.ts';
import { appOpenApi, typesShow } from './app-description.ts';
import { appsCreate, appsList, appsRemove, appsRename, appsShow } from './apps.ts';
import { appAudit, systemAudit, workspaceAudit } from './audit.ts';
import { adminLogin, adminRefresh, logout, masterLogin, masterPassword, me, refreshAny } from './auth.ts';
import { batch } from './batch.ts';
import {
  collectionsAlter,
  collectionsCreate,
  collectionsDrop,
  collectionsList,
  collectionsShow,
} from './collections.ts';
import { customRoutes } from './custom.ts';
import { definitionRoutes } from './definition.ts';
import { appRealtime, collectionEvents } from './events.ts';
import { filesGet, filesLink, filesList, filesMeta, filesRemove, filesShared, filesUpload } from './files.ts';
import {
  hookFilesList,
  hookFilesPut,
  hookFilesReload,
  hookFilesRemove,
  hookFilesShow,
} from './hook-files.ts';
import {
  hookJobsRun,
  hookLogs,
  hookStatus,
  hookTypes,
  hookVariablesList,
  hookVariablesPut,
  hookVariablesRemove,
  hookVariablesShow,
} from './hooks.ts';

import { jwks, jwksWellKnown } from './jwks.ts';
import { keyRoutes } from './keys.ts';
import {
  oauthAuthorize,
  oauthCallback,
  providersList,
  providersPut,
  providersRemove,
  providersShow,
} from './oauth.ts';
import { openApiRoute } from './openapi.ts';
import { originsPut, originsShow } from './origins.ts';
import { outboxList } from './outbox.ts';
import {
  policiesAppList,
  policiesAppPut,
  policiesAppRemove,
  policiesAppShow,
  policiesSystemList,
  policiesSystemPut,
  policiesSystemRemove,
  policiesSystemShow,
  policiesWorkspaceList,
  policiesWorkspacePut,
  policiesWorkspaceRemove,
  policiesWorkspaceShow,
} from './policies.ts';
import { recordsExport, recordsImport } from './record-transfer.ts';
import {
  recordsAggregate,
  recordsCreate,
  recordsGet,
  recordsList,
  recordsRemove,
  recordsUpdate,
} from './records.ts';
import { healthz, readyz } from './server.ts';
import { setup } from './setup.ts';
import { totpConfirm, totpDisable, totpEnrol, totpLogin, totpRemove } from './totp.ts';
import {
  emailChangeConfirm,
  emailChangeRequest,
  meRemove,
  passwordChange,
  sessionsEnd,
  sessionsEndAll,
  sessionsList,
} from './user-account.ts';
import { userLogin, userRefresh, userRegister } from './user-auth.ts';
import {
  inviteConfirm,
  otpLogin,
  otpRequest,
  passwordResetConfirm,
  passwordResetRequest,
  verifyEmailConfirm,
  verifyEmailRequest,
} from './user-proofs.ts';
import { usageApp, usageWorkspace } from './usage.ts';
import { usersImpersonate, usersInvite, usersList, usersRemove, usersShow, usersVerify } from './users.ts';
import {
  workspacesCreate,
  workspacesList,
  workspacesRemove,
  workspacesReset,
  workspacesShow,
  workspacesUpdate,
} from './workspaces.ts';

const described: readonly AnyRoute[] = [
  healthz,
  readyz,
  setup,
  masterLogin,
  masterPassword,
  refreshAny,
  logout,
  jwksWellKnown,
  jwks,
  adminLogin,
  adminRefresh,
  me,
  meRemove,
  userRegister,
  userLogin,
  userRefresh,
  verifyEmailRequest,
  verifyEmailConfirm,
  passwordResetRequest,
  passwordResetConfirm,
  inviteConfirm,
  otpRequest,
  otpLogin,
  totpLogin,
  totpEnrol,
  totpConfirm,
  totpDisable,
  sessionsList,
  sessionsEndAll,
  sessionsEnd,
  passwordChange,
  emailChangeRequest,
  emailChangeConfirm,
  oauthAuthorize,
  oauthCallback,
  providersList,
  providersShow,
  providersPut,
  providersRemove,
  usersList,
  usersInvite,
  usersShow,
  usersVerify,
  usersImpersonate,
  totpRemove,
  usersRemove,
  adminsList,
  adminsCreate,
  adminsUpdate,
  adminsRemove,
  ...keyRoutes,
  workspacesList,
  workspacesCreate,
  workspacesShow,
  workspacesUpdate,
  workspacesRemove,
  workspacesReset,
  outboxList,
  appsList,
  appsCreate,
  appsShow,
  appsRename,
  appsRemove,
  typesShow,
  appOpenApi,
  collectionsList,
  collectionsCreate,
  collectionsShow,
  collectionsAlter,
  collectionsDrop,
  accessRulesShow,
  accessRulesPut,
  accessRulesReset,
  ...definitionRoutes,
  recordsList,
  recordsExport,
  recordsImport,
  recordsAggregate,
  recordsCreate,
  recordsGet,
  recordsUpdate,
  recordsRemove,
  batch,
  collectionEvents,
  appRealtime,
  filesUpload,
  filesList,
  filesGet,
  filesMeta,
  filesRemove,
  filesLink,
  filesShared,
  hookFilesList,
  hookFilesReload,
  hookFilesShow,
  hookFilesPut,
  hookFilesRemove,
  hookVariablesList,
  hookVariablesShow,
  hookVariablesPut,
  hookVariablesRemove,
  hookJobsRun,
  hookLogs,
  hookStatus,
  hookTypes,
  ...customRoutes,
  policiesSystemList,
  policiesSystemShow,
  policiesSystemPut,
  policiesSystemRemove,
  originsShow,
  originsPut,
  policiesWorkspaceList,
  policiesWorkspaceShow,
  policiesWorkspacePut,
  policiesWorkspaceRemove,
  policiesAppList,
  policiesAppShow,
  policiesAppPut,
  policiesAppRemove,
  usageWorkspace,
  usageApp,
  systemAudit,
  workspaceAudit,
  appAudit,
];

/** The list that router, API description and contract tests are made from. */
export const routes: readonly AnyRoute[] = [...described, openApiRoute(described)];
