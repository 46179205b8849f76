/** Mailboxes as files over HTTP: whole, in ranges, by interrupted runs, and gone when they must be. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { NativeConnection } from '@temporalio/worker';
import { tarHeader } from '#administration/moving/archive-format.ts';
import { importMailbox } from '#administration/moving/import-mailbox.ts';
import type { Source } from '#administration/moving/moved-message.ts';
import { openSource } from '#administration/moving/open-source.ts';
import { runMove } from '#administration/moving/run-move.ts';
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { EXPORT_FORMATS, type ExportFormat } from '#domain/mailbox-moves.ts';
import { contentsOf, HARD_FOLDERS, HARD_MESSAGES } from '#test/operations/moving/moving-world.ts';
import { type Answer, type ApiWorld, apiWorld, at, errorCode, textAt } from '#test/support/api-world.ts';
import { openMailWorld } from '#test/support/mail-world.ts';
import { openMoves } from '#test/support/open-moves.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { RunningWorker } from '#worker/start.ts';

let world: ApiWorld;
let connection: NativeConnection;
let worker: RunningWorker;
let folder: string;

before(async () => {
  world = await apiWorld();
  connection = await NativeConnection.connect(temporalConnectionOptions(world.services.settings));
  worker = await startTestWorker(world.services, connection);
  folder = mkdtempSync(path.join(os.tmpdir(), 'moves-'));
});
after(async () => {
  await worker?.close();
  await connection?.close();
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (method: string, route: string, body?: object): Promise<Answer> =>
  world.call(method, `/api/operator/${route}`, { as: world.operator, ...(body === undefined ? {} : { body }) });

type Box = { readonly id: string; readonly address: string };

const PLANTED = 'xylophone-in-the-export';

async function* hardMail(): Source {
  let number = 0;
  for (const name of ['INBOX', ...HARD_FOLDERS, 'Ein langer Name '.repeat(11).trim()])
    for (const [about, content] of Object.entries({
      ...HARD_MESSAGES,
      planted: `Subject: ${PLANTED}\r\n\r\n${PLANTED}\r\n`,
    })) {
      number++;
      yield {
        ...{ kind: 'message', folder: name, where: about, bytes: Buffer.from(content), flags: number % 8 },
        ...{ keywords: number % 3 === 0 ? ['work', '$Forwarded'] : [], date: new Date(1.6e12 + number * 61_234) },
        offsetMinutes: 60,
      };
    }
}

async function fill({ id, address }: Box, source: Source, { db } = world.services): Promise<void> {
  const report = await importMailbox({
    ...{ db, notifier: { changed() {} }, account: { mailboxId: id, address }, source, dryRun: false },
    ...{ signal: new AbortController().signal, onProgress() {} },
  });
  assert.deepEqual([report.problems, report.stopped], [[], null]);
}

const contents = (box: Box) =>
  contentsOf({ services: world.services } as Parameters<typeof contentsOf>[0], { id: box.id } as never, {
    exact: true,
  });

const moved = (id: string) =>
  waitUntil(`the end of ${id}`, async () => {
    const answer = await ask('GET', `moves/${id}`);
    assert.notEqual(at(answer.body, 'state'), 'failed', answer.text);
    return at(answer.body, 'state') === 'finished' ? answer : undefined;
  });

async function download(id: string, range?: string): Promise<{ response: Response; bytes: Buffer }> {
  const response = await fetch(`${world.api.url}/api/operator/moves/${id}/content`, {
    headers: { ...world.operator, ...(range === undefined ? {} : { range }) },
  });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** What was downloaded, as a folder or file that an import reads. */
function unpacked(format: ExportFormat, id: string, bytes: Buffer): string {
  const file = path.join(folder, `${id}.tar`);
  writeFileSync(file, bytes);
  if (format === 'archive') return file;
  const target = path.join(folder, id);
  mkdirSync(target);
  execFileSync('tar', ['-xf', file, '-C', target]);
  return target;
}

const newBox = (): Promise<Box> => world.newMailbox(world.organization);

