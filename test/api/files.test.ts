/** Uploaded files, and the four ways to attach one. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { retentionStep } from '#activities/delete-history.ts';
import { newId } from '#core/platform/new-id.ts';
import {
  ATTACHMENT_URLS_PER_MINUTE_MAX,
  FILE_MAX_BYTES,
  FILES_PER_MAILBOX_MAX_BYTES,
} from '#domain/mail/file-limits.ts';
import {
  type ApiWorld,
  apiWorld,
  at,
  type Credential,
  detailPaths,
  type TestMailbox,
  textAt,
} from '#test/support/api-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testTls } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
let host: Receiver;
let mailbox: TestMailbox;
before(async () => {
  host = await startReceiver();
  world = await apiWorld({ WEBHOOK_ALLOW_DESTINATIONS: '127.0.0.0/8,::1/128', WEBHOOK_EXTRA_CA: testTls().caFile });
  ({ mailbox } = world.organization);
});
after(async () => {
  await world?.close();
  await host?.close();
});

interface Sent {
  readonly status: number;
  readonly body: unknown;
}

async function send(
  method: string,
  path: string,
  body: Uint8Array<ArrayBuffer> | FormData | string,
  headers: Record<string, string> = {},
): Promise<Sent> {
  const answer = await fetch(new URL(path, world.api.url), { method, body, headers });
  return { status: answer.status, body: await answer.json() };
}

const upload = (body: Uint8Array<ArrayBuffer> | FormData | string, headers: Record<string, string> = {}, query = '') =>
  send('POST', `/api/mailbox/files${query}`, body, { ...mailbox.token, ...headers });

async function uploaded(bytes: Uint8Array<ArrayBuffer>, filename = 'data.bin'): Promise<string> {
  const { status, body } = await upload(bytes, { 'content-type': 'application/x-test' }, `?filename=${filename}`);
  assert.equal(status, 201, JSON.stringify(body));
  return textAt(body, 'id');
}

/** The attachments of a message: name, type and hash of the downloaded bytes. */
async function attachmentsOf(messageId: string, as: Credential = mailbox.token) {
  const { body } = await world.call('GET', `/api/mailbox/messages/${messageId}`, { as });
  const list = at(body, 'attachments');
  assert.ok(Array.isArray(list));
  return Promise.all(
    list.map(async (attachment) => {
      const id = textAt(attachment, 'id');
      const path = `/api/mailbox/messages/${messageId}/attachments/${id}`;
      const bytes = Buffer.from(await (await fetch(new URL(path, world.api.url), { headers: as })).arrayBuffer());
      return {
        id,
        filename: at(attachment, 'filename'),
        contentType: at(attachment, 'contentType'),
        hash: hashOf(bytes),
      };
    }),
  );
}
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const toMyself = (attachments: readonly object[], more: object = {}, path = '') =>
  world.call('POST', `/api/mailbox/messages${path}`, {
    as: mailbox.token,
    body: { to: [mailbox.address], subject: 'Files', text: 'x', attachments, ...more },
  });

