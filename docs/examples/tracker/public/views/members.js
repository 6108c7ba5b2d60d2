// The members of a project. Owners invite, change roles and remove; everybody may leave, but the last owner.
import { literal, records } from '../api.js';
import { ago, attempt, avatar, field, fill, form, h, nameOf, toast } from '../dom.js';
import { soon, watch } from '../live.js';
import { projectHead } from './project.js';

const roles = { owner: 'Owner: also manages members', member: 'Member: writes issues', guest: 'Guest: reads and comments' };
const roleSelect = (attributes, role) => h('select', attributes, Object.entries(roles).map(([value, text]) => h('option', { value, defaultSelected: value === role }, text)));

export async function membersView(context, project) {
  context.crumbs(h('a', { href: `#/${project.id}` }, project.record.fields.name), h('span', {}, 'Members'));
  const content = h('div');
  const inviting = h('div');
  const refresh = async () => {
    const isOwner = project.role === 'owner';
    const { items } = isOwner ? await records('invitations').list({ filter: `project = ${literal(project.id)}`, per_page: '200' }) : { items: [] };
    fill(content, projectHead(project, 'members'),
      h('ul', { class: 'members' }, project.memberships.map((membership) => member(context, project, membership))),
      items.length > 0 && [h('h2', {}, 'Invited'), h('ul', { class: 'members' }, items.map(invited))]);
    if (isOwner !== inviting.hasChildNodes()) fill(inviting, isOwner && [inviteForm(project), danger(project)]);
  };
  await refresh();
  const again = soon(() => refresh().catch(({ message }) => toast(message, 'error')));
  const stops = [project.watch(again), watch('invitations', `project = ${literal(project.id)}`, again)];
  return { element: h('div', { class: 'page narrow' }, content, inviting), title: 'Members', stop: () => stops.forEach((stop) => stop()) };
}

function member(context, project, { id, fields, expand: { user } }) {
  const isMe = fields.user === context.me.id;
  const remove = attempt(async () => {
    const question = isMe ? 'Leave this project?' : `Remove ${nameOf(user)} from this project?`;
    if (confirm(question)) await records('memberships').remove(id);
  });
  const change = attempt(({ target }) => records('memberships').update(id, { role: target.value }));
  const owners = project.memberships.filter(({ fields }) => fields.role === 'owner');
  const mayLeave = isMe && (fields.role !== 'owner' || owners.length > 1);
  const isManaged = project.role === 'owner' && !isMe;
  return h('li', {}, avatar(user), h('div', { class: 'grow' }, h('strong', {}, nameOf(user), isMe && ' (you)'), h('small', { class: 'muted' }, user?.fields.email)),
    isManaged ? roleSelect({ 'aria-label': `Role of ${nameOf(user)}`, onchange: change }, fields.role) : h('span', { class: 'role' }, fields.role),
    (isManaged || mayLeave) && h('button', { class: 'quiet', onclick: remove }, isMe ? 'Leave' : 'Remove'));
}

function invited({ id, fields, created_at }) {
  return h('li', {}, h('div', { class: 'grow' }, h('strong', {}, fields.email), h('small', { class: 'muted' }, 'invited ', ago(created_at))),
    h('span', { class: 'role' }, fields.role),
    h('button', { class: 'quiet', onclick: attempt(() => records('invitations').remove(id)) }, 'Withdraw'));
}

function inviteForm(project) {
  const submit = async (values, element) => {
    await records('invitations').create({ project: project.id, ...values });
    element.reset();
    toast('Invited: they see it when they sign in with this address.');
  };
  return form({ class: 'card invite' }, submit, h('h2', {}, 'Invite somebody'),
    field('Email', h('input', { name: 'email', type: 'email', required: true })),
    field('Role', roleSelect({ name: 'role' }, 'member')),
    h('button', { class: 'primary' }, 'Invite'));
}

function danger(project) {
  const remove = attempt(async () => {
    if (prompt(`This deletes all issues, comments and files. Type ${project.record.fields.key} to go on.`) !== project.record.fields.key) return;
    await records('projects').remove(project.id);
    location.hash = '#/';
  });
  return h('p', { class: 'end' }, h('button', { class: 'danger', onclick: remove }, 'Delete project'));
}