test('a mailbox comes back byte for byte from each format, in ranges too, and nothing of it is readable at rest', async () => {
  const box = await newBox();
  await fill(box, hardMail());
  const before = await contents(box);
  for (const format of EXPORT_FORMATS) {
    const begun = await ask('POST', 'exports', { mailbox: box.address, format });
    assert.equal(begun.status, 202, begun.text);
    const id = textAt(begun.body, 'id');
    const { body } = await moved(id);
    assert.equal(at(body, 'messages'), before.messages.length);
    const { response, bytes } = await download(id);
    assert.deepEqual([response.status, bytes.length], [200, at(body, 'sizeBytes')]);
    const parts: Buffer[] = [];
    for (let from = 0; from < bytes.length; from += 777_777) {
      const range = await download(id, `bytes=${from}-${from + 777_776}`);
      assert.equal(range.response.status, 206);
      assert.equal(
        range.response.headers.get('content-range'),
        `bytes ${from}-${from + range.bytes.length - 1}/${bytes.length}`,
      );
      parts.push(range.bytes);
    }
    assert.ok(Buffer.concat(parts).equals(bytes), format);
    assert.ok((await download(id, 'bytes=-1024')).bytes.equals(bytes.subarray(-1024)));
    assert.equal((await download(id, `bytes=${bytes.length}-`)).response.status, 416);
    const other = await newBox();
    await fill(other, openSource(unpacked(format, id, bytes), undefined));
    assert.deepEqual(await contents(other), before, format);
  }
  const readable = await world.sql(`select 1 from mailbox_move_part where position($1::bytea in bytes) > 0`, [
    Buffer.from(PLANTED),
  ]);
  assert.deepEqual(readable, []);
  const log = await world.call('GET', `/api/audit?targetId=${box.id}`, { as: world.organization.key });
  assert.ok(log.text.includes('"mailbox.exported"'), 'the organization sees that it was exported');
  const uses = await ask('GET', 'uses?operation=downloadExport');
  assert.ok(Number(Reflect.get(Object(at(uses.body, 'data')), 'length')) > 3);
});

test('an export that is interrupted goes on without a message twice, whatever an earlier run left behind', async () => {
  const box = await newBox();
  await fill(box, hardMail());
  for (const format of EXPORT_FORMATS) {
    const [id = ''] = await openMoves(
      world,
      { organizationId: world.organization.id, mailboxId: box.id },
      1,
      'running',
      format,
    );
    for (const messages of [1, 40, 41, 90]) {
      let asked = 0;
      const killed = {
        reason: new Error('killed'),
        get aborted() {
          return asked++ >= messages;
        },
      } as unknown as AbortSignal;
      await assert.rejects(runMove(world.services, id, killed), /killed/);
      // Written after the last note.
      await world.sql(
        `insert into mailbox_move_part (move_id, file, at, size, bytes)
         select move_id, file, max(at + size), 4, 'junk' from mailbox_move_part where move_id = $1 group by 1, 2`,
        [id],
      );
    }
    await runMove(world.services, id, new AbortController().signal);
    const { response, bytes } = await download(id);
    assert.equal(response.status, 200);
    const other = await newBox();
    await fill(other, openSource(unpacked(format, id, bytes), undefined));
    assert.deepEqual(await contents(other), await contents(box), format);
  }
});

test('of two runs of one export the later one writes', async () => {
  const box = await newBox();
  await fill(box, hardMail());
  const [id = ''] = await openMoves(world, { organizationId: world.organization.id, mailboxId: box.id }, 1);
  const signal = new AbortController().signal;
  await Promise.all([1, 2, 3, 4].map(() => runMove(world.services, id, signal)));
  const other = await newBox();
  const { bytes } = await download(id);
  await fill(other, openSource(unpacked('mbox', id, bytes), undefined));
  assert.deepEqual(await contents(other), await contents(box));
});

test('an export goes with the erasure of its mailbox, and of a correspondent; after its time it is not there', async () => {
  const organization = await world.newOrganization('team');
  const { mailbox } = organization;
  const of = { organizationId: organization.id, mailboxId: mailbox.id };
  const count = async () => (await world.sql(`select id from mailbox_move where mailbox_id = $1`, [mailbox.id])).length;
  const [expired = ''] = await openMoves(world, of, 1, 'finished');
  await world.sql(`update mailbox_move set expires_at = now() where id = $1`, [expired]);
  for (const route of [`moves/${expired}`, `moves/${expired}/content`])
    assert.equal(errorCode(await ask('GET', route)), 'not_found');
  for (const subject of [
    { kind: 'correspondent', subject: 'gone@stranger.example', organization: organization.id },
    { kind: 'mailbox', subject: mailbox.id },
  ]) {
    await openMoves(world, of, 1, 'finished');
    const begun = await ask('POST', 'erasures', { ...subject, yes: true });
    const id = textAt(begun.body, 'id');
    await waitUntil('the end', async () => at((await ask('GET', `erasures/${id}`)).body, 'state') === 'finished');
    assert.equal(await count(), 0, subject.kind);
  }
});

