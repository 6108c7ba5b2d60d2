// What the pages of a project have in common: its members, the caller's role, and the way out when one is removed.
import { records } from '../api.js';
import { h } from '../dom.js';
import { soon, watch } from '../live.js';

/** The labels and states that an issue may have, as in `collections/issues.json`. */
export const labels = ['bug', 'feature', 'question', 'docs', 'urgent'];
export const statuses = { open: 'Open', doing: 'In progress', done: 'Done' };

/** A project with its members. Throws the error response if the caller may not see it. */
export async function openProject(context, id) {
  const project = { id };
  const read = async () => {
    const record = await records('projects').get(id, { expand: 'memberships_via_project.user' });
    const memberships = record.expand.memberships_via_project;
    project.record = record;
    project.memberships = memberships;
    project.people = memberships.map(({ expand }) => expand.user).filter((person) => person !== null);
    project.role = memberships.find(({ fields }) => fields.user === context.me.id)?.fields.role;
    project.mayWrite = ['owner', 'member'].includes(project.role);
  };
  await read();
  // Somebody who is only invited may get the project, and nothing in it.
  if (project.role === undefined) throw Object.assign(new Error('not a member'), { status: 403 });

  /** Calls `changed` when the project or its members change, and leaves when one is no member any more. */
  project.watch = (changed) => {
    const again = soon(async () => {
      await read().catch(() => project.role = undefined);
      if (project.role === undefined) context.leave('You are not a member of this project any more.');
      else changed();
    });
    const stops = [
      watch('memberships', `project = '${id}'`, again),
      watch('projects', `id = '${id}'`, again),
    ];
    return () => stops.forEach((stop) => stop());
  };
  return project;
}

/** The head of a project's pages. */
export function projectHead({ id, record, memberships }, current) {
  const tab = (href, text, name) => h('a', { href, 'aria-current': current === name && 'page' }, text);
  return h('div', { class: 'project-head' },
    h('h1', {}, record.fields.name),
    h('nav', { class: 'tabs', 'aria-label': 'Project' }, tab(`#/${id}`, 'Issues', 'issues'), tab(`#/${id}/members`, `Members ${memberships.length}`, 'members')));
}

/** A label in its colour. */
export const chip = (label) => h('span', { class: `chip ${label}` }, label);

/** The state of an issue, as a dot and a word. */
export const stateOf = (status) => h('span', { class: `state ${status}` }, statuses[status]);
