import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { ApiError, type ClientOptions, type Fetch, MailboxClient, OrganizationClient } from '#client/index.ts';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import { openMailStore } from '#mailstore/mail-store.ts';
import { type ApiWorld, apiWorld, checkSchema, routeOf, type TestMailbox } from '#test/support/api-world.ts';
import { tcpProxy } from '#test/support/tcp-proxy.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
let ann: TestMailbox;
let ben: TestMailbox;
let notifier: ReturnType<typeof openMailNotifier> | undefined;
let store: ReturnType<typeof openMailStore> | undefined;
before(async () => {
  world = await apiWorld();
  ann = await world.newMailbox(world.organization);
  ben = await world.newMailbox(world.organization);
  // As the mail process does: makes messages searchable.
  notifier = openMailNotifier(world.services);
  store = openMailStore(world.services, notifier);
});
after(async () => {
  await store?.close();
  await notifier?.close();
  await world?.close();
});

const tokenOf = (mailbox: TestMailbox): string => (mailbox.token['authorization'] ?? '').replace('Bearer ', '');

/** The global fetch, with each answer checked against what the route of its path declares. */
const checkedFetch: Fetch = async (input, init) => {
  const response = await fetch(input, init);
  const { pathname } = new URL(input);
  const route = routeOf(init.method ?? 'GET', pathname);
  assert.ok(route, `there is a route ${init.method} ${pathname}`);
  const spec = route.responses[response.status];
  assert.ok(spec, `${route.operationId} declares ${response.status}`);
  if (spec.schema !== undefined) checkSchema(spec.schema, await response.clone().json(), route.operationId);
  return response;
};

const open = (mailbox: TestMailbox, more: Partial<ClientOptions & { readonly token: string }> = {}) =>
  new MailboxClient({ url: world.api.url, token: tokenOf(mailbox), ...more });

const errorOf = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApiError, String(error));
  return error;
};

/** Subjects in a folder. */
const subjectsIn = async (mailbox: TestMailbox, folder: string): Promise<string[]> =>
  (await open(mailbox).listMessages({ folder })).data.map(({ subject }) => subject);

