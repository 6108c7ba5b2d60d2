// The OpenAPI document of an app: its collections with the schemas of their fields, and its custom routes.
import type { RouteRegistration } from '../../hook-runner/registrations.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { takesWrites } from '../collections/record-members.ts';
import type { JsonSchema } from '../contract/json-schema.ts';
import { type OpenApiDocument, openApiDocument, toTemplate } from '../contract/openapi.ts';
import { describeOperation, type Operation, type SharedResponses } from '../contract/operation.ts';
import type { AnyRoute } from '../contract/route.ts';
import type { Schema } from '../contract/schema.ts';
import { describeCustomRoutes } from './custom-operations.ts';
import { recordSchemas } from './record-schemas.ts';
import { readableCollections } from './relations.ts';
import { typeNames } from './type-names.ts';

/** The routes of the server that an app has. */
export interface AppRoutes {
  /** Those of a collection that read. */
  reads: readonly AnyRoute[];
  /** Those of a collection that write. */
  writes: readonly AnyRoute[];
  /** Those of the app as a whole. */
  others: readonly AnyRoute[];
  /** Those that hooks handle. */
  custom: readonly AnyRoute[];
}

const prefix = '/api/workspaces/:workspace/apps/:app';

/** Describes an app. Equal definitions give equal documents. */
export function describeApp(
  app: AppDefinition,
  registered: readonly RouteRegistration[],
  routes: AppRoutes,
): OpenApiDocument {
  const collections = readableCollections(app);
  const names = typeNames(collections.map(({ id }) => id));
  const schemas: Record<string, JsonSchema> = {};
  const paths: OpenApiDocument['paths'] = {};
  const responses: SharedResponses = {};
  const add = (path: string, method: string, operation: Operation) => {
    (paths[path] ??= {})[method.toLowerCase()] = operation;
  };
  for (const collection of collections) {
    const name = names.get(collection.id) ?? collection.id;
    Object.assign(schemas, recordSchemas(collection, name));
    for (const route of [...routes.reads, ...takesWrites(collection) ? routes.writes : []]) {
      const path = route.path.replace(':coll', collection.id);
      const operation = describeOperation(withSchemas(route, name), responses);
      add(appPath(path), route.method, ownOperation(operation, { collection, name }));
    }
  }
  for (const route of routes.others) {
    add(appPath(route.path), route.method, ownOperation(describeOperation(route, responses)));
  }
  const operations = new Map(
    routes.custom.map((
      route,
    ) => [route.method.toString(), ownOperation(describeOperation(route, responses))]),
  );
  for (const { path, method, operation } of describeCustomRoutes(registered, operations)) {
    add(path, method, operation);
  }
  return openApiDocument({
    title: app.name,
    description: `The records and custom routes of the app ${app.id} in the workspace ${app.workspace.id}.`,
    url: `/api/workspaces/${app.workspace.id}/apps/${app.id}`,
    ...{ paths, responses, schemas },
  });
}

function appPath(path: string): string {
  return toTemplate(path.slice(prefix.length));
}

/** The route with the schemas of a collection in the place of those for any. */
function withSchemas(route: AnyRoute, name: string): AnyRoute {
  const record: JsonSchema = { $ref: `#/components/schemas/${name}Record` };
  const input = `#/components/schemas/${name}${route.method === 'POST' ? 'Create' : 'Update'}`;
  const refer = (schema: Schema<unknown>) => ({ ...schema, json: withRecord(schema.json, record) });
  const others = Object.entries(route.otherResponses ?? {}).map((
    [status, schema],
  ) => [status, refer(schema)]);
  const { body } = route;
  return {
    ...route,
    response: refer(route.response),
    otherResponses: Object.fromEntries(others),
    ...body !== undefined && { body: { ...body, json: { $ref: input } } },
  };
}

/** Replaces the schema of a record of any collection, and of those of a page. */
function withRecord(json: JsonSchema, record: JsonSchema): JsonSchema {
  const { properties = {} } = json;
  if (properties['collection'] !== undefined) return record;
  const { items } = properties;
  if (items?.items?.properties?.['collection'] === undefined) return json;
  return { ...json, properties: { ...properties, items: { ...items, items: record } } };
}

/** The operation without the parameters that are fixed here, and with a name of its own. */
function ownOperation(
  operation: Operation,
  of?: { collection: CollectionDefinition; name: string },
): Operation {
  const { operationId, parameters = [], ...rest } = operation;
  const fixed = ['workspace', 'app', ...of === undefined ? [] : ['coll']];
  const open = parameters.filter((one) => one.in !== 'path' || !fixed.includes(one.name));
  const shortened = operationId.replace('ApiWorkspacesByWorkspaceAppsByApp', '');
  return {
    operationId: of === undefined ? shortened : shortened.replace('CollectionsByColl', of.name),
    ...rest,
    tags: of === undefined ? rest.tags : [of.collection.id],
    ...open.length > 0 && { parameters: open },
  };
}