describe('uploading', () => {
  test('a file as the body has the name of the query, else of Content-Disposition, and its own type', async () => {
    const named = await upload('a,b', { 'content-type': 'text/csv; charset=utf-8' }, '?filename=list.csv');
    assert.deepEqual(
      [named.status, at(named.body, 'filename'), at(named.body, 'contentType'), at(named.body, 'sizeBytes')],
      [201, 'list.csv', 'text/csv', 3],
    );
    const disposed = await upload('x', {
      'content-disposition': `attachment; filename="../../a.txt"; filename*=UTF-8''r%C3%A9sum%C3%A9.txt`,
    });
    assert.equal(at(disposed.body, 'filename'), 'résumé.txt');
    const plain = await upload('x', { 'content-disposition': 'attachment; filename="../../etc/passwd"' });
    assert.equal(at(plain.body, 'filename'), 'passwd');
    const path = `/api/mailbox/files/${textAt(named.body, 'id')}`;
    const got = await world.call('GET', path, { as: mailbox.token });
    assert.deepEqual(got.body, named.body);
    const listed = await world.call('GET', `/api/mailboxes/${mailbox.id}/files?limit=2`, {
      as: world.organization.key,
    });
    assert.deepEqual(at(listed.body, 'data'), [plain.body, disposed.body]);
    const next = await world.call('GET', `/api/mailbox/files?limit=2&cursor=${textAt(listed.body, 'nextCursor')}`, {
      as: mailbox.token,
    });
    assert.deepEqual(at(next.body, 'data', 0), named.body);
    assert.equal((await world.call('DELETE', path, { as: mailbox.token })).status, 204);
    assert.equal((await world.call('GET', path, { as: mailbox.token })).status, 404);
  });

  test('a form has one file; none, or a second one, is refused and leaves nothing', async () => {
    const form = new FormData();
    form.set('file', new File(['a form'], 'C:\\docs\\f.txt', { type: 'text/plain' }));
    const sent = await upload(form);
    assert.deepEqual([sent.status, at(sent.body, 'filename'), at(sent.body, 'sizeBytes')], [201, 'f.txt', 6]);
    const count = async () => (await world.sql(`select count(*)::int as n from mailbox_file`))[0]?.['n'];
    const before = await count();
    form.set('other', new File(['another'], 'g.txt'));
    assert.equal((await upload(form)).status, 400);
    const none = new FormData();
    none.set('text', 'no file');
    assert.equal((await upload(none)).status, 400);
    assert.equal((await upload('x', { 'content-type': 'multipart/form-data; boundary=b' })).status, 400);
    assert.equal((await upload('x', { 'content-type': 'multipart/form-data; x=b' })).status, 400);
    assert.equal(await count(), before);
  });

  test('a file above the limit is refused, also without a Content-Length, and leaves nothing', async () => {
    const count = async () => (await world.sql(`select count(*)::int as n from mailbox_file_chunk`))[0]?.['n'];
    const before = await count();
    const large = new Uint8Array(FILE_MAX_BYTES + 1);
    const stream = new Blob([large]).stream();
    const init = { method: 'POST', body: stream, duplex: 'half', headers: mailbox.token };
    const streamed = await fetch(new URL('/api/mailbox/files', world.api.url), init as RequestInit).catch(
      () => undefined,
    );
    if (streamed !== undefined) assert.equal(streamed.status, 413);
    const announced = await upload(large).catch(() => undefined);
    if (announced !== undefined) assert.equal(announced.status, 413);
    await waitUntil('nothing is left', async () => (await count()) === before);
  });

  test('an interrupted upload leaves nothing', async () => {
    const { port } = new URL(world.api.url);
    const socket = net.connect(Number(port), '127.0.0.1');
    const [name, value] = Object.entries(mailbox.token)[0] ?? ['', ''];
    socket.write(
      `POST /api/mailbox/files?filename=cut.bin HTTP/1.1\r\nHost: x\r\n${name}: ${value}\r\nContent-Length: 900000\r\n\r\n`,
    );
    socket.write(Buffer.alloc(600_000));
    const cut = async () =>
      world.sql(
        `select f.id from mailbox_file f join mailbox_file_chunk c on c.file_id = f.id where filename = 'cut.bin'`,
      );
    await waitUntil('a chunk is stored', async () => (await cut()).length > 0);
    socket.destroy();
    await waitUntil(
      'it is gone',
      async () => (await world.sql(`select 1 from mailbox_file where filename = 'cut.bin'`)).length === 0,
    );
  });

  test('with an Idempotency-Key the same content gives the same file, and another content is a conflict', async () => {
    const headers = { 'idempotency-key': 'one-upload', 'content-type': 'text/plain' };
    const first = await upload('same', headers, '?filename=a.txt');
    assert.deepEqual(await upload('same', headers, '?filename=a.txt'), first);
    assert.equal((await upload('else', headers, '?filename=a.txt')).status, 409);
  });

  test('files have a bound of their own for each mailbox, which concurrent uploads cannot exceed together', async () => {
    const other = await world.newMailbox(world.organization);
    await world.sql(
      `insert into mailbox_file (id, organization_id, mailbox_id, filename, content_type, size_bytes, state, created_at, expires_at)
       values ($1, $2, $3, 'x', 'x/x', $4, 'complete', now(), now() + interval '1 day')`,
      [newId('file'), world.organization.id, other.id, FILES_PER_MAILBOX_MAX_BYTES - 1_000],
    );
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => send('POST', '/api/mailbox/files', 'x'.repeat(600), { ...other.token })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409, 409],
    );
  });

  test('files are deleted after 24 hours, and cannot be attached from then on', async () => {
    const id = await uploaded(new Uint8Array([1]), 'old.bin');
    await world.sql(`update mailbox_file set expires_at = now() - interval '1 second' where id = $1`, [id]);
    const refused = await toMyself([{ fileId: id }]);
    assert.deepEqual([refused.status, detailPaths(refused)], [400, ['/attachments/0/fileId']]);
    await retentionStep(world.services, { step: 'sessions' }, { heartbeat() {}, isEnding: () => false });
    assert.deepEqual(await world.sql(`select 1 from mailbox_file where id = $1`, [id]), []);
    assert.deepEqual(await world.sql(`select 1 from mailbox_file_chunk where file_id = $1`, [id]), []);
  });
});

