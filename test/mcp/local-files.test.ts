/** Files of this machine that a model names: which are attached, and which never. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { ApiError, type FileToUpload } from '#client/index.ts';
import { CREDENTIAL_PREFIXES, credentialChecksum } from '#domain/access/credential-format.ts';
import { foldersOfRoots, namedFile, sharedFile } from '#mcp/local-file.ts';

let base: string;
let shared: string;
let own: string;
const at = (...parts: string[]): string => path.join(base, ...parts);

before(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), 'local-files-')));
  shared = at('shared');
  own = at('shared', 'config');
  for (const folder of ['shared', 'shared/config', 'shared/reports', 'shared/.ssh', 'outside'])
    mkdirSync(at(folder), { recursive: true });
  writeFileSync(at('shared/reports/may.pdf'), 'May');
  writeFileSync(at('shared/empty.txt'), '');
  writeFileSync(at('shared/.env'), 'KEY=1');
  writeFileSync(at('shared/.ssh/id'), 'key');
  writeFileSync(at('shared/config/config.json'), '{}');
  writeFileSync(at('outside/secret'), 'secret');
  symlinkSync(at('outside/secret'), at('shared/innocent.txt'));
  symlinkSync(at('outside'), at('shared/linked'));
  symlinkSync(at('shared/reports'), at('outside/to-shared'));
  linkSync(at('shared/config/config.json'), at('shared/copy.json'));
  const text = `${CREDENTIAL_PREFIXES.mailboxToken}${'a'.repeat(43)}`;
  writeFileSync(at('shared/host.json'), `{"env": {"TOKEN": "${text}${credentialChecksum(text)}"}}`);
});
after(() => rmSync(base, { recursive: true }));

const codeOf = (error: unknown): string => {
  assert.ok(error instanceof ApiError, String(error));
  return error.code;
};
const outcomeOf = async (reading: Promise<FileToUpload>): Promise<string> => {
  try {
    const { content } = await reading;
    return content instanceof Blob ? await content.text() : Buffer.from(content).toString();
  } catch (error) {
    return codeOf(error);
  }
};
const byModel = (file: string, folders = [shared]): Promise<string> => outcomeOf(sharedFile(file, folders, [own]));

describe('a file that a model names', () => {
  test('is read from a shared folder, by its path, its path in the folder, or a link that leads into it', async () => {
    assert.equal(await byModel(at('shared/reports/may.pdf')), 'May');
    assert.equal(await byModel('reports/may.pdf'), 'May');
    assert.equal(await byModel(at('outside/to-shared/may.pdf')), 'May');
    assert.equal(await byModel('empty.txt'), '');
    const { filename, contentType } = await sharedFile('reports/may.pdf', [shared], []);
    assert.deepEqual([filename, contentType], ['may.pdf', 'application/pdf']);
  });

  test('is refused outside of the folders, also behind links, and whether it exists or not', async () => {
    for (const file of [
      '/etc/passwd',
      at('outside/secret'),
      at('outside/nothing'),
      at('nowhere/nothing'),
      '../outside/secret',
      'reports/../../outside/secret',
      'innocent.txt',
      'linked/secret',
      at('shared/linked/secret'),
      base,
      shared,
    ])
      assert.equal(await byModel(file), 'file_refused', file);
    // A folder whose name only begins like that of a shared one.
    mkdirSync(at('shared-not'));
    writeFileSync(at('shared-not/a.txt'), 'x');
    assert.equal(await byModel(at('shared-not/a.txt')), 'file_refused');
    assert.equal(await byModel('reports/june.pdf'), 'file_unreadable');
  });

  test('is refused when no folder is shared', async () => {
    assert.equal(await byModel(at('shared/reports/may.pdf'), []), 'file_refused');
    assert.equal(await byModel('may.pdf', []), 'file_refused');
    assert.equal(await byModel(at('shared/reports/may.pdf'), [at('nowhere')]), 'file_refused');
  });

  test('is refused in a shared folder when it is hidden, of the configuration, another name of it, or has a credential', async () => {
    for (const file of ['.env', '.ssh/id', 'config/config.json', 'copy.json', 'host.json'])
      assert.equal(await byModel(file), 'file_refused', file);
    // A hidden folder above the shared one was shared by a person.
    mkdirSync(at('.cache/work'), { recursive: true });
    writeFileSync(at('.cache/work/a.txt'), 'a');
    assert.equal(await byModel('a.txt', [at('.cache/work')]), 'a');
  });

  test('is refused when it has a second name, which may be in another folder; a person decides about it', async () => {
    writeFileSync(at('outside/private'), 'private');
    linkSync(at('outside/private'), at('shared/reports/april.pdf'));
    assert.equal(await byModel('reports/april.pdf'), 'file_refused');
    assert.equal(await outcomeOf(namedFile(at('shared/reports/april.pdf'), [own])), 'private');
    rmSync(at('outside/private'));
    assert.equal(await byModel('reports/april.pdf'), 'private', 'it has one name again');
  });

  test('the refusal names no way around', async () => {
    await assert.rejects(sharedFile('/etc/shadow', [shared], [own]), (error) => {
      assert.ok(error instanceof ApiError);
      const said = `${error.message} ${error.fix}`;
      assert.doesNotMatch(said, /copy|move|rename|link|folder first|--files|roots/i);
      assert.ok(!said.includes(shared), said);
      return true;
    });
  });

  test('is not read when a link takes its place while it is opened', {
    skip: process.platform !== 'linux',
  }, async () => {
    const racing = at('racing');
    mkdirSync(path.join(racing, 'a'), { recursive: true });
    writeFileSync(path.join(racing, 'a/secret'), 'harmless');
    symlinkSync(at('outside'), path.join(racing, 'b'));
    const swap = (): void => {
      renameSync(path.join(racing, 'a'), path.join(racing, 'c'));
      renameSync(path.join(racing, 'b'), path.join(racing, 'a'));
      renameSync(path.join(racing, 'c'), path.join(racing, 'b'));
    };
    const seen = new Set<string>();
    for (let round = 0; round < 2_000; round++) {
      const reading = byModel('a/secret', [racing]);
      // In the middle of the steps of the reader, at another one each round.
      for (let turn = 0; turn < round % 12; turn++) await new Promise(setImmediate);
      swap();
      seen.add(await reading);
    }
    assert.ok(!seen.has('secret'), [...seen].join());
    assert.ok(seen.has('harmless') && seen.has('file_refused'), [...seen].join());
  });
});

test('no file is read through a folder above it that another program exchanges for a link all the time', {
  skip: process.platform !== 'linux',
}, async () => {
  const SWAPS = 30_000;
  const racing = at('racing-above');
  mkdirSync(path.join(racing, 'a/deep/er'), { recursive: true });
  mkdirSync(path.join(base, 'above-outside/deep/er'), { recursive: true });
  writeFileSync(path.join(racing, 'a/deep/er/file'), 'harmless');
  writeFileSync(path.join(base, 'above-outside/deep/er/file'), 'secret');
  symlinkSync(path.join(base, 'above-outside'), path.join(racing, 'b'));
  const swapping = new Worker(
    `const { renameSync } = require('node:fs');
     const { workerData: { folder, swaps } } = require('node:worker_threads');
     const [a, b, c] = ['a', 'b', 'c'].map((name) => folder + '/' + name);
     for (let i = 0; i < swaps; i++) { renameSync(a, c); renameSync(b, a); renameSync(c, b); }`,
    { eval: true, workerData: { folder: racing, swaps: SWAPS } },
  );
  let isSwapping = true;
  const ended = new Promise<void>((resolve, reject) => {
    swapping.once('error', reject);
    swapping.once('exit', () => resolve());
  }).finally(() => {
    isSwapping = false;
  });
  const seen = new Map<string, number>();
  while (isSwapping) {
    const outcome = await byModel('a/deep/er/file', [racing]);
    seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
  }
  await ended;
  assert.equal(seen.get('secret'), undefined, JSON.stringify([...seen]));
  assert.ok([...seen.values()].reduce((sum, count) => sum + count, 0) > 10, JSON.stringify([...seen]));
  // The number of swaps is even, so that the folder is at its place again.
  assert.equal(await byModel('a/deep/er/file', [racing]), 'harmless');
});

for (const [who, read] of [
  ['a model names', (file: string) => outcomeOf(sharedFile(file, ['/'], [own]))],
  ['a person names', (file: string) => outcomeOf(namedFile(file, [own]))],
] as const)
  test(`a file that ${who} is a regular one with the content that its size says`, async () => {
    const fifo = at('shared/fifo');
    rmSync(fifo, { force: true });
    if (process.platform !== 'win32') {
      execFileSync('mkfifo', [fifo]);
      assert.equal(await read(fifo), 'file_unreadable');
    }
    const socket = createServer().listen(at('shared/s'));
    assert.equal(await read(at('shared/s')), 'file_unreadable');
    await new Promise((closed) => socket.close(closed));
    for (const special of [
      '/proc/self/environ',
      '/proc/self/cmdline',
      '/proc/version',
      '/dev/null',
      '/dev/zero',
      '/dev/tty',
    ])
      if (existsSync(special)) assert.equal(await read(special), 'file_unreadable', special);
    if (existsSync('/sys/kernel/mm/transparent_hugepage/enabled'))
      assert.equal(await read('/sys/kernel/mm/transparent_hugepage/enabled'), 'file_unreadable');
    assert.equal(await read(at('shared')), 'file_unreadable');
    writeFileSync(at('shared/large'), Buffer.alloc(30 * 1_048_576 + 1));
    assert.equal(await read(at('shared/large')), 'file_unreadable');
    rmSync(at('shared/large'));
  });

test('a file that a person names may be anywhere, but is neither of the configuration nor has a credential', async () => {
  const byPerson = (file: string) => outcomeOf(namedFile(file, [own]));
  assert.equal(await byPerson(at('outside/secret')), 'secret');
  assert.equal(await byPerson(at('shared/innocent.txt')), 'secret');
  assert.equal(await byPerson(at('shared/.env')), 'KEY=1');
  for (const file of ['shared/config/config.json', 'shared/copy.json', 'shared/host.json'])
    assert.equal(await byPerson(at(file)), 'file_refused', file);
  assert.equal(await byPerson(at('outside/nothing')), 'file_unreadable');
});

test('of the roots of a host, those that are files of this machine count', () => {
  const roots = [
    { uri: 'file:///srv/my%20files' },
    { uri: 'https://example.com/srv' },
    { uri: 'file://other/x' },
    { uri: '' },
  ];
  assert.deepEqual(foldersOfRoots(roots), process.platform === 'win32' ? [] : ['/srv/my files']);
});
