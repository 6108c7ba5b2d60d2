// One issue: its text, state, labels, assignees and files, and the comments.
import { literal, records } from '../api.js';
import { ago, attempt, avatar, field, fill, form, h, nameOf, prose } from '../dom.js';
import { soon, watch } from '../live.js';
import { attachments, picker, uploadAll } from './attachments.js';
import { commentsOf } from './comments.js';
import { chip, labels, stateOf, statuses } from './project.js';

export async function issueView(context, project, number) {
  const read = async () => {
    const filter = `project = ${literal(project.id)} && number = ${number}`;
    const { items: [issue] } = await records('issues').list({ filter, expand: 'author,assignees', skip_total: 'true' });
    if (issue === undefined) throw Object.assign(new Error('no such issue'), { status: 404 });
    return issue;
  };
  let issue = await read();
  const { key, name } = project.record.fields;
  context.crumbs(h('a', { href: `#/${project.id}` }, name), h('span', {}, `${key}-${number}`));

  const text = h('div', { class: 'text' });
  const side = h('aside', { class: 'side' });
  let editing = false;
  const update = (changes) => attempt(async () => {
    await records('issues').update(issue.id, changes);
    again();
  })();
  const show = () => {
    if (!editing) fill(text, issueText(project, issue, edit, update));
    fill(side, sidebar(context, project, issue, update));
  };
  const edit = () => {
    editing = true;
    const done = () => {
      editing = false;
      show();
    };
    fill(text, issueForm(issue, async (values) => {
      await records('issues').update(issue.id, values);
      issue = await read();
      done();
    }, done));
  };
  const again = soon(async () => {
    try {
      issue = await read();
      show();
    } catch (error) {
      if (error.status === 404) context.leave('This issue was deleted, or you may not see it any more.');
    }
  });

  show();
  const comments = await commentsOf(context, project, issue.id);
  const stops = [watch('issues', `id = '${issue.id}'`, again), project.watch(() => { again(); comments.refresh(); }), comments.stop];
  const element = h('div', { class: 'page two' }, h('div', { class: 'grow' }, text, comments.element), side);
  return { element, title: `${key}-${number} ${issue.fields.title}`, stop: () => stops.forEach((stop) => stop()) };
}

function issueText({ mayWrite, record }, { fields, expand, created_at }, edit, update) {
  const remove = mayWrite && ((id) => update({ 'attachments-': [id] }));
  return [
    h('div', { class: 'heading' }, h('h1', {}, fields.title, ' ', h('span', { class: 'muted' }, `${record.fields.key}-${fields.number}`)),
      mayWrite && h('button', { class: 'quiet', onclick: edit }, 'Edit')),
    h('p', { class: 'by' }, stateOf(fields.status), avatar(expand.author, 'small'), h('span', {}, nameOf(expand.author)), h('span', { class: 'muted' }, 'opened this ', ago(created_at))),
    h('div', { class: 'card body' }, fields.body ? prose(fields.body) : h('p', { class: 'muted' }, 'No description.'),
      attachments(fields.attachments, remove),
      mayWrite && picker('Attach files', attempt(async (files) => await update({ 'attachments+': await uploadAll(files) })))),
  ];
}

function issueForm({ fields }, save, cancel) {
  return form({ class: 'card' }, save,
    field('Title', h('input', { name: 'title', required: true, maxlength: '200', value: fields.title })),
    field('Text', h('textarea', { name: 'body', rows: '8', maxlength: '20000' }, fields.body ?? '')),
    h('div', { class: 'inline' }, h('button', { class: 'primary' }, 'Save'), h('button', { type: 'button', class: 'quiet', onclick: cancel }, 'Cancel')));
}

/** Labels and assignees are added and taken away one by one (`labels+`), so that two people at once undo nothing of each other. */
function sidebar(context, project, { id, fields, expand, author }, update) {
  const toggle = (name, value, isOn) => update({ [`${name}${isOn ? '+' : '-'}`]: [value] });
  const choices = (name, options) => h('div', { class: 'choices' }, options.map(({ value, content }) =>
    h('label', {}, h('input', { type: 'checkbox', checked: fields[name].includes(value), onchange: ({ target }) => toggle(name, value, target.checked) }), content)));
  const person = (each) => [avatar(each, 'small'), nameOf(each)];
  const shown = (content) => content.length > 0 ? h('div', { class: 'shown' }, content) : h('p', { class: 'muted' }, 'None');
  const mayDelete = project.role === 'owner' || (project.role === 'member' && fields.author === context.me.id);
  const remove = attempt(async () => {
    if (!confirm('Delete this issue, with its comments and files?')) return;
    await records('issues').remove(id);
    location.hash = `#/${project.id}`;
  });
  return [
    h('h2', {}, 'State'),
    project.mayWrite
      ? h('select', { 'aria-label': 'State', onchange: ({ target }) => update({ status: target.value }) },
        Object.entries(statuses).map(([value, text]) => h('option', { value, defaultSelected: fields.status === value }, text)))
      : stateOf(fields.status),
    h('h2', {}, 'Labels'),
    project.mayWrite ? choices('labels', labels.map((label) => ({ value: label, content: chip(label) }))) : shown(fields.labels.map(chip)),
    h('h2', {}, 'Assignees'),
    project.mayWrite
      ? choices('assignees', project.people.map((each) => ({ value: each.id, content: person(each) })))
      : shown(expand.assignees.map((each) => h('span', { class: 'by' }, person(each)))),
    mayDelete && h('button', { class: 'danger', onclick: remove }, 'Delete issue'),
  ];
}
