// Conditions on many related records that are read once: those that an id pins.
import { expect, it } from 'vitest';
import { fold } from '../../../../storage/app/filter/fold.ts';
import { toSql } from '../../../../storage/app/filter/sql/to-sql.ts';
import { appOf, conditionOf, requestOf, scopeIn } from './fixture.ts';

const id = '019b1f2e-0000-7000-8000-00000000000a';
const request = requestOf({ auth: { id, role: 'user' } });

function sqlOf(filter: string, collection = 'authors', guarded = false): string {
  const residue = fold(conditionOf(filter, scopeIn(appOf(), collection)), request);
  const guard = guarded ? { guard: () => ({ kind: 'constant', passes: true } as const) } : {};
  return toSql(residue, { alias: 'r', firstParameter: 1, ...guard }).text;
}

it.each([
  ['posts_via_author(owner = @request.auth.id)', 'authors'],
  ["posts_via_author(title = 'x' && @request.auth.id = owner)", 'authors'],
  ['author.posts_via_editor(owner = @request.auth.id)', 'posts'],
])('reads the pinned records of %s once', (filter, collection) => {
  expect(sqlOf(filter, collection)).toContain('= any(array(select "related_1".');
});

it.each([
  ["posts_via_author(title = 'x')", 'authors', false],
  ['posts_via_author(owner != @request.auth.id)', 'authors', false],
  ["posts_via_author(owner = @request.auth.id || title = 'x')", 'authors', false],
  ['posts_via_author(owner = @request.auth.id && editor.name = @record.name)', 'authors', false],
  ['!posts_via_author(owner = @request.auth.id)', 'authors', false],
  ['posts_via_author(owner = @request.auth.id)', 'authors', true],
])('leaves the order of reading %s to PostgreSQL', (filter, collection, guarded) => {
  expect(sqlOf(filter, collection, guarded)).toContain('exists (select');
});
