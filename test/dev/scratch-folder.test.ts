/** The folder in which a run of the tests keeps its files. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { allowsPrograms, makeScratchFolder } from '#test/runner/scratch-folder.ts';

const parent = mkdtempSync(path.join(tmpdir(), 'scratch-folder-'));
after(() => rmSync(parent, { recursive: true }));

test('what a killed run left behind is removed, and nothing else', () => {
  const { pid: dead } = spawnSync(process.execPath, ['--version']);
  const yesterday = new Date(Date.now() - 86_400_000);
  const folders = {
    killed: `agent-mailbox-test-${dead}-abcdef`,
    'killed in another container a moment ago, perhaps': `agent-mailbox-test-${dead}-recent`,
    running: `agent-mailbox-test-${process.pid}-abcdef`,
    foreign: `another-test-${dead}-abcdef`,
  };
  for (const [kind, name] of Object.entries(folders)) {
    mkdirSync(path.join(parent, name, 'postgres'), { recursive: true });
    if (!kind.includes('a moment ago')) utimesSync(path.join(parent, name), yesterday, yesterday);
  }
  makeScratchFolder(parent);
  const left = Object.entries(folders).filter(([, name]) => existsSync(path.join(parent, name)));
  assert.deepEqual(
    left.map(([kind]) => kind),
    Object.keys(folders).filter((kind) => kind !== 'killed'),
  );
});

test('another user can enter the folders, and not list them', { skip: process.platform === 'win32' }, () => {
  const { folder, temporary } = makeScratchFolder(parent);
  assert.equal(path.dirname(temporary), folder);
  for (const each of [folder, temporary]) assert.equal(statSync(each).mode & 0o777, 0o711);
});

test('memory from which no program can be started is not used', () => {
  const mounts = (options: string) => `proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs ${options} 0 0\n`;
  assert.equal(allowsPrograms(mounts('rw,nosuid,nodev')), true);
  assert.equal(allowsPrograms(mounts('rw,nosuid,nodev,noexec,relatime,size=65536k')), false);
  assert.equal(allowsPrograms('/dev/vda / ext4 rw 0 0\n'), false);
});