describe('against the API', () => {
  test('every method uses a path of the API and returns the declared type', async () => {
    const client = open(ann, { fetch: checkedFetch });
    const other = open(ben, { fetch: checkedFetch });
    assert.equal((await client.mailbox()).address, ann.address);
    assert.equal((await client.connection()).imap.username, ann.address);
    const sent = await client.sendMessage({
      to: [ben.address],
      subject: 'Every method',
      text: 'Some words.',
      attachments: [{ filename: 'fig & ü.txt', contentType: 'text/plain', contentBase64: 'ZmlncwYH' }],
    });
    assert.ok(!sent.held);
    assert.equal((await client.messageStatus(sent.id)).status, 'sent');
    const { after } = await client.waitForMessages({ timeoutSeconds: 1, extract: 'otp,links' });
    assert.ok((await client.waitForMessages({ after, timeoutSeconds: 1 })).timedOut);
    const [received] = (await other.listMessages({ unread: true, limit: 1 })).data;
    assert.equal(received?.subject, 'Every method');
    const id = received?.id ?? '';
    assert.deepEqual(await other.getMessageExtracts(id), { otp: null, otpCandidates: [], links: [] });
    assert.deepEqual(
      (await other.getMessage(id, { extract: 'otp,links' })).extracts,
      await other.getMessageExtracts(id),
    );
    const message = await other.getMessage(id);
    assert.equal(message.extracts, undefined);
    assert.equal(message.text?.trim(), 'Some words.');
    assert.equal((await other.getMessage(id, { format: 'metadata' })).text, null);
    assert.match(new TextDecoder().decode((await other.getRawMessage(id)).bytes), /Subject: Every method/);
    const attachment = await other.getAttachment(id, message.attachments[0]?.id ?? '');
    assert.deepEqual([...attachment.bytes], [102, 105, 103, 115, 6, 7]);
    assert.equal(attachment.filename, 'fig & ü.txt');
    assert.deepEqual((await other.updateMessage(id, { seen: true, labels: ['done'] })).labels, ['done']);
    assert.equal((await other.getThread(message.threadId)).messages[0]?.id, id);
    assert.equal((await other.listThreads()).data[0]?.newestMessageId, id);
    assert.ok((await other.listFolders()).some(({ role }) => role === 'inbox'));
    for (const answer of [
      await other.reply(id, { text: 'Thanks.' }),
      await other.replyAll(id, { text: 'Thanks, all.' }),
      await other.forward(id, { to: [ann.address] }),
    ])
      assert.equal(answer.held, false);
    assert.ok(!(await client.sendMessage({ to: ben.address, subject: 'One recipient' })).held);
    await other.deleteMessage(id);
    assert.deepEqual((await other.getMessage(id)).folders, ['Trash']);
    await other.deleteMessage(id, { permanent: true });
    assert.equal((await errorOf(open(ben).getMessage(id))).code, 'not_found');
  });

  test('mail that another process stored, as REST does, is found by its words within seconds', async () => {
    await open(ann).sendMessage({ to: [ben.address], subject: 'Fruit', text: 'With the word quince.' });
    const client = open(ben, { fetch: checkedFetch });
    const hit = await waitUntil('the words', async () => (await client.searchMessages({ q: 'quince' })).data[0]);
    assert.equal(hit.subject, 'Fruit');
  });

  test('a held message is an answer, not an error; a session reads and decides the request', async () => {
    const held = await open(ann, { fetch: checkedFetch }).sendMessage({
      to: ['eve@outside.example'],
      subject: 'First',
    });
    assert.ok(held.held);
    assert.equal(held.status, 'consent_pending');
    const session = (world.organization.owner.session['authorization'] ?? '').replace('Bearer ', '');
    const { consents } = new OrganizationClient({ url: world.api.url, session, fetch: checkedFetch });
    assert.equal((await consents.list({ status: 'pending' })).data[0]?.id, held.consentId);
    assert.equal((await consents.approve(held.consentId, 'message')).status, 'approved');
    assert.equal((await consents.get(held.consentId)).decision?.scope, 'message');
    const second = await open(ann).sendMessage({ to: ['mal@outside.example'], subject: 'Second' });
    assert.ok(second.held);
    assert.equal((await consents.deny(second.consentId, 'No.')).decision?.reason, 'No.');
  });

  test('a repeated message, draft or mailbox says so; other content under its id is an error', async () => {
    const client = open(ann, { fetch: checkedFetch });
    const letter = { to: [ben.address], subject: 'Once', text: 'x', clientId: 'once' };
    const [first, again] = [await client.sendMessage(letter), await client.sendMessage(letter)];
    assert.deepEqual([first.repeated, again.repeated, again.held], [false, true, false]);
    assert.deepEqual([again.id, again.subject], [first.id, 'Once']);
    const conflict = await errorOf(open(ann).sendMessage({ ...letter, text: 'y' }));
    assert.deepEqual([conflict.code, conflict.status], ['conflict', 409]);
    const held = { ...letter, to: ['once@outside.example'], clientId: 'held-once' };
    const [waits, still] = [await client.sendMessage(held), await client.sendMessage(held)];
    assert.ok(waits.held && still.held && still.repeated);
    const consentId: string = still.consentId;
    assert.equal(consentId, waits.consentId);
    const draft = { subject: 'Mine', clientId: 'draft-once' };
    assert.deepEqual(
      [(await client.createDraft(draft)).repeated, (await client.createDraft(draft)).repeated],
      [false, true],
    );
    const key = world.organization.key['x-organization-key'] ?? '';
    const { mailboxes } = new OrganizationClient({ url: world.api.url, apiKey: key, fetch: checkedFetch });
    const wanted = { name: 'Once', clientId: 'mailbox-once' };
    const [made, there] = [await mailboxes.create(wanted), await mailboxes.create(wanted)];
    assert.deepEqual([made.repeated, there.repeated, there.token], [false, true, null]);
  });

  test('drafts, and the mail of a mailbox by a key of its organization', async () => {
    const service = new OrganizationClient({
      url: world.api.url,
      apiKey: world.organization.key['x-organization-key'] ?? '',
      fetch: checkedFetch,
    });
    const box = await service.mailboxes.create({ localPart: 'by-key' });
    const mail = service.mailbox(box.id);
    assert.equal((await mail.mailbox()).address, box.address);
    const { id } = await mail.createDraft({ to: [ann.address], subject: 'Draft' });
    assert.equal((await mail.updateDraft(id, { subject: 'Second draft' })).subject, 'Second draft');
    const [listed] = (await mail.listDrafts()).data;
    assert.deepEqual([listed?.id, (await mail.getDraft(id)).subject], [id, 'Second draft']);
    assert.equal((await mail.sendDraft(id)).held, false);
    const other = await mail.createDraft({ subject: 'Thrown away' });
    await mail.deleteDraft(other.id);
    assert.deepEqual((await mail.listDrafts()).data, []);
    assert.deepEqual((await service.mailboxes.update(box.id, { sendingMode: 'stopped' })).sendingMode, 'stopped');
    await service.mailboxes.delete(box.id);
    const unchecked = new OrganizationClient({
      url: world.api.url,
      apiKey: world.organization.key['x-organization-key'] ?? '',
    });
    const gone = await errorOf(unchecked.mailboxes.get('mbx_none'));
    assert.deepEqual([gone.status, gone.request], [404, `GET ${world.api.url}/api/mailboxes/mbx_none`]);
  });

  test('a list is one page when awaited, and all items when iterated over', async () => {
    const service = new OrganizationClient({
      url: world.api.url,
      apiKey: world.organization.key['x-organization-key'] ?? '',
      fetch: checkedFetch,
    });
    const page = await service.mailboxes.list({ limit: 1 });
    assert.equal(page.data.length, 1);
    assert.ok(page.nextCursor !== null);
    const all: string[] = [];
    for await (const { id } of service.mailboxes.list({ limit: 1 })) all.push(id);
    assert.ok(all.includes(ann.id) && all.includes(ben.id));
    assert.equal(new Set(all).size, all.length);
  });

  test('events arrive as they happen, and go on after the last one', async () => {
    const [first, stop] = [new AbortController(), new AbortController()];
    const opened = Promise.withResolvers<void>();
    const counting: Fetch = async (input, init) => {
      const response = await fetch(input, init);
      opened.resolve();
      return response;
    };
    const client = open(ben, { fetch: counting });
    const arrived = (async () => {
      for await (const event of client.events({ signal: first.signal }))
        if (event.name === 'messages_added') return event;
      return undefined;
    })();
    await opened.promise;
    await open(ann).sendMessage({ to: [ben.address], subject: 'Live one' });
    const event = await arrived;
    assert.equal(event?.data.messages[0]?.subject, 'Live one');
    // Nobody listens meanwhile.
    await open(ann).sendMessage({ to: [ben.address], subject: 'Live two' });
    for await (const later of client.events({ signal: stop.signal, lastEventId: event?.id ?? '' })) {
      if (later.name !== 'messages_added') continue;
      assert.equal(later.data.messages[0]?.subject, 'Live two');
      break;
    }
    await assert.rejects(
      open(ann, { fetch: () => Promise.resolve(new Response('', { status: 401 })) })
        .events()
        .next(),
    );
  });

  test('a refusal has code, fix, request id and the wrong fields', async () => {
    const wrong = await errorOf(open(ann).sendMessage({ to: ['nobody'], subject: 'x' }));
    assert.deepEqual([wrong.code, wrong.status], ['invalid_request', 400]);
    assert.match(wrong.fix, /Correct the fields/);
    assert.match(wrong.requestId ?? '', /^req_/);
    assert.equal(wrong.details[0]?.path, '/to/0');
    assert.match(wrong.message, /^The request does not have the expected form\. \(\/to\/0 must be one address/);
    assert.equal(wrong.sentence, 'The request does not have the expected form.');
    const many = await errorOf(open(ann).sendMessage({ to: Array.from({ length: 9 }, () => 'nobody'), subject: 'x' }));
    assert.match(many.message, /\/to\/4 [^;]+; 4 more\)$/);
    assert.equal(many.answering('GET x').message, many.message);
    const token = tokenOf(ann);
    const mistyped = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    assert.equal((await errorOf(open(ann, { token: mistyped }).mailbox())).code, 'unauthenticated');
  });
});

