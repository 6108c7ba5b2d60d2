// Small helpers with which the views make their elements. Texts of users are always text nodes, never HTML.

/** An element with attributes, listeners (`onclick`) and children; null, false and undefined are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== 'string') element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Puts children into an element, in the place of what is there. */
export const fill = (element, ...children) => {
  element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};

/** Shows a message for a while. */
export function toast(text, kind = 'info') {
  const note = h('p', { class: `toast ${kind}` }, text);
  document.getElementById('toasts').append(note);
  setTimeout(() => note.remove(), 6_000);
}

/** A form whose button is busy while `submit` works on its values; errors are shown at their inputs, or as a toast. */
export function form(attributes, submit, ...children) {
  const element = h('form', {
    ...attributes,
    onsubmit: async (event) => {
      event.preventDefault();
      const button = element.querySelector('button:not([type=button])');
      if (button.disabled) return;
      button.disabled = true;
      element.querySelectorAll('[role=alert]').forEach((note) => note.remove());
      try {
        await submit(Object.fromEntries(new FormData(element)), element);
      } catch (error) {
        showErrors(element, error);
      } finally {
        button.disabled = false;
      }
    },
  }, ...children);
  return element;
}

function showErrors(element, { message, errors = [] }) {
  const others = errors.filter(({ path, message }) => {
    const input = element.elements.namedItem(path);
    input?.after(h('small', { role: 'alert' }, message));
    return !input;
  });
  if (others.length > 0 || errors.length === 0) toast(others[0]?.message ?? message, 'error');
}

/** Does something for a click, and shows what goes wrong. */
export const attempt = (work) => async (event) => {
  try {
    await work(event);
  } catch ({ message }) {
    toast(message, 'error');
  }
};

/** A labelled input. */
export const field = (label, input) => h('label', { class: 'field' }, h('span', {}, label), input);

/** A round picture of a person: the initials, in a colour of their own. */
export function avatar(person, size = '') {
  const name = person?.fields.name ?? '?';
  const initials = name.split(/\s+/).slice(0, 2).map((word) => [...word][0] ?? '').join('').toUpperCase();
  const element = h('span', { class: `avatar ${size}`, title: person ? name : 'Somebody who is not a member' }, initials);
  const hue = [...(person?.id ?? '')].reduce((sum, character) => (sum * 31 + character.codePointAt(0)) % 360, 7);
  element.style.setProperty('--hue', String(hue));
  return element;
}

/** The name of a person, or of somebody whom one may not see any more. */
export const nameOf = (person) => person?.fields.name ?? 'Former member';

const units = [['year', 31_536_000], ['month', 2_592_000], ['day', 86_400], ['hour', 3_600], ['minute', 60]];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** When something was, as people say it. */
export function ago(timestamp) {
  const seconds = (Date.now() - Date.parse(timestamp)) / 1_000;
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? [];
  const text = unit === undefined ? 'just now' : relative.format(-Math.floor(seconds / length), unit);
  return h('time', { datetime: timestamp, title: new Date(timestamp).toLocaleString() }, text);
}

/** A text of a user, with its line breaks, and with links that work. */
export function prose(text) {
  const parts = text.split(/(https?:\/\/[^\s<>"')\]]+)/);
  return h('div', { class: 'prose' }, parts.map((part, at) =>
    at % 2 === 1 ? h('a', { href: part, rel: 'noopener noreferrer', target: '_blank' }, part) : part));
}

/** A modal dialog around a form; it is gone when it is closed. */
export function openDialog(title, content) {
  const close = h('button', { type: 'button', class: 'icon', 'aria-label': 'Close', onclick: () => dialog.close() }, '×');
  const dialog = h('dialog', { onclose: () => dialog.remove(), 'aria-label': title }, h('header', {}, h('h2', {}, title), close), content);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