describe('an upload URL', () => {
  const make = async (more: object = {}) => {
    const body = { filename: 'by url.pdf', contentType: 'application/pdf', ...more };
    const answer = await world.call('POST', '/api/mailbox/files/uploads', { as: mailbox.token, body });
    assert.equal(answer.status, 201, answer.text);
    return { fileId: textAt(answer.body, 'fileId'), url: textAt(answer.body, 'url') };
  };

  test('takes one upload without a credential, and the file can be attached by the id that is known before', async () => {
    const { fileId, url } = await make();
    assert.equal((await toMyself([{ fileId }])).status, 400, 'not uploaded yet');
    const bytes = Buffer.from(randomBytes(700_000));
    const sent = await send('PUT', url, bytes, { 'content-type': 'text/html' });
    assert.deepEqual(
      [sent.status, at(sent.body, 'id'), at(sent.body, 'filename'), at(sent.body, 'contentType')],
      [201, fileId, 'by url.pdf', 'application/pdf'],
    );
    assert.equal((await send('PUT', url, 'again')).status, 404);
    const message = await toMyself([{ fileId }]);
    assert.equal(message.status, 201, message.text);
    const [attachment] = await attachmentsOf(textAt(message.body, 'id'));
    assert.deepEqual([attachment?.filename, attachment?.hash], ['by url.pdf', hashOf(bytes)]);
  });

  test('is bounded in size, can be used again after a refused upload, and not after its time', async () => {
    const { url } = await make({ sizeBytes: 10 });
    assert.equal((await send('PUT', url, 'x'.repeat(11))).status, 413);
    assert.equal((await send('PUT', url, 'x'.repeat(10))).status, 201);
    const late = await make();
    await world.sql(`update mailbox_file set expires_at = now() where id = $1`, [late.fileId]);
    assert.equal((await send('PUT', late.url, 'x')).status, 404);
  });
});