interface FakeServer {
  readonly url: string;
  readonly requests: readonly { readonly method: string; readonly key: string | undefined }[];
}

/** A server with one handler; `requests` is what it was asked. */
async function withServer(
  handler: (request: IncomingMessage, response: ServerResponse, count: number) => void,
  run: (server: FakeServer) => Promise<void>,
): Promise<void> {
  const requests: { method: string; key: string | undefined }[] = [];
  const server: Server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', key: request.headers['idempotency-key']?.toString() });
    request.resume();
    handler(request, response, requests.length);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    await run({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const fake = (url: string, more: Partial<ClientOptions & { readonly token: string }> = {}) =>
  new MailboxClient({ url, token: 'amt_test', ...more });

const answer = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};
const refusal = (code: string) => ({ error: { code, message: 'No.', fix: 'Wait.', requestId: 'req_x', details: [] } });
const PAGE = { data: [], nextCursor: null };

test('a stream that breaks before its first event continues after the id that it began with', async () => {
  const asked: (string | undefined)[] = [];
  await withServer(
    (request, response, count) => {
      asked.push(request.headers['last-event-id']?.toString());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (count === 1) response.end('retry: 2000\nid: 41\n: watching\n\n');
      else response.end('event: closed\ndata: {"code":"not_found","message":"Gone."}\n\n');
    },
    async ({ url }) => {
      for await (const { name } of fake(url).events()) assert.equal(name, 'closed');
      assert.deepEqual(asked, [undefined, '41']);
    },
  );
});

describe('a request that fails in transit', () => {
  test('a connection that breaks after the message was taken does not send it twice', async () => {
    let answers = 0;
    // Takes the answers of the API away from the client: the first is lost after the API has done its work.
    const lossy: Fetch = async (input, init) => {
      const response = await fetch(input, init);
      answers += 1;
      if (answers > 1) return response;
      await response.text();
      throw new TypeError('fetch failed', { cause: new Error('read ECONNRESET') });
    };
    const sent = await open(ann, { fetch: lossy }).sendMessage({ to: [ben.address], subject: 'Only once', text: '.' });
    assert.equal(answers, 2);
    assert.equal(sent.held, false);
    assert.deepEqual(
      (await subjectsIn(ben, 'INBOX')).filter((subject) => subject === 'Only once'),
      ['Only once'],
    );
    assert.deepEqual(
      (await subjectsIn(ann, 'Sent')).filter((subject) => subject === 'Only once'),
      ['Only once'],
    );
  });

  test('a call succeeds when the service is back', async () => {
    const { port } = new URL(world.api.url);
    const proxy = await tcpProxy({ host: '127.0.0.1', port: Number(port) });
    try {
      proxy.cut();
      const pending = open(ann, { url: `http://127.0.0.1:${proxy.port}` }).mailbox();
      await waitUntil('a refused connection', () => proxy.refused > 0);
      proxy.restore();
      assert.equal((await pending).address, ann.address);
    } finally {
      await proxy.close();
    }
  });

  test('all tries of a POST carry one Idempotency-Key, each call its own', async () => {
    await withServer(
      (_, response, count) =>
        count < 3 ? response.destroy() : answer(response, 202, { id: 'x', status: 'consent_pending' }),
      async ({ url, requests }) => {
        await fake(url).sendMessage({ subject: 'a' });
        await fake(url).sendMessage({ subject: 'a' });
        const [first, second, third, ofOther] = requests.map(({ key }) => key);
        assert.ok(first);
        assert.deepEqual([second, third], [first, first]);
        assert.notEqual(ofOther, first);
      },
    );
  });

  test('a first try still running at the server is waited for', async () => {
    await withServer(
      (_, response, count) =>
        count === 1
          ? answer(response, 409, refusal('idempotency_conflict'), { 'retry-after': '1' })
          : answer(response, 202, { id: 'x', status: 'consent_pending' }),
      async ({ url, requests }) => {
        assert.ok((await fake(url).sendMessage({ subject: 'a' })).held);
        assert.equal(requests.length, 2);
      },
    );
    await withServer(
      (_, response) => answer(response, 409, refusal('idempotency_conflict')),
      async ({ url, requests }) => {
        assert.equal((await errorOf(fake(url).sendMessage({ subject: 'a' }))).code, 'idempotency_conflict');
        assert.equal(requests.length, 1);
      },
    );
  });

  test('Retry-After is respected, and a wait that would be too long fails at once', async () => {
    let opensAt = 0;
    await withServer(
      (_, response) => {
        opensAt ||= performance.now() + 990;
        if (performance.now() >= opensAt) answer(response, 200, PAGE);
        else answer(response, 429, refusal('rate_limited'), { 'retry-after': '1' });
      },
      async ({ url, requests }) => {
        await fake(url).listMessages();
        assert.equal(requests.length, 2);
      },
    );
    await withServer(
      (_, response) => answer(response, 503, refusal('unavailable'), { 'retry-after': '3600' }),
      async ({ url, requests }) => {
        const error = await errorOf(fake(url).listMessages());
        assert.deepEqual([error.code, error.retryAfterSeconds, requests.length], ['unavailable', 3_600, 1]);
      },
    );
  });

  test('tries are bounded, and other refusals are not tried again', async () => {
    await withServer(
      (_, response) => answer(response, 503, refusal('unavailable')),
      async ({ url, requests }) => {
        assert.equal((await errorOf(fake(url, { attempts: 3 }).listMessages())).code, 'unavailable');
        assert.equal(requests.length, 3);
      },
    );
    await withServer(
      (_, response) => answer(response, 404, refusal('not_found')),
      async ({ url, requests }) => {
        await errorOf(fake(url).listMessages());
        assert.equal(requests.length, 1);
      },
    );
  });

  test('a wait from now on is not repeated, because it would miss mail in between', async () => {
    await withServer(
      (_, response) => response.destroy(),
      async ({ url, requests }) => {
        await errorOf(fake(url).waitForMessages());
        assert.equal(requests.length, 1);
        await errorOf(fake(url).waitForMessages({ after: 'place' }));
        assert.ok(requests.length > 2);
      },
    );
  });

  test('a deletion of unknown outcome is not repeated, since the second one would remove the message for good', async () => {
    await withServer(
      (_, response) => response.destroy(),
      async ({ url, requests }) => {
        assert.equal((await errorOf(fake(url).deleteMessage('msg_x'))).code, 'unreachable');
        assert.equal(requests.length, 1);
      },
    );
  });

  test('no answer, no service, an aborted call, a page of a proxy and a redirect are distinguished', async () => {
    await withServer(
      (request, response) => {
        if (request.url?.endsWith('/threads') === true)
          response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
        else if (request.url?.endsWith('/folders') === true) response.writeHead(502).end('<html>Bad gateway</html>');
        // Everything else is never answered.
      },
      async ({ url }) => {
        const late = await errorOf(fake(url, { timeoutMs: 50, attempts: 1 }).mailbox());
        assert.equal(late.code, 'timeout');
        const controller = new AbortController();
        const broken = errorOf(fake(url).mailbox({ signal: controller.signal }));
        controller.abort();
        assert.equal((await broken).code, 'aborted');
        const page = await errorOf(fake(url).listFolders());
        assert.deepEqual([page.code, page.status], ['unexpected_answer', 502]);
        assert.equal((await errorOf(fake(url, { attempts: 1 }).listThreads())).code, 'unreachable');
      },
    );
    const gone = await errorOf(fake('http://127.0.0.1:1', { attempts: 1 }).mailbox());
    assert.equal(gone.code, 'unreachable');
    assert.match(gone.message, /127\.0\.0\.1:1: .+/);
    assert.throws(
      () => fake('mail.example'),
      (error: unknown) => error instanceof ApiError && error.code === 'invalid_url',
    );
  });

  test('a token or password that cannot be sent is refused without being repeated in the error', () => {
    for (const [code, make] of [
      ['invalid_credential', () => fake('http://127.0.0.1:1', { token: 'amt_first\namt_second' })],
      ['invalid_credential', () => fake('http://127.0.0.1:1', { token: 'amt_first…' })],
      ['invalid_url', () => fake('http://ann:amt_first@127.0.0.1:1')],
    ] as const)
      assert.throws(make, (error: unknown) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.code, code);
        assert.doesNotMatch(`${error.message} ${error.fix}`, /first/);
        return true;
      });
  });

  test('white space around a token is not sent', async () => {
    const token = ` ${tokenOf(ann)}\n`;
    assert.equal((await open(ann, { token }).mailbox()).address, ann.address);
  });
});
