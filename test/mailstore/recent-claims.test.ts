import assert from 'node:assert/strict';
import test from 'node:test';
import { NOTHING_RECENT, recentClaims } from '#mailstore/folders/folder-view.ts';

const folder = { mailboxId: 'mbx_1', folderId: 1, uidValidity: 7 };

test('of claims at the same time one becomes a statement, and only its session gets the messages', async () => {
  const claim = recentClaims();
  const statements: ((from: number) => void)[] = [];
  const work = () => new Promise<number>((resolve) => statements.push(resolve));
  const claims = Array.from({ length: 20 }, () => claim({ ...folder, below: 5 }, work));
  assert.equal(statements.length, 1);
  statements[0]?.(3);
  const answers = await Promise.all(claims);
  assert.deepEqual(answers, [3, ...Array.from({ length: 19 }, () => NOTHING_RECENT)]);
  assert.equal(await claim({ ...folder, below: 5 }, work), NOTHING_RECENT);
  assert.equal(statements.length, 1);
});

test('a later message, another folder, and a folder made anew have claims of their own', async () => {
  const claim = recentClaims();
  assert.equal(await claim({ ...folder, below: 5 }, async () => 3), 3);
  assert.equal(await claim({ ...folder, below: 6 }, async () => 5), 5);
  assert.equal(await claim({ ...folder, folderId: 2, below: 5 }, async () => 4), 4);
  assert.equal(await claim({ ...folder, uidValidity: 8, below: 5 }, async () => 1), 1);
  assert.equal(await claim({ ...folder, mailboxId: 'mbx_2', below: 5 }, async () => 2), 2);
});

test('a session that waited for a failed claim, or for one of fewer messages, claims itself', async () => {
  const claim = recentClaims();
  const failed = claim({ ...folder, below: 5 }, async () => {
    throw new Error('the connection was lost');
  });
  const waiting = claim({ ...folder, below: 5 }, async () => 4);
  await assert.rejects(failed, /connection was lost/);
  assert.equal(await waiting, 4);
  const [fewer, more] = [claim({ ...folder, below: 6 }, async () => 5), claim({ ...folder, below: 8 }, async () => 6)];
  assert.deepEqual(await Promise.all([fewer, more]), [5, 6]);
});
