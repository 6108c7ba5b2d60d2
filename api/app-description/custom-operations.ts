// Operations of the custom routes of an app.
import type { RouteRegistration } from '../../hook-runner/registrations.ts';
import type { Operation } from '../contract/operation.ts';
import { methodsOf } from './route-types.ts';

/** An operation, and where it is. */
export interface PlacedOperation {
  path: string;
  method: string;
  operation: Operation;
}

/** Parameters of paths that differ in nothing but their names share the first ones: OpenAPI takes such paths for the same. */
export function describeCustomRoutes(
  registered: readonly RouteRegistration[],
  like: ReadonlyMap<string, Operation>,
): PlacedOperation[] {
  const shapes = new Map<string, { path: string; names: readonly string[] }>();
  const placed = new Map<string, PlacedOperation>();
  for (const route of registered) {
    const shape = `/custom/${shapeOf(route)}`;
    let known = shapes.get(shape);
    if (known === undefined) {
      const names = namesOf(route);
      const left = [...names];
      known = { path: shape.replaceAll('{}', () => `{${left.shift()}}`), names };
      shapes.set(shape, known);
    }
    for (const method of methodsOf(route)) {
      const general = like.get(method === 'HEAD' ? 'GET' : method);
      const key = `${method} ${shape}`;
      if (general === undefined || placed.has(key)) continue;
      placed.set(key, { path: known.path, method, operation: describe(method, known, general) });
    }
  }
  return [...placed.values()];
}

/** The rest of a path has slashes, which no parameter of OpenAPI has: it stands for one segment of it. */
function shapeOf({ segments }: RouteRegistration): string {
  return segments.map((segment) => segment.kind === 'literal' ? encodeURIComponent(segment.value) : '{}')
    .join('/');
}

function namesOf({ segments }: RouteRegistration): string[] {
  const own = segments.flatMap((segment) => segment.kind === 'param' ? [segment.name] : []);
  const hasRest = segments.some(({ kind }) => kind === 'rest');
  if (!hasRest) return own;
  let rest = 'rest';
  while (own.includes(rest)) rest += '_';
  return [...own, rest];
}

function describe(
  method: string,
  { path, names }: { path: string; names: readonly string[] },
  general: Operation,
): Operation {
  const { parameters: _, operationId: __, tags: ___, ...rest } = general;
  return {
    operationId: `${method.toLowerCase()} ${path}`,
    ...rest,
    tags: ['custom'],
    ...names.length > 0 && {
      parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    },
  };
}
