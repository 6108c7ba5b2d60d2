// The routes that the code declares are those of the interface: none is missing, none is there unannounced.
import { describe, expect, it } from 'vitest';
import { routes } from '../../api/routes/index.ts';
import { additions, nameOf, specified } from './endpoints.ts';

const expected = [...specified, ...additions];
const declared = new Map(routes.map((route) => [nameOf(route), route]));

describe('the endpoints of the contract', () => {
  it('are all declared', () => {
    expect(expected.map(nameOf).filter((name) => !declared.has(name))).toEqual([]);
  });

  it('are the only ones declared', () => {
    const known = new Set(expected.map(nameOf));
    expect([...declared.keys()].filter((name) => !known.has(name))).toEqual([]);
  });

  it('are declared once', () => {
    expect(routes).toHaveLength(declared.size);
  });

  it.each(expected)('$method $path answers $status', (endpoint) => {
    expect(declared.get(nameOf(endpoint))?.status).toBe(endpoint.status);
  });

  it('answer before setup only where they must', () => {
    const open = routes.filter(({ beforeSetup }) => beforeSetup === true).map(({ path }) => path);
    expect(open.sort()).toEqual(['/_/setup', '/healthz', '/readyz']);
  });
});
