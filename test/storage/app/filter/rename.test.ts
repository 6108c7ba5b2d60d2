// Stored filters whose fields get other names: they mean the same, and look the same otherwise.
import { describe, expect, it } from 'vitest';
import { renameInFilter } from '../../../../storage/app/filter/rename.ts';
import { collections } from './collections.ts';
import { appOf, conditionOf, scopeIn } from './fixture.ts';

const app = appOf();

/** The app with other names for fields of a collection. */
function renamedApp(collection: string, names: Record<string, string>) {
  const fields = (collections[collection] ?? []).map((field) => ({
    ...field,
    name: names[field.name] ?? field.name,
  }));
  return appOf({ ...collections, [collection]: fields });
}

function rename(filter: string, collection: string, names: Record<string, string>, of = 'posts'): string {
  return renameInFilter(filter, scopeIn(app, of), { collection, names: new Map(Object.entries(names)) });
}

describe('a filter on posts', () => {
  const names = { title: 'headline', author: 'writer', meta: 'more', tags: 'labels', editors: 'redactors' };

  it.each([
    ['title = "title"', 'headline = "title"'],
    ["  title  ~ 'a'&&(subtitle=title)", "  headline  ~ 'a'&&(subtitle=headline)"],
    ['"😀" != title || !(title in [`title`, "x"])', '"😀" != headline || !(headline in [`headline`, "x"])'],
    ['author.name = title', 'writer.name = headline'],
    ['meta.title.author = 1', 'more.title.author = 1'],
    ['author.meta.title = 1', 'writer.meta.title = 1'],
    [
      '@record.title = "a" and @record.author.name = "b"',
      '@record.headline = "a" and @record.writer.name = "b"',
    ],
    ['@request.body.title != null', '@request.body.headline != null'],
    [
      '@request.query.title = "a" && @request.auth.id = author',
      '@request.query.title = "a" && @request.auth.id = writer',
    ],
    ['@collection.posts.title = "a"', '@collection.posts.headline = "a"'],
    [
      '@collection.posts(title = @record.title && author.name = "x")',
      '@collection.posts(headline = @record.headline && writer.name = "x")',
    ],
    ['author.posts_via_author.title = "a"', 'writer.posts_via_writer.headline = "a"'],
    [
      'author.posts_via_author(title = "a" && editor = null)',
      'writer.posts_via_writer(headline = "a" && editor = null)',
    ],
    [
      'author.friend.posts_via_author.author.posts_via_editor(title = "a")',
      'writer.friend.posts_via_writer.writer.posts_via_editor(headline = "a")',
    ],
    ['owner.email = "title"', 'owner.email = "title"'],
    ['@request.auth.profile.members.plan = title', '@request.auth.profile.members.plan = headline'],
    ['tags = "a" && editors.tags = title', 'labels = "a" && redactors.tags = headline'],
    [
      'editors(name = @record.title || posts_via_editors(title = "a")) && editors != author',
      'redactors(name = @record.headline || posts_via_redactors(headline = "a")) && redactors != writer',
    ],
  ])('%s is %s', (before, after) => {
    expect(rename(before, 'posts', names)).toBe(after);
    expect(conditionOf(after, scopeIn(renamedApp('posts', names)))).toBeDefined();
  });

  it.each([
    ['author.name = name', 'the names of another collection', 'author.name = name'],
    ['title ==', 'what does not parse', 'title =='],
  ])('%s: %s stay', (before, _what, after) => {
    expect(rename(before, 'authors', { nothing: 'else' })).toBe(after);
  });

  it('has the new names of related collections, and only there', () => {
    expect(rename('author.name = key && author.company.name = "a"', 'authors', { name: 'title' })).toBe(
      'author.title = key && author.company.name = "a"',
    );
  });

  it('has the new names of the caller’s profile', () => {
    const filter =
      '@request.auth.profile.members.plan = title && @request.auth.profile.members.meta.plan = 1';
    expect(rename(filter, 'members', { plan: 'tier', meta: 'more' })).toBe(
      '@request.auth.profile.members.tier = title && @request.auth.profile.members.more.plan = 1',
    );
  });

  it('has words of the language in backticks', () => {
    expect(rename('title = "a" and done = true', 'posts', { title: 'not', done: 'true' })).toBe(
      '`not` = "a" and `true` = true',
    );
    expect(rename('@record.title = author.name', 'posts', { title: 'and', author: 'in' })).toBe(
      '@record.and = `in`.name',
    );
  });
});
