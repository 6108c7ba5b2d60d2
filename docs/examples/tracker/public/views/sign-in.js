// Signing in and up, and the name of somebody who has none in this app yet.
import { paths, records, request } from '../api.js';
import { attempt, field, fill, form, h, toast } from '../dom.js';

const email = () => h('input', { name: 'email', type: 'email', autocomplete: 'username', required: true });
const password = (autocomplete) => h('input', { name: 'password', type: 'password', autocomplete, required: true });
const name = () => h('input', { name: 'name', autocomplete: 'name', required: true, maxlength: '60' });

/** The forms to sign in, to sign up, and to choose a name. */
export function signInView(context) {
  const card = h('div', { class: 'card sign-in' });
  if (context.me !== undefined) return fill(card, h('h1', {}, 'What is your name?'), nameForm(context));
  const show = (which) => fill(card, which === 'in' ? signIn(context, show) : signUp(context, show));
  show('in');
  return h('div', { class: 'welcome' },
    h('div', {}, h('h1', {}, 'Issues, and the people who solve them'),
      h('p', { class: 'lead' }, 'Projects of your own. Invite whom you like, see what they do as they do it; nobody else sees anything.')),
    card);
}

const login = (email, password) => request('POST', `${paths.auth}/users/login`, { email, password });

function signIn(context, show) {
  const submit = async ({ email, password, code }, element) => {
    const challenge = element.dataset.challenge;
    const result = challenge
      ? await request('POST', `${paths.auth}/users/login/totp`, { challenge_id: challenge, code })
      : await login(email, password);
    if (!result.mfa_required) return await context.signedIn();
    element.dataset.challenge = result.challenge_id;
    element.querySelector('.code').hidden = false;
  };
  const code = h('div', { class: 'code', hidden: true }, field('Code of your authenticator', h('input', { name: 'code', inputmode: 'numeric', autocomplete: 'one-time-code' })));
  return [
    h('h2', {}, 'Sign in'),
    form({}, submit, field('Email', email()), field('Password', password('current-password')), code, h('button', { class: 'primary wide' }, 'Sign in')),
    h('p', {}, 'New here? ', h('button', { class: 'link', onclick: () => show('up') }, 'Create an account')),
  ];
}

function signUp(context, show) {
  const submit = async (values) => {
    await request('POST', `${paths.auth}/users/register`, { email: values.email, password: values.password });
    const { user } = await login(values.email, values.password);
    await records('people').create({ email: user.email, name: values.name });
    await request('POST', `${paths.auth}/verify-email/request`, {});
    await context.signedIn();
  };
  return [
    h('h2', {}, 'Create an account'),
    form({}, submit, field('Name', name()), field('Email', email()), field('Password', password('new-password')), h('button', { class: 'primary wide' }, 'Create account')),
    h('p', {}, 'Have one? ', h('button', { class: 'link', onclick: () => show('in') }, 'Sign in')),
  ];
}

function nameForm(context) {
  const submit = async ({ name }) => {
    await records('people').create({ email: context.me.email, name });
    await context.signedIn();
  };
  return form({}, submit, field('Name', name()), h('button', { class: 'primary wide' }, 'Go on'));
}

/** Asks somebody whose address is not verified for the token that was mailed: without it, invitations do not show. */
export function verification(context) {
  if (context.me.verified) return null;
  const again = async () => {
    await request('POST', `${paths.auth}/verify-email/request`, {});
    toast('A new mail is on its way.');
  };
  const submit = async ({ token }) => {
    await request('POST', `${paths.auth}/verify-email/confirm`, { token: token.trim() });
    toast('Your address is verified.');
    await context.signedIn();
  };
  return h('section', { class: 'notice' },
    h('p', {}, h('strong', {}, 'Verify your address'), ` to see who has invited ${context.me.email}. Paste the code of the mail that you got.`),
    form({ class: 'inline' }, submit, h('input', { name: 'token', 'aria-label': 'Code of the mail', required: true, autocomplete: 'off' }), h('button', { class: 'primary' }, 'Verify'),
      h('button', { type: 'button', class: 'quiet', onclick: attempt(again) }, 'Send it again')));
}