test('a download that cannot go on breaks off, so that nobody takes it for whole', async () => {
  const box = await newBox();
  await fill(box, hardMail());
  const id = textAt((await ask('POST', 'exports', { mailbox: box.id })).body, 'id');
  await moved(id);
  await world.sql(`delete from mailbox_move_part where move_id = $1 and at > 0`, [id]);
  await assert.rejects(download(id), TypeError);
});

test('an export is deleted by hand, and a deleted mailbox makes it fail with a reason', async () => {
  const box = await newBox();
  const [id = ''] = await openMoves(world, { organizationId: world.organization.id, mailboxId: box.id }, 1);
  await world.sql(`update mailboxes set deleted_at = now() where id = $1`, [box.id]);
  await runMove(world.services, id, new AbortController().signal);
  const failed = await ask('GET', `moves/${id}`);
  assert.equal(at(failed.body, 'state'), 'failed');
  assert.match(textAt(failed.body, 'problem'), /no mailbox/);
  assert.equal((await ask('DELETE', `moves/${id}`)).status, 204);
  assert.equal(errorCode(await ask('GET', `moves/${id}`)), 'not_found');
});

/** Sends a file in portions, and starts it. @returns the import as it ended */
async function imported(box: Box, file: Buffer, more: object = {}, portion = 1_500_000): Promise<Answer> {
  const begun = await ask('POST', 'imports', { mailbox: box.id, ...more });
  assert.equal(begun.status, 202, begun.text);
  const id = textAt(begun.body, 'id');
  assert.equal(errorCode(await ask('POST', `moves/${id}/start`, {})), 'conflict', 'it has no file yet');
  for (let from = 0; from < file.length; from += portion) {
    const response = await send(id, from, file.subarray(from, from + portion));
    assert.equal(response.status, 200, await response.text());
  }
  const started = await ask('POST', `moves/${id}/start`, {});
  assert.equal(started.status, 202, started.text);
  return waitUntil(`the end of ${id}`, async () => {
    const answer = await ask('GET', `moves/${id}`);
    return at(answer.body, 'state') === 'running' ? undefined : answer;
  });
}

const send = (id: string, from: number, bytes: Uint8Array) =>
  fetch(`${world.api.url}/api/operator/moves/${id}/content?at=${from}`, {
    method: 'PUT',
    headers: world.operator,
    body: new Uint8Array(bytes),
  });

test('what was exported is imported from an upload in portions, whatever program packed it, and nothing twice', async () => {
  const box = await newBox();
  await fill(box, hardMail());
  const before = await contents(box);
  for (const format of EXPORT_FORMATS) {
    const id = textAt((await ask('POST', 'exports', { mailbox: box.id, format })).body, 'id');
    await moved(id);
    const { bytes } = await download(id);
    const other = await newBox();
    const ended = await imported(other, bytes);
    assert.equal(at(ended.body, 'state'), 'finished', ended.text);
    assert.deepEqual(at(ended.body, 'report', 'problems'), [], format);
    assert.deepEqual(await contents(other), before, format);
    if (format === 'archive') {
      const again = await imported(other, bytes, { format });
      assert.deepEqual(
        [at(again.body, 'report', 'imported'), at(again.body, 'report', 'known')],
        [0, before.messages.length],
      );
      continue;
    }
    const tree = unpacked(format, id, bytes);
    // Names above 100 bytes: GNU's own entries, and pax.
    const form = format === 'mbox' ? 'gnu' : 'pax';
    const packed = path.join(folder, `${id}.${form}.tar`);
    execFileSync('tar', [`--format=${form}`, '-cf', packed, '-C', path.dirname(tree), path.basename(tree)]);
    const third = await newBox();
    const read = await imported(third, readFileSync(packed));
    assert.deepEqual(at(read.body, 'report', 'problems'), [], `${format} ${form}`);
    assert.deepEqual(await contents(third), before, `${format} ${form}`);
  }
  const left = await world.sql(
    `select p.move_id from mailbox_move_part p join mailbox_move m on m.id = p.move_id where m.direction = 'import'`,
  );
  assert.deepEqual(left, [], 'the file goes when its mail is there');
});

