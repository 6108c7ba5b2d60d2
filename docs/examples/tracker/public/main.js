// The page: who is signed in, and which view the address asks for.
import { paths, records, request } from './api.js';
import { avatar, attempt, fill, h, toast } from './dom.js';
import { disconnect, onConnection } from './live.js';
import { issueView } from './views/issue.js';
import { issuesView } from './views/issues.js';
import { membersView } from './views/members.js';
import { openProject } from './views/project.js';
import { projectsView } from './views/projects.js';
import { signInView } from './views/sign-in.js';

const main = document.getElementById('main');
const crumbs = document.getElementById('crumbs');
const account = document.getElementById('account');

let me; // { id, email, verified, profile } of whoever is signed in
let stop = () => {}; // Ends the view that is shown: its streams.
let turn = 0;

/** Reads who is signed in. Without a profile one has signed up in another app of the workspace: then `profile` is undefined. */
async function readMe() {
  const user = await request('GET', `${paths.auth}/me`);
  const profile = await records('people').get(user.id).catch(({ status }) => {
    if (status !== 404) throw new Error('your profile cannot be read');
  });
  me = { ...user, profile };
}

/** What views need beside their own data. */
const context = {
  get me() {
    return me;
  },
  signedIn: async () => {
    await readMe();
    await show();
  },
  crumbs: (...items) => fill(crumbs, h('a', { href: '#/', class: 'brand' }, h('img', { src: '/icon.svg', alt: '', width: 24 }), 'Tracker'), items),
  leave: (message) => {
    toast(message);
    location.hash = '#/';
  },
};

/** `#/`, `#/<project>`, `#/<project>/members`, `#/<project>/<number>` */
async function viewOf([projectId, part]) {
  if (!projectId) return projectsView(context);
  const project = await openProject(context, projectId);
  if (part === undefined) return issuesView(context, project);
  return part === 'members' ? membersView(context, project) : issueView(context, project, Number(part));
}

async function show() {
  const mine = ++turn;
  stop();
  stop = () => {};
  showAccount();
  if (me?.profile === undefined) {
    context.crumbs();
    fill(main, signInView(context));
    return;
  }
  try {
    const view = await viewOf(location.hash.replace(/^#\//, '').split('/'));
    if (mine !== turn) return view.stop?.();
    stop = view.stop ?? stop;
    fill(main, view.element);
    document.title = view.title ? `${view.title} · Tracker` : 'Tracker';
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  } catch ({ status, message }) {
    if (mine !== turn) return;
    if (status === 401) return signOut();
    context.crumbs();
    // Whoever may not see something is told no more than that.
    const text = status === 403 || status === 404 ? 'There is nothing here that you may see.' : message;
    fill(main, h('div', { class: 'empty' }, h('h1', {}, 'Nothing here'), h('p', {}, text), h('a', { href: '#/', class: 'button' }, 'Your projects')));
  }
}

function showAccount() {
  if (me === undefined) return fill(account);
  const live = h('span', { class: 'live', title: 'Changes appear at once' });
  onConnection((isOpen) => live.classList.toggle('on', isOpen));
  fill(account, live, avatar(me.profile, 'small'), h('span', { class: 'who' }, me.profile?.fields.name ?? me.email),
    h('button', { class: 'quiet', onclick: attempt(signOut) }, 'Sign out'));
}

async function signOut() {
  stop();
  stop = () => {};
  disconnect();
  me = undefined;
  await request('POST', '/_/auth/logout', {}).catch(() => undefined);
  location.hash = '#/';
  await show();
}

addEventListener('hashchange', show);
readMe().catch(() => undefined).then(show);
