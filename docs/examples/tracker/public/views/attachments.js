// Files of issues and comments: shown, picked and uploaded.
import { fileMeta, fileUrl, upload } from '../api.js';
import { h } from '../dom.js';

/** The files of a record: pictures as pictures, others by their names. With `remove`, each has a button for that. */
export function attachments(ids, remove) {
  return ids.length === 0 ? null : h('ul', { class: 'files' }, ids.map((id) => item(id, remove)));
}

function item(id, remove) {
  const link = h('a', { href: fileUrl(id), target: '_blank', rel: 'noopener' }, '…');
  const element = h('li', {}, link, remove && h('button', { class: 'icon', 'aria-label': 'Remove the file', onclick: () => remove(id) }, '×'));
  fileMeta(id).then((meta) => {
    if (!meta) return element.remove();
    const isPicture = /^image\/(png|jpeg|gif|webp|avif)$/.test(meta.mime);
    link.replaceChildren(isPicture ? h('img', { src: fileUrl(id), alt: meta.filename, loading: 'lazy' }) : h('span', {}, meta.filename),
      h('small', { class: 'muted' }, size(meta.size)));
  });
  return element;
}

const size = (bytes) => bytes < 1_024 ? `${bytes} B` : bytes < 1_048_576 ? `${Math.round(bytes / 1_024)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;

/** A button that picks files and calls `picked` with them. */
export function picker(text, picked) {
  const input = h('input', {
    type: 'file',
    multiple: true,
    onchange: () => {
      picked([...input.files]);
      input.value = '';
    },
  });
  return h('label', { class: 'button quiet' }, text, input);
}

/** Uploads files one after the other; returns their ids. */
export async function uploadAll(files) {
  const ids = [];
  for (const file of files) ids.push(await upload(file));
  return ids;
}
