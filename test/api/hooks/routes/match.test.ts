// Which of several custom routes is meant, and what many of them cost.
import { describe, expect, it } from 'vitest';
import { RouteTable } from '../../../../api/hooks/routes/match.ts';
import type { RouteRegistration, RouteSegment } from '../../../../hook-runner/registrations.ts';

const segmentOf = (part: string): RouteSegment => {
  if (part === '*') return { kind: 'rest' };
  return part.startsWith(':') ? { kind: 'param', name: part.slice(1) } : { kind: 'literal', value: part };
};
const route = (text: string): RouteRegistration => {
  const [method = '', path = ''] = text.split(' ');
  return { method, path, segments: path.slice(1).split('/').map(segmentOf) };
};

describe('custom routes', () => {
  it('are found by the most exact path, then by their own method, then by who came first', () => {
    const table = new RouteTable(
      ['GET /*', 'ANY /:a', 'GET /:a', 'ANY /x', 'GET /:b/y', 'POST /x', 'GET /:c/y', 'HEAD /h'].map(route),
    );
    const found = (method: string, path: string) => {
      const match = table.match(method, path);
      return match === undefined ? 'none' : `${match.route.method} ${match.route.path}`;
    };
    expect([found('GET', 'x'), found('POST', 'x'), found('GET', 'z'), found('PUT', 'z')])
      .toEqual(['ANY /x', 'POST /x', 'GET /:a', 'ANY /:a']);
    expect([found('GET', 'a/y'), found('GET', 'a/b/c'), found('PUT', 'a/b'), found('HEAD', 'a/b')])
      .toEqual(['GET /:b/y', 'GET /*', 'none', 'GET /*']);
    expect([found('HEAD', 'h'), found('HEAD', 'x'), found('ANY', 'z')]).toEqual([
      'HEAD /h',
      'ANY /x',
      'ANY /:a',
    ]);
  });

  it('have no parameter that is empty', () => {
    const table = new RouteTable([route('GET /posts/:id/comments')]);
    expect(table.match('GET', 'posts/7/comments')?.params).toEqual({ id: '7' });
    expect(table.match('GET', 'posts//comments')).toBeUndefined();
  });

  it('of a HEAD are those of GET where it has none, which win over any method as a GET does', () => {
    const table = new RouteTable(
      ['ANY /*', 'GET /page', 'ANY /both', 'GET /both', 'HEAD /own', 'GET /own'].map(route),
    );
    const found = ['page', 'both', 'own', 'else'].map((path) => table.match('HEAD', path)?.route)
      .map((one) => `${one?.method} ${one?.path}`);
    expect(found).toEqual(['GET /page', 'GET /both', 'HEAD /own', 'ANY /*']);
  });

  it('of as many methods as there are routes take room for each once', () => {
    const routes = Array.from({ length: 5_000 }, (_, n) => [`M${n} /a${n}`, `ANY /b${n}`].map(route)).flat();
    const before = process.memoryUsage().heapUsed;
    const table = new RouteTable(routes);
    const mebibytes = (process.memoryUsage().heapUsed - before) / 2 ** 20;
    expect(table.match('M7', 'b9')?.route.path).toBe('/b9');
    // Those of any method, once for every other method, would be 25 million: 190 MiB.
    expect(mebibytes).toBeLessThan(40);
  });
});
