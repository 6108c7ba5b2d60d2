// The issues of a project: filtered, searched, counted, and live.
import { literal, records } from '../api.js';
import { ago, avatar, field, fill, form, h, nameOf, openDialog, toast } from '../dom.js';
import { soon, watch } from '../live.js';
import { chip, labels, projectHead, statuses } from './project.js';

/** What each project was filtered by, until the page is loaded anew. */
const remembered = new Map();

export async function issuesView(context, project) {
  context.crumbs(h('span', {}, project.record.fields.name));
  const wanted = remembered.get(project.id) ?? { status: 'open', label: '', assignee: '', words: '' };
  remembered.set(project.id, wanted);
  const head = h('div');
  const states = h('div', { class: 'segments', role: 'group', 'aria-label': 'State' });
  const list = h('ul', { class: 'issues' });
  const more = h('button', { class: 'wide quiet', hidden: true, onclick: () => refresh(true) }, 'Show more');
  let pages = 1;
  let known; // Ids that were shown: what is new since then lights up.

  const narrow = (except) => filterOf(project, { ...wanted, [except]: '' });
  const refresh = async (isLonger = false) => {
    if (isLonger) pages++;
    const [counts, { items, next }] = await Promise.all([
      records('issues').aggregate({ fn: 'count', group: 'status', filter: narrow('status') }),
      readPages(filterOf(project, wanted), wanted.words, pages),
    ]);
    const comments = await commentCounts(items);
    fill(head, projectHead(project, 'issues'));
    showStates(counts);
    more.hidden = next === null;
    fill(list, items.map((issue) => row(project, issue, { comments: comments.get(issue.id), isNew: known !== undefined && !known.has(issue.id) })),
      items.length === 0 && h('li', { class: 'empty' }, h('h2', {}, 'No issues here'), h('p', {}, 'None that match, or none yet.')));
    known = new Set(items.map(({ id }) => id));
  };
  const showStates = (counts) => fill(states, ['open', 'doing', 'done', ''].map((status) => {
    const ofStatus = counts.filter(({ group }) => status === '' || group.status === status);
    const number = ofStatus.reduce((sum, { count }) => sum + count, 0);
    // A search has no numbers of its own: aggregates do not search.
    const text = [statuses[status] ?? 'All', wanted.words === '' && h('b', {}, number)];
    return h('button', { 'aria-pressed': String(wanted.status === status), onclick: () => set('status', status) }, text);
  }));
  const again = soon(() => refresh().catch(({ message }) => toast(message, 'error')));
  const set = (name, value) => {
    wanted[name] = value;
    pages = 1;
    known = undefined;
    again();
  };
  const choice = (name, first, options) => h('select', { 'aria-label': first, onchange: ({ target }) => set(name, target.value) },
    [['', first], ...options].map(([value, text]) => h('option', { value, defaultSelected: wanted[name] === value }, text)));

  await refresh();
  const stops = [watch('issues', `project = '${project.id}'`, again), watch('comments', `issue.project = '${project.id}'`, again), project.watch(again)];
  const element = h('div', { class: 'page' }, head,
    h('div', { class: 'toolbar' },
      h('input', { type: 'search', placeholder: 'Search titles and texts', 'aria-label': 'Search', value: wanted.words, maxlength: '200', oninput: ({ target }) => set('words', target.value.trim()) }),
      choice('label', 'Any label', labels.map((label) => [label, label])),
      choice('assignee', 'Anybody', [[context.me.id, 'Me'], ...project.people.filter(({ id }) => id !== context.me.id).map((person) => [person.id, nameOf(person)])]),
      project.mayWrite && h('button', { class: 'primary', onclick: () => newIssue(context, project) }, 'New issue')),
    states, list, more);
  return { element, title: project.record.fields.name, stop: () => stops.forEach((stop) => stop()) };
}

function filterOf(project, { status, label, assignee }) {
  return [
    `project = ${literal(project.id)}`,
    status && `status = ${literal(status)}`,
    label && `labels = ${literal(label)}`,
    assignee && `assignees = ${literal(assignee)}`,
  ].filter(Boolean).join(' && ');
}

/** The first pages, by cursor. A search has its best matches first. */
async function readPages(filter, words, pages) {
  const items = [];
  let next = null;
  for (let page = 0; page < pages && (page === 0 || next !== null); page++) {
    const list = await records('issues').list({
      filter,
      per_page: '50',
      skip_total: 'true',
      expand: 'author,assignees',
      sort: words === '' ? '-number' : '-@rank',
      ...(words !== '' && { search: words }),
      ...(next !== null && { cursor: next }),
    });
    items.push(...list.items);
    next = list.next_cursor;
  }
  return { items, next };
}

/** How many comments each of the first hundred issues has. */
async function commentCounts(items) {
  if (items.length === 0) return new Map();
  const ids = items.slice(0, 100).map(({ id }) => literal(id)).join(',');
  const groups = await records('comments').aggregate({ fn: 'count', group: 'issue', filter: `issue in [${ids}]` });
  return new Map(groups.map(({ group, count }) => [group.issue, count]));
}

function row(project, { fields, expand, created_at }, { comments, isNew }) {
  return h('li', { class: isNew && 'new' }, h('a', { href: `#/${project.id}/${fields.number}`, class: 'issue' },
    h('span', { class: `dot ${fields.status}`, title: statuses[fields.status] }),
    h('div', { class: 'grow' },
      h('div', { class: 'title' }, h('strong', {}, fields.title), fields.labels.map(chip)),
      h('small', { class: 'muted' }, `${project.record.fields.key}-${fields.number} · `, ago(created_at), ` by ${nameOf(expand.author)}`)),
    comments > 0 && h('span', { class: 'muted count', title: `${comments} ${comments === 1 ? 'comment' : 'comments'}` }, comments),
    h('span', { class: 'faces' }, expand.assignees.map((person) => avatar(person, 'small')))));
}

function newIssue(context, project) {
  const submit = async ({ title, body }, element) => {
    const chosen = [...element.querySelectorAll('[name=label]:checked')].map(({ value }) => value);
    const fields = { project: project.id, author: context.me.id, title, body, labels: chosen };
    const issue = await records('issues').create(fields);
    dialog.close();
    location.hash = `#/${project.id}/${issue.fields.number}`;
  };
  const dialog = openDialog('New issue', form({}, submit,
    field('Title', h('input', { name: 'title', required: true, maxlength: '200' })),
    field('What is it about?', h('textarea', { name: 'body', rows: '6', maxlength: '20000' })),
    h('fieldset', { class: 'choices' }, h('legend', {}, 'Labels'), labels.map((label) => h('label', {}, h('input', { type: 'checkbox', name: 'label', value: label }), chip(label)))),
    h('button', { class: 'primary wide' }, 'Create issue')));
}
