// The comments of an issue, live, and the form to write one.
import { literal, records } from '../api.js';
import { ago, attempt, avatar, fill, form, h, nameOf, prose, toast } from '../dom.js';
import { soon, watch } from '../live.js';
import { attachments, picker, uploadAll } from './attachments.js';

/** The comments of an issue, oldest first. */
export async function commentsOf(context, project, issueId) {
  const list = h('ol', { class: 'comments' });
  let known;
  let editing = false;
  const refresh = async () => {
    if (editing) return;
    const filter = `issue = ${literal(issueId)}`;
    const items = [];
    let cursor = null;
    do {
      const page = await records('comments').list({ filter, sort: 'created_at', per_page: '200', expand: 'author', ...(cursor !== null && { cursor }) });
      items.push(...page.items);
      cursor = page.next_cursor;
    } while (cursor !== null);
    fill(list, items.map((comment) => entry(context, project, comment, { isNew: known !== undefined && !known.has(comment.id), edit })));
    known = new Set(items.map(({ id }) => id));
  };
  const edit = (isOpen) => {
    editing = isOpen;
    if (!isOpen) again();
  };
  const again = soon(() => refresh().catch(({ message, status }) => status !== 403 && toast(message, 'error')));
  await refresh();
  const stop = watch('comments', `issue = ${literal(issueId)}`, again);
  return { element: h('section', {}, list, composer(context, issueId)), refresh: again, stop };
}

function entry(context, project, { id, fields, expand, created_at, updated_at }, { isNew, edit }) {
  const isMine = fields.author === context.me.id;
  const body = h('div', {}, prose(fields.text), attachments(fields.attachments));
  const element = h('li', { class: isNew && 'new' }, avatar(expand.author),
    h('div', { class: 'card comment' },
      h('header', {}, h('strong', {}, nameOf(expand.author)), h('small', { class: 'muted' }, ago(created_at), updated_at !== created_at && ' · edited'),
        h('span', { class: 'grow' }),
        isMine && h('button', { class: 'link', onclick: () => fill(body, editor(id, fields.text, edit)) }, 'Edit'),
        (isMine || project.role === 'owner') && h('button', { class: 'link', onclick: attempt(() => remove(id)) }, 'Delete')),
      body));
  return element;
}

const remove = async (id) => {
  if (confirm('Delete this comment?')) await records('comments').remove(id);
};

function editor(id, text, edit) {
  edit(true);
  const submit = async (values) => {
    await records('comments').update(id, values);
    edit(false);
  };
  return form({}, submit, h('textarea', { name: 'text', rows: '4', required: true, maxlength: '10000', 'aria-label': 'Comment' }, text),
    h('div', { class: 'inline' }, h('button', { class: 'primary' }, 'Save'), h('button', { type: 'button', class: 'quiet', onclick: () => edit(false) }, 'Cancel')));
}

function composer(context, issueId) {
  let files = [];
  const names = h('span', { class: 'muted' });
  const pick = (more) => {
    files = [...files, ...more];
    names.textContent = files.map(({ name }) => name).join(', ');
  };
  const submit = async ({ text }, element) => {
    const ids = await uploadAll(files);
    await records('comments').create({ issue: issueId, author: context.me.id, text, attachments: ids });
    element.reset();
    files = [];
    pick([]);
  };
  return h('div', { class: 'composer' }, avatar(context.me.profile),
    form({ class: 'card' }, submit,
      h('textarea', { name: 'text', rows: '3', required: true, maxlength: '10000', placeholder: 'Write a comment', 'aria-label': 'Comment' }),
      h('div', { class: 'inline' }, picker('Attach files', pick), names, h('span', { class: 'grow' }), h('button', { class: 'primary' }, 'Comment'))));
}
