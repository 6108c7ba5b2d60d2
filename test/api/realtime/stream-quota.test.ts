// How many streams one principal and one address may hold.
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

describe('a seat', () => {
  it('is counted for the principal that it was moved to, and no longer for the one before', () => {
    const seats = new StreamQuota({ perPrincipal: 1, perAddress: 9 });
    const seat = seats.claim(held('ada'));
    expect(() => seats.claim(held('ada'))).toThrow(full);
    seat.move(user('bob'));
    const other = seats.claim(held('ada'));
    expect(() => seats.claim(held('bob'))).toThrow(full);
    expect(() => other.move(user('bob'))).toThrow(full);
    seat.release();
    other.move(user('bob'));
    seats.claim(held('ada'));
  });

  it('of nobody is counted for its address, and for a principal once it has one', () => {
    const seats = new StreamQuota({ perPrincipal: 1, perAddress: 2 });
    const seat = seats.claim(held(null));
    seat.move(user('ada'));
    expect(() => seats.claim(held('ada', 'there'))).toThrow(full);
    seats.claim(held(null));
    expect(() => seats.claim(held(null))).toThrow(full);
  });

  it('is given back once, however often that is said, and not moved afterwards', () => {
    const seats = new StreamQuota({ perPrincipal: 1, perAddress: 2 });
    const [seat] = [seats.claim(held('ada')), seats.claim(held('bob'))];
    seat.release();
    seat.release();
    seat.move(user('cid'));
    seats.claim(held('cid'));
    expect(() => seats.claim(held('ada'))).toThrow(full);
    seats.claim(held('ada', 'there'));
  });

  it('counts one more for every 128 characters of a filter, and gives all of that back', () => {
    const seats = new StreamQuota({ perPrincipal: 5, perAddress: 6 });
    const seat = seats.claim(held('ada'), 'f'.repeat(127));
    const giveBack = seat.add('f'.repeat(384));
    expect(() => seat.add()).toThrow(full);
    expect(() => seats.claim(held('bob'), 'f'.repeat(128))).toThrow(full);
    seats.claim(held('bob'), 'f'.repeat(127)).release();
    giveBack();
    giveBack();
    expect(() => seats.claim(held('ada'), 'f'.repeat(512))).toThrow(full);
    seats.claim(held('ada'), 'f'.repeat(511)).release();
    expect(() => seats.claim(held('bob'), 'f'.repeat(640))).toThrow(full);
    seats.claim(held(null), 'f'.repeat(639));
    expect(() => seats.claim(held(null))).toThrow(full);
  });

  it('counts a long query as it does a filter', () => {
    const seats = new StreamQuota({ perPrincipal: 9, perAddress: 3 });
    const query = { a: 'q'.repeat(63), bc: 'q'.repeat(62) };
    expect(() => seats.claim(held('ada', 'here', query), 'f'.repeat(256))).toThrow(full);
    const seat = seats.claim(held('ada', 'here', query), 'f'.repeat(255));
    expect(() => seats.claim(held('ada'))).toThrow(full);
    seat.release();
    seats.claim(held('ada', 'here', { q: 'q'.repeat(382) }));
    expect(() => seats.claim(held('ada'))).toThrow(full);
  });

  it('gives nothing back that went back with it', () => {
    const seats = new StreamQuota({ perPrincipal: 2, perAddress: 2 });
    const seat = seats.claim(held('ada'));
    const giveBack = seat.add();
    seat.release();
    giveBack();
    seats.claim(held('ada'));
    seats.claim(held('bob'));
    expect(() => seats.claim(held('cid'))).toThrow(full);
  });

  it('stays as it is when its own principal signs in again', () => {
    const seats = new StreamQuota({ perPrincipal: 3, perAddress: 9 });
    const seat = seats.claim(held('ada'));
    seat.add();
    seat.move(user('ada'));
    seat.add();
    expect(() => seat.add()).toThrow(full);
  });

  it('that its principal is refused is not counted for the address', () => {
    const seats = new StreamQuota({ perPrincipal: 1, perAddress: 2 });
    seats.claim(held('ada'));
    expect(() => seats.claim(held('ada'))).toThrow(full);
    seats.claim(held('bob'));
  });

  it('is not counted for somebody of the same id in another workspace, or of another role', () => {
    const seats = new StreamQuota({ perPrincipal: 1, perAddress: 9 });
    seats.claim(held('ada'));
    seats.claim({ principal: { ...user('ada'), workspace: 'zoo' }, address: 'here', query: {} });
    seats.claim({ principal: { ...user('ada'), role: 'workspace_admin' }, address: 'here', query: {} });
    expect(() => seats.claim(held('ada'))).toThrow(full);
  });

  it('takes along whatever it holds besides, or nothing', () => {
    const seats = new StreamQuota({ perPrincipal: 2, perAddress: 4 });
    const seat = seats.claim(held(null));
    const giveBack = seat.add();
    seat.add();
    expect(() => seat.move(user('ada'))).toThrow(full);
    seats.claim(held('ada')).release();
    giveBack();
    giveBack();
    seat.move(user('ada'));
    expect(() => seat.add()).toThrow(full);
    expect(() => seats.claim(held('ada', 'there'))).toThrow(full);
    seats.claim(held('bob'));
    seats.claim(held('bob'));
    expect(() => seats.claim(held('cid'))).toThrow(full);
    seat.release();
    seats.claim(held('ada', 'there'));
    seats.claim(held('ada', 'there'));
    seats.claim(held('cid'));
  });
});
