// The collections of the tests of filters.
import type { Field } from '../../../../storage/definition.ts';
import { profiles } from './profiles.ts';

/** What every filter test may name, unless it brings its own collections. */
export const collections: Readonly<Record<string, readonly Field[]>> = {
  countries: [{ name: 'name', kind: 'text' }],
  companies: [{ name: 'name', kind: 'text' }, { name: 'country', kind: 'relation', target: 'countries' }],
  authors: [
    { name: 'name', kind: 'text' },
    { name: 'age', kind: 'number' },
    { name: 'meta', kind: 'json' },
    { name: 'company', kind: 'relation', target: 'companies' },
    { name: 'friend', kind: 'relation', target: 'authors' },
    { name: 'friends', kind: 'relation', target: 'authors', many: true },
    { name: 'tags', kind: 'select', options: ['a', 'A', 'b', 'É', '5'], many: true },
  ],
  ...profiles,
  posts: [
    { name: 'key', kind: 'text' },
    { name: 'title', kind: 'text' },
    { name: 'subtitle', kind: 'text' },
    { name: 'mail', kind: 'email' },
    { name: 'state', kind: 'select', options: ['draft', 'public'] },
    { name: 'views', kind: 'number' },
    { name: 'likes', kind: 'number' },
    { name: 'done', kind: 'bool' },
    { name: 'due', kind: 'datetime' },
    { name: 'meta', kind: 'json' },
    { name: 'other', kind: 'json' },
    { name: 'file', kind: 'file' },
    { name: 'author', kind: 'relation', target: 'authors' },
    { name: 'editor', kind: 'relation', target: 'authors' },
    { name: 'owner', kind: 'relation', target: 'users' },
    { name: 'tags', kind: 'select', options: ['a', 'A', 'ab', 'é', '5'], many: true },
    { name: 'files', kind: 'file', many: true },
    { name: 'editors', kind: 'relation', target: 'authors', many: true },
    { name: 'owners', kind: 'relation', target: 'users', many: true },
  ],
};