test('an upload goes on where it was interrupted, and takes no byte twice', async () => {
  const box = await newBox();
  const id = textAt((await ask('POST', 'imports', { mailbox: box.id })).body, 'id');
  const mbox = Buffer.from('From a Sat Nov 28 12:00:01 2026\nSubject: interrupted\n\nbody\n');
  assert.equal((await send(id, 0, mbox.subarray(0, 20))).status, 200);
  for (const from of [0, 19, 21]) {
    const wrong = await send(id, from, mbox.subarray(20));
    assert.equal(wrong.status, 409);
    assert.match(await wrong.text(), /at=20/);
  }
  const both = await Promise.all([send(id, 20, mbox.subarray(20)), send(id, 20, mbox.subarray(20))]);
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409],
  );
  assert.equal((await ask('POST', `moves/${id}/start`, {})).status, 202);
  await moved(id);
  assert.equal((await send(id, mbox.length, mbox)).status, 409, 'it takes no more');
  const { messages } = await contents(box);
  assert.deepEqual(
    messages.map((each) => [each.folder, each.content]),
    [['Imported', 'Subject: interrupted\r\n\r\nbody\r\n']],
  );
});

test('a file that is no mail and a damaged tar file are failures with their reason', async () => {
  const box = await newBox();
  for (const [file, reason] of [
    [gzipSync('From a Sat Nov 28 12:00:01 2026\n'), /compressed files are not read/],
    [
      Buffer.concat([tarHeader('a.mbox', 512, new Date(0)), Buffer.alloc(512), Buffer.alloc(512, 'x')]),
      /damaged at byte 1024/,
    ],
  ] as const) {
    const ended = await imported(box, file);
    assert.equal(at(ended.body, 'state'), 'failed');
    assert.match(textAt(ended.body, 'problem'), reason);
  }
});

test('an import by IMAP reaches no private host, unless a setting allows it, and its password is sealed and forgotten', async () => {
  const box = await newBox();
  const password = 'the-password-over-there';
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '10.0.0.1', '[::ffff:127.0.0.1]', '169.254.169.254']) {
    const imap = { url: `imaps://${host}:993`, user: 'ada', password };
    const begun = await ask('POST', 'imports', { mailbox: box.id, imap });
    assert.ok(!begun.text.includes(password));
    const id = textAt(begun.body, 'id');
    const failed = await waitUntil('the failure', async () => {
      const answer = await ask('GET', `moves/${id}`);
      return at(answer.body, 'state') === 'failed' ? answer : undefined;
    });
    assert.match(textAt(failed.body, 'problem'), /is not publicly routable/, host);
    const [row] = await world.sql(`select imap_password_sealed as sealed from mailbox_move where id = $1`, [id]);
    assert.ok(!String(row?.['sealed']).includes(password));
    assert.equal((await ask('DELETE', `moves/${id}`)).status, 204);
  }
  for (const url of ['https://mail.example.org', 'imaps://ada:x@mail.example.org', 'imaps://mail.example.org/x', 'x'])
    assert.equal(
      errorCode(await ask('POST', 'imports', { mailbox: box.id, imap: { url, user: 'ada', password } })),
      'invalid_request',
    );
  const mail = await openMailWorld();
  try {
    const account = await mail.createMailbox('over-there');
    await fill(account, hardMail(), mail.services);
    const imap = { url: `imaps://localhost:${mail.mail.imap.port}`, user: account.address, password: account.token };
    const id = textAt((await ask('POST', 'imports', { mailbox: box.id, imap })).body, 'id');
    await waitUntil('the refusal', async () => at((await ask('GET', `moves/${id}`)).body, 'state') === 'failed');
    await world.sql(`update mailbox_move set state = 'running' where id = $1`, [id]);
    const settings = { ...world.services.settings, IMPORT_PRIVATE_HOSTS: 'on' as const };
    await runMove({ ...world.services, settings }, id, new AbortController().signal);
    const { body } = await ask('GET', `moves/${id}`);
    assert.deepEqual([at(body, 'state'), at(body, 'report', 'problems')], ['finished', []]);
    assert.ok(Number(at(body, 'report', 'imported')) > 20);
    const [row] = await world.sql(`select imap_password_sealed as sealed from mailbox_move where id = $1`, [id]);
    assert.equal(row?.['sealed'], null);
  } finally {
    await mail.close();
  }
});
