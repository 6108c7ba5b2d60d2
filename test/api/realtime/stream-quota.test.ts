// How many streams one principal, one address and one workspace may hold.
import { describe, expect, it } from 'vitest';
import { StreamQuota } from '../../../api/realtime/stream-quota.ts';
import type { Principal } from '../../../api/scope.ts';

const user = (id: string): Principal => ({
  role: 'user',
  id,
  workspace: 'acme',
  jti: id,
  issuedAt: 0,
  expiresAt: 1,
});
const held = (id: string | null, address = 'here', query: Record<string, string> = {}) => ({
  principal: id === null ? null : user(id),
  address,
  query,
});
const full = expect.objectContaining({ code: 'too_many_requests' });

describe('a claim', () => {
  it('is counted for the principal that it was moved to, and no longer for the one before', () => {
    const quota = new StreamQuota({ perPrincipal: 1, perAddress: 9 });
    const claim = quota.claim(held('ada'));
    expect(() => quota.claim(held('ada'))).toThrow(full);
    claim.move(user('bob'));
    const other = quota.claim(held('ada'));
    expect(() => quota.claim(held('bob'))).toThrow(full);
    expect(() => other.move(user('bob'))).toThrow(full);
    claim.release();
    other.move(user('bob'));
    quota.claim(held('ada'));
  });

  it('of nobody is counted for its address, and for a principal once it has one', () => {
    const quota = new StreamQuota({ perPrincipal: 1, perAddress: 2 });
    const claim = quota.claim(held(null));
    claim.move(user('ada'));
    expect(() => quota.claim(held('ada', 'there'))).toThrow(full);
    quota.claim(held(null));
    expect(() => quota.claim(held(null))).toThrow(full);
  });

  it('is given back once, however often that is said, and not moved afterwards', () => {
    const quota = new StreamQuota({ perPrincipal: 1, perAddress: 2 });
    const [claim] = [quota.claim(held('ada')), quota.claim(held('bob'))];
    claim.release();
    claim.release();
    claim.move(user('cid'));
    quota.claim(held('cid'));
    expect(() => quota.claim(held('ada'))).toThrow(full);
    quota.claim(held('ada', 'there'));
  });

  it('counts one more for every 128 characters of a filter, and gives all of that back', () => {
    const quota = new StreamQuota({ perPrincipal: 5, perAddress: 6 });
    const claim = quota.claim(held('ada'), 'f'.repeat(127));
    const release = claim.add('f'.repeat(384));
    expect(() => claim.add()).toThrow(full);
    expect(() => quota.claim(held('bob'), 'f'.repeat(128))).toThrow(full);
    quota.claim(held('bob'), 'f'.repeat(127)).release();
    release();
    release();
    expect(() => quota.claim(held('ada'), 'f'.repeat(512))).toThrow(full);
    quota.claim(held('ada'), 'f'.repeat(511)).release();
    expect(() => quota.claim(held('bob'), 'f'.repeat(640))).toThrow(full);
    quota.claim(held(null), 'f'.repeat(639));
    expect(() => quota.claim(held(null))).toThrow(full);
  });

  it('counts a long query as it does a filter', () => {
    const quota = new StreamQuota({ perPrincipal: 9, perAddress: 3 });
    const query = { a: 'q'.repeat(63), bc: 'q'.repeat(62) };
    expect(() => quota.claim(held('ada', 'here', query), 'f'.repeat(256))).toThrow(full);
    const claim = quota.claim(held('ada', 'here', query), 'f'.repeat(255));
    expect(() => quota.claim(held('ada'))).toThrow(full);
    claim.release();
    quota.claim(held('ada', 'here', { q: 'q'.repeat(382) }));
    expect(() => quota.claim(held('ada'))).toThrow(full);
  });

  it('gives nothing back that went back with it', () => {
    const quota = new StreamQuota({ perPrincipal: 2, perAddress: 2 });
    const claim = quota.claim(held('ada'));
    const release = claim.add();
    claim.release();
    release();
    quota.claim(held('ada'));
    quota.claim(held('bob'));
    expect(() => quota.claim(held('cid'))).toThrow(full);
  });

  it('stays as it is when its own principal signs in again', () => {
    const quota = new StreamQuota({ perPrincipal: 3, perAddress: 9 });
    const claim = quota.claim(held('ada'));
    claim.add();
    claim.move(user('ada'));
    claim.add();
    expect(() => claim.add()).toThrow(full);
  });

  it('that its principal is refused is not counted for the address', () => {
    const quota = new StreamQuota({ perPrincipal: 1, perAddress: 2 });
    quota.claim(held('ada'));
    expect(() => quota.claim(held('ada'))).toThrow(full);
    quota.claim(held('bob'));
  });

  it('is not counted for somebody of the same id in another workspace, or of another role', () => {
    const quota = new StreamQuota({ perPrincipal: 1, perAddress: 9 });
    quota.claim(held('ada'));
    quota.claim({ principal: { ...user('ada'), workspace: 'zoo' }, address: 'here', query: {} });
    quota.claim({ principal: { ...user('ada'), role: 'workspace_admin' }, address: 'here', query: {} });
    expect(() => quota.claim(held('ada'))).toThrow(full);
  });

  it('takes along whatever it holds besides, or nothing', () => {
    const quota = new StreamQuota({ perPrincipal: 2, perAddress: 4 });
    const claim = quota.claim(held(null));
    const release = claim.add();
    claim.add();
    expect(() => claim.move(user('ada'))).toThrow(full);
    quota.claim(held('ada')).release();
    release();
    release();
    claim.move(user('ada'));
    expect(() => claim.add()).toThrow(full);
    expect(() => quota.claim(held('ada', 'there'))).toThrow(full);
    quota.claim(held('bob'));
    quota.claim(held('bob'));
    expect(() => quota.claim(held('cid'))).toThrow(full);
    claim.release();
    quota.claim(held('ada', 'there'));
    quota.claim(held('ada', 'there'));
    quota.claim(held('cid'));
  });

  it('counts for its workspace besides, with all its subscriptions, until it is released', () => {
    const quota = new StreamQuota({ perPrincipal: 9, perAddress: 9 });
    const of = (id: string) => ({ ...held(null, id), workspace: { id, max: 2 } });
    const exceeded = expect.objectContaining({ code: 'quota_exceeded', status: 429 });
    const claim = quota.claim(of('acme'));
    claim.add();
    expect(() => claim.add()).toThrow(exceeded);
    expect(() => quota.claim(of('acme'))).toThrow(exceeded);
    quota.claim(of('zoo'));
    quota.claim({ ...of('free'), workspace: { id: 'free', max: undefined } });
    claim.release();
    quota.claim(of('acme'));
    quota.claim(of('acme'));
    expect(() => quota.claim(of('acme'))).toThrow(exceeded);
  });
});
