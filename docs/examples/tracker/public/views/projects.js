// The projects that one is a member of, and invitations to others.
import { batch, records } from '../api.js';
import { attempt, avatar, field, fill, form, h, openDialog, toast } from '../dom.js';
import { soon, watch } from '../live.js';
import { verification } from './sign-in.js';

/** The first page. */
export async function projectsView(context) {
  context.crumbs();
  const invitations = h('div');
  const list = h('ul', { class: 'projects' });
  const refresh = async () => {
    const [projects, counts, invited] = await Promise.all([
      records('projects').list({ sort: 'name', per_page: '200', expand: 'memberships_via_project.user' }),
      records('issues').aggregate({ fn: 'count', group: 'project', filter: "status != 'done'" }),
      records('invitations').list({ filter: 'email = @request.auth.email', expand: 'project', per_page: '200' }),
    ]);
    const open = new Map(counts.map(({ group, count }) => [group.project, count]));
    fill(invitations, context.me.verified && invited.items.map((item) => invitation(context, item)));
    fill(list, projects.items.map((project) => card(context, project, open.get(project.id) ?? 0)),
      projects.items.length === 0 && h('li', { class: 'empty' }, h('h2', {}, 'No project yet'), h('p', {}, 'Make one, or ask an owner to invite you.')));
  };
  await refresh();
  const changed = soon(() => refresh().catch(({ message }) => toast(message, 'error')));
  const stops = ['projects', 'memberships', 'invitations', 'issues'].map((name) => watch(name, undefined, changed));
  const element = h('div', { class: 'page' },
    verification(context),
    invitations,
    h('div', { class: 'heading' }, h('h1', {}, 'Projects'), h('button', { class: 'primary', onclick: () => newProject(context) }, 'New project')),
    list);
  return { element, stop: () => stops.forEach((stop) => stop()) };
}

function card(context, { id, fields, expand }, open) {
  const members = expand.memberships_via_project;
  const mine = members.find(({ fields }) => fields.user === context.me.id);
  return h('li', {}, h('a', { href: `#/${id}`, class: 'card project' },
    h('div', { class: 'row' }, h('span', { class: 'key' }, fields.key), h('span', { class: 'role' }, mine?.fields.role)),
    h('h2', {}, fields.name),
    fields.description && h('p', {}, fields.description),
    h('div', { class: 'row' }, h('span', { class: 'faces' }, members.slice(0, 5).map(({ expand }) => avatar(expand.user, 'small'))),
      h('span', { class: 'muted' }, `${open} open ${open === 1 ? 'issue' : 'issues'}`))));
}

function invitation(context, { id, fields, expand }) {
  const membership = { project: fields.project, user: context.me.id, role: fields.role };
  const accept = async () => {
    await batch(
      { method: 'POST', collection: 'memberships', body: membership },
      { method: 'DELETE', collection: 'invitations', id },
    );
    location.hash = `#/${fields.project}`;
  };
  return h('section', { class: 'notice' },
    h('p', {}, 'You are invited to ', h('strong', {}, expand.project?.fields.name), ` as ${fields.role}.`),
    h('div', { class: 'inline' }, h('button', { class: 'primary', onclick: attempt(accept) }, 'Accept'),
      h('button', { class: 'quiet', onclick: attempt(() => records('invitations').remove(id)) }, 'Decline')));
}

/** The project and the membership of whoever makes it are one batch: there is never a project without an owner. */
function newProject(context) {
  const submit = async ({ name, key, description }) => {
    const id = crypto.randomUUID();
    await batch(
      { method: 'POST', collection: 'projects', body: { id, name, key: key.toUpperCase(), description, created_by: context.me.id } },
      { method: 'POST', collection: 'memberships', body: { project: id, user: context.me.id, role: 'owner' } },
    );
    dialog.close();
    location.hash = `#/${id}`;
  };
  const dialog = openDialog('New project', form({}, submit,
    field('Name', h('input', { name: 'name', required: true, maxlength: '80' })),
    field('Key, as in GARDEN-12', h('input', { name: 'key', required: true, maxlength: '8', class: 'upper' })),
    field('What is it about?', h('input', { name: 'description', maxlength: '500' })),
    h('button', { class: 'primary wide' }, 'Create project')));
}
