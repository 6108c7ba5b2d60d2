// Two users of one app, each with a profile that only they may read, and posts of everybody's that point to them.
import { as, type Caller, expectOk, type OwnApp, type OwnWorkspace } from './api.ts';
import { password, profileApp } from './profiles.ts';
import { ruleBody } from './scenario.ts';
import { freshEmail } from './users.ts';

/** A user who is logged in, and has a profile whose nick is `secret`. */
export interface Member {
  id: string;
  email: string;
  token: string;
  self: Caller;
}

/** The app; Mallory is who attacks. */
export interface Neighbours {
  workspace: OwnWorkspace;
  app: OwnApp;
  /** Paths of records. Each post has an `author` of `members` and a `person` of `users`. */
  members: string;
  posts: string;
  vera: Member;
  mallory: Member;
  /** Her post, called `hers`; his is called `his`. */
  hers: string;
  /** All that there is to know of a member, as admins see it. */
  stateOf(member: Member): Promise<unknown>;
  /** The titles of the posts that Mallory is shown, in their order. */
  titles(query: string): Promise<string[]>;
}

/** Makes the app. */
export async function neighbours(): Promise<Neighbours> {
  const { profiles, workspace, app } = await profileApp();
  const own = 'id = @request.auth.id';
  const rules = { list: own, get: own, create: 'any', update: own, delete: own };
  const members = await profiles('members', { rules });
  const posts = await makePosts(app);
  const member = async (): Promise<Member> => {
    const email = freshEmail();
    const { id } = expectOk(await as().post(members, { email, password, nick: 'secret' }));
    const login = await as().post(`${workspace.path}/auth/users/login`, { email, password });
    const token: string = expectOk(login).access_token;
    return { id, email, token, self: as(token) };
  };
  const [vera, mallory] = [await member(), await member()];
  const post = async (title: string, { id }: Member): Promise<string> =>
    expectOk(await app.admin.post(posts, { title, author: id, person: id })).id;
  const hers = await post('hers', vera);
  await post('his', mallory);
  return {
    workspace,
    app,
    members,
    posts,
    vera,
    mallory,
    hers,
    stateOf: async ({ id }) => ({
      user: expectOk(await workspace.admin.get(`${workspace.path}/users/${id}`)),
      profile: expectOk(await app.admin.get(`${members}/${id}`)),
    }),
    titles: async (query) => {
      const { items } = expectOk(await mallory.self.get(`${posts}?sort=title&${query}`));
      return items.map(({ fields }: { fields: { title: string } }) => fields.title);
    },
  };
}

async function makePosts({ path, admin }: OwnApp): Promise<string> {
  const fields = [
    { name: 'title', kind: 'text' },
    { name: 'author', kind: 'relation', target: 'members' },
    { name: 'person', kind: 'relation', target: 'users' },
  ];
  expectOk(await admin.post(`${path}/collections`, { schema: { id: 'posts', kind: 'base', fields } }));
  for (const action of ['list', 'get', 'create', 'update']) {
    expectOk(await admin.put(`${path}/collections/posts/access_rules/${action}`, ruleBody('any')));
  }
  return `${path}/collections/posts/records`;
}