describe('attaching', () => {
  test('a file, an attachment of a message, a URL and content; names and types can be replaced', async () => {
    const bytes = Buffer.from(randomBytes(2_000_000));
    const fileId = await uploaded(bytes);
    const first = await toMyself([
      { fileId },
      { contentBase64: 'aGk=', contentType: 'text/plain', filename: 'hi.txt' },
    ]);
    assert.equal(first.status, 201, first.text);
    const messageId = textAt(first.body, 'id');
    const [one, two] = await attachmentsOf(messageId);
    assert.deepEqual([one?.filename, one?.contentType, one?.hash], ['data.bin', 'application/x-test', hashOf(bytes)]);
    host.answer((response) =>
      response
        .writeHead(200, { 'content-type': 'application/pdf; x=y', 'content-disposition': 'inline; filename="r.pdf"' })
        .end('%PDF-'),
    );
    const second = await toMyself([
      { messageId, attachmentId: one?.id, filename: 'again.bin', contentType: 'application/octet-stream' },
      { messageId, attachmentId: two?.id },
      { url: new URL('/reports/2026?x=1', host.url).href },
    ]);
    assert.equal(second.status, 201, second.text);
    assert.deepEqual(
      (await attachmentsOf(textAt(second.body, 'id'))).map(({ filename, contentType, hash }) => ({
        filename,
        contentType,
        hash,
      })),
      [
        { filename: 'again.bin', contentType: 'application/octet-stream', hash: hashOf(bytes) },
        { filename: 'hi.txt', contentType: 'text/plain', hash: hashOf(Buffer.from('hi')) },
        { filename: 'r.pdf', contentType: 'application/pdf', hash: hashOf(Buffer.from('%PDF-')) },
      ],
    );
    for (const verb of ['reply', 'reply-all', 'forward']) {
      const answer = await toMyself([{ fileId }], verb === 'forward' ? {} : { to: [] }, `/${messageId}/${verb}`);
      assert.equal(answer.status, 201, answer.text);
      assert.equal((await attachmentsOf(textAt(answer.body, 'id')))[0]?.hash, hashOf(bytes), verb);
    }
    const body = { to: [mailbox.address], attachments: [{ fileId }] };
    const draft = await world.call('POST', '/api/mailbox/drafts', { as: mailbox.token, body });
    assert.equal(draft.status, 201, draft.text);
    const kept = {
      attachments: [
        { messageId: textAt(draft.body, 'messageId'), attachmentId: textAt(draft.body, 'attachments', 0, 'id') },
      ],
    };
    const saved = await world.call('PATCH', `/api/mailbox/drafts/${textAt(draft.body, 'id')}`, {
      as: mailbox.token,
      body: kept,
    });
    assert.equal(saved.status, 200, saved.text);
    assert.equal((await attachmentsOf(textAt(saved.body, 'messageId')))[0]?.hash, hashOf(bytes), 'a saved draft');
  });

  test('the person who approves sees the bytes of the submission, and exactly they are sent', async () => {
    let version = 'first version';
    host.answer((response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(version));
    const url = new URL('/terms.txt', host.url).href;
    const held = await toMyself([{ url }], { to: ['stranger@outside.example'] });
    assert.equal(held.status, 202, held.text);
    version = 'another version';
    const path = `/api/consents/${textAt(held.body, 'consentId')}`;
    const as = world.organization.member.session;
    const consent = await world.call('GET', `${path}/message`, { as });
    assert.equal(at(consent.body, 'hashMatches'), true);
    const attachment = textAt(consent.body, 'attachments', 0, 'id');
    const seen = await fetch(new URL(`${path}/message/attachments/${attachment}`, world.api.url), { headers: as });
    assert.equal(await seen.text(), 'first version');
    const approved = await world.call('POST', `${path}/approve`, { as, body: { scope: 'message' } });
    assert.equal(approved.status, 200, approved.text);
    const [released] = await world.sql(
      `select b.bytes from outbound_message o join blob b on b.sha256 = o.blob where o.id = $1`,
      [textAt(held.body, 'id')],
    );
    const bytes = released?.['bytes'];
    assert.ok(Buffer.isBuffer(bytes));
    assert.ok(bytes.includes(Buffer.from('first version').toString('base64')) || bytes.includes('first version'));
  });

  test('what is wrong is named, and nothing is sent', async () => {
    const own = await uploaded(new Uint8Array([1]));
    const foreign = await send('POST', '/api/mailbox/files', 'x', { ...world.other.mailbox.token });
    const sibling = await world.newMailbox(world.organization);
    const beside = await send('POST', '/api/mailbox/files', 'x', { ...sibling.token });
    const cases: readonly [object, string][] = [
      [{}, '/attachments/0'],
      [{ filename: 'a.txt' }, '/attachments/0'],
      [{ fileId: own, url: 'https://a.example/' }, '/attachments/0'],
      [{ fileId: newId('file') }, '/attachments/0/fileId'],
      [{ fileId: textAt(foreign.body, 'id') }, '/attachments/0/fileId'],
      [{ fileId: textAt(beside.body, 'id') }, '/attachments/0/fileId'],
      [{ messageId: newId('message'), attachmentId: '1' }, '/attachments/0/messageId'],
      [{ messageId: newId('message') }, '/attachments/0/attachmentId'],
      [{ attachmentId: '1' }, '/attachments/0/messageId'],
      [{ contentBase64: 'aGk=' }, '/attachments/0/contentType'],
      [{ contentBase64: '#', contentType: 'text/plain' }, '/attachments/0/contentBase64'],
    ];
    for (const [attachment, place] of cases) {
      const refused = await toMyself([attachment]);
      assert.deepEqual([refused.status, detailPaths(refused)], [400, [place]], refused.text);
    }
  });

  test('a URL that leads to an internal network, redirects for ever, is not https, or is too large is not fetched', async () => {
    const before = host.requests.length;
    for (const url of [
      'http://127.0.0.1/',
      'https://10.0.0.1/',
      'https://169.254.169.254/latest',
      'https://[fe80::1]/',
      'ftp://a.example/',
      'word',
    ]) {
      const refused = await toMyself([{ url }]);
      assert.deepEqual([refused.status, detailPaths(refused)], [400, ['/attachments/0/url']], url);
    }
    assert.equal(host.requests.length, before);
    const answers: readonly Parameters<Receiver['answer']>[0][] = [
      (response) => response.writeHead(302, { location: 'https://10.0.0.1/secret' }).end(),
      (response) => response.writeHead(302, { location: '/again' }).end(),
      (response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end(),
      (response) => response.writeHead(200, { 'content-length': String(2 ** 31) }).end(),
      404,
    ];
    for (const answer of answers) {
      host.answer(answer);
      const refused = await toMyself([{ url: host.url }]);
      assert.deepEqual([refused.status, detailPaths(refused)], [400, ['/attachments/0/url']]);
    }
    await world.sql(`update rate_limits set used = $1 where key like 'attachment-urls:%'`, [
      ATTACHMENT_URLS_PER_MINUTE_MAX,
    ]);
    const limited = await toMyself([{ url: host.url }]);
    assert.equal(limited.status, 429);
    assert.ok(Number(limited.headers.get('retry-after')) > 0);
  });

  test('with a client id, a message is answered again although its file is gone', async () => {
    const fileId = await uploaded(new Uint8Array([1, 2, 3]));
    const first = await toMyself([{ fileId }], { clientId: 'with-file' });
    assert.equal(first.status, 201, first.text);
    await world.call('DELETE', `/api/mailbox/files/${fileId}`, { as: mailbox.token });
    const again = await toMyself([{ fileId }], { clientId: 'with-file' });
    assert.deepEqual([again.status, at(again.body, 'id')], [200, at(first.body, 'id')]);
  });

  test('attachments that are too large together are refused before they are composed', async () => {
    const fileId = await uploaded(new Uint8Array(20_000_000));
    const refused = await toMyself([{ fileId }, { fileId }]);
    assert.equal(refused.status, 413, refused.text);
  });

  test('a file of 20 MB fits into a message', async () => {
    const bytes = Buffer.from(randomBytes(20_000_000));
    const sent = await toMyself([{ fileId: await uploaded(bytes) }]);
    assert.equal(sent.status, 201, sent.text);
    assert.equal((await attachmentsOf(textAt(sent.body, 'id')))[0]?.hash, hashOf(bytes));
  });
});
