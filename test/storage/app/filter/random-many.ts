// Random filters that ask for related records of which there may be many.
import fc from 'fast-check';
import { filter } from './random.ts';

/** A filter on `posts`, as text, which may ask for many. */
export const filterOfMany = fc.oneof(
  filter,
  fc.tuple(
    fc.constantFrom('', '!'),
    fc.constantFrom(
      'author.posts_via_author',
      'owner.posts_via_owner',
      'editors.posts_via_editors',
      '@collection.posts',
    ),
    filter,
  ).map(([not, path, part]) => `${not}${path}(${part})`),
  fc.tuple(
    fc.constantFrom(
      'author.authors_via_friend',
      'editor.authors_via_friend',
      'author.company.authors_via_company',
      'editors',
      'author.friends',
      'editors.friends',
      'editor.authors_via_friends',
    ),
    fc.constantFrom(
      'name = @record.title',
      "meta.a = 'a'",
      'age != @record.views',
      'posts_via_author.done = true',
      "friends = @record.editor || tags = 'a'",
      'friends(name = @record.title)',
      'tags = @record.tags',
    ),
    filter,
  ).map(([path, part, other]) => `${path}(${part}) ${part.length % 2 === 0 ? '&&' : '||'} ${other}`),
  fc.tuple(
    fc.constantFrom(
      'author.posts_via_author.title',
      'author.authors_via_friend.name',
      '@collection.authors.id',
      'editors.name',
      'editors.tags',
      'editors.friends.company.name',
      'author.authors_via_friends.tags',
    ),
    fc.constantFrom("= 'a'", '!= title', '= null', "~ 'a'", '= author', 'in [title, subtitle]'),
  ).map((parts) => parts.join(' ')),
);
