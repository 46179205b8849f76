import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { fetchRemoteImage } from '#mailstore/messages/remote-image.ts';
import { remoteImagesOf } from '#mime/html-images.ts';
import { type ApiWorld, apiWorld, at, errorCode, textAt } from '#test/support/api-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testTls } from '#test/support/services.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
let world: ApiWorld;
let host: Receiver;

before(async () => {
  host = await startReceiver();
  world = await apiWorld({ WEBHOOK_ALLOW_DESTINATIONS: '127.0.0.0/8,::1/128', WEBHOOK_EXTRA_CA: testTls().caFile });
});
after(async () => {
  await world.close();
  await host.close();
});

const address = (path: string) => new URL(path, host.url).href;

/** A message in Drafts whose HTML names a picture. @returns path of the message */
async function messageWith(html: string): Promise<string> {
  const { mailbox, key } = world.organization;
  const draft = await world.call('POST', `/api/mailboxes/${mailbox.id}/drafts`, { as: key, body: { html } });
  assert.equal(draft.status, 201, draft.text);
  return `/api/mailboxes/${mailbox.id}/messages/${textAt(draft.body, 'messageId')}`;
}

const ask = (message: string, url: string, as = world.organization.member.session) =>
  world.call('GET', `${message}/remote-image?url=${encodeURIComponent(url)}`, { as });

test('a person gets a picture the message names, without cookies, as a download', async () => {
  host.answer((response) => response.writeHead(200, { 'content-type': 'image/png', 'set-cookie': 'a=b' }).end(PNG));
  const url = address('/logo.png?a=1&b=2');
  const message = await messageWith(`<p>x</p><img src="${url.replaceAll('&', '&amp;')}">`);
  const answer = await ask(message, url);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get('content-type'), 'image/png');
  assert.equal(answer.headers.get('set-cookie'), null);
  assert.match(answer.headers.get('content-security-policy') ?? '', /^sandbox/);
  assert.match(answer.headers.get('cache-control') ?? '', /^private/);
  const [request] = host.requests.slice(-1);
  assert.equal(request?.path, '/logo.png?a=1&b=2');
  assert.deepEqual(
    [request?.headers.cookie, request?.headers.referer, request?.headers.authorization],
    [undefined, undefined, undefined],
  );
});

test('only pictures of this message are fetched, and only for people of the organization', async () => {
  const before = host.requests.length;
  const url = address('/a.png');
  const message = await messageWith(`<img src="${url}"><a href="${address('/link')}">x</a>`);
  for (const other of [address('/b.png'), address('/link'), 'word', 'file:///etc/passwd', `${url}?x`])
    assert.equal((await ask(message, other)).status, 404, other);
  const { key, mailbox } = world.organization;
  assert.equal((await ask(message, url, key)).status, 403, 'an API key');
  assert.equal((await ask(message, url, mailbox.token)).status, 403, 'a mailbox token');
  assert.equal((await ask(message, url, world.other.owner.session)).status, 404, 'another organization');
  assert.equal(host.requests.length, before);
});

test('a URL that is not a picture, is too large, or leads to an internal network is not fetched', async () => {
  const url = address('/x.png');
  const message = await messageWith(`<img src="${url}">`);
  const answers: Readonly<Record<string, Parameters<Receiver['answer']>[0]>> = {
    SVG: (response) => response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg/>'),
    'HTML called a picture': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end('<script>'),
    'a picture called HTML': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PNG),
    'too large': (response) =>
      response
        .writeHead(200, { 'content-type': 'image/png' })
        .end(Buffer.concat([PNG, Buffer.alloc(6 * 1_024 * 1_024)])),
    'an error': (response) => response.writeHead(500).end(),
    'a redirect to a private address': (response) =>
      response.writeHead(302, { location: 'https://10.0.0.1/secret.png' }).end(),
    'a redirect to a file': (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    'an endless redirect': (response) => response.writeHead(302, { location: url }).end(),
  };
  for (const [what, answer] of Object.entries(answers)) {
    host.answer(answer);
    const refused = await ask(message, url);
    assert.equal(refused.status, 404, what);
    assert.equal(errorCode(refused), 'not_found');
  }
  host.answer(200);
});

test('internal addresses are refused unless allowed, also if a name resolves to one', async () => {
  const requests = host.requests.length;
  const policy = { ...destinationPolicy(world.services.settings), allowed: [] };
  const extraCa = [readFileSync(testTls().caFile, 'utf8')];
  for (const url of [
    host.url,
    host.url.replace('localhost', '127.0.0.1'),
    'http://[::1]/x.png',
    'https://169.254.169.254/x',
  ]) {
    const image = await fetchRemoteImage(url, { policy, extraCa });
    assert.equal(image.ok, false, url);
  }
  // A name that answers with a public address when it is checked and is connected to by that address only.
  const pinned = await fetchRemoteImage(`https://rebind.test:${host.port}/x.png`, {
    policy: { allowed: [], resolve: async () => [{ address: '10.1.2.3', family: 4 }] },
    extraCa,
  });
  assert.equal(pinned.ok, false);
  assert.equal(host.requests.length, requests);
});

test('a host that does not answer ends at the deadline', async () => {
  host.answer(() => {});
  const image = await fetchRemoteImage(address('/slow.png'), {
    policy: destinationPolicy(world.services.settings),
    extraCa: [readFileSync(testTls().caFile, 'utf8')],
    timeoutMs: 200,
  });
  assert.deepEqual(image, { ok: false, reason: 'no answer within the time limit' });
  host.answer(200);
});

test('the pictures that HTML names elsewhere are found as a browser finds them', () => {
  const found = remoteImagesOf(
    '<IMG SRC=http://a.example/1.png><img src=" https://b.example/2?x=1&amp;y=2 "><img src="https://c.example/3" src="https://d.example/4"><!-- <img src="https://e.example/"> --><img src="cid:x"><img data-src="https://f.example/"><a href="https://g.example/">x</a><image src="https://h.example/5">',
  );
  assert.deepEqual(
    [...found],
    ['http://a.example/1.png', 'https://b.example/2?x=1&y=2', 'https://c.example/3', 'https://h.example/5'],
  );
});

test('code and links of a message that is there are given, as wait gives them', async () => {
  const { mailbox, key } = world.organization;
  const draft = await world.call('POST', `/api/mailboxes/${mailbox.id}/drafts`, {
    as: key,
    body: { subject: 'Your code', text: 'Your verification code is 482913.\nhttps://shop.example/confirm?t=b1c2' },
  });
  const path = `messages/${textAt(draft.body, 'messageId')}/extracts`;
  for (const [url, as] of [
    [`/api/mailboxes/${mailbox.id}/${path}`, key],
    [`/api/mailbox/${path}`, mailbox.token],
  ] as const) {
    const answer = await world.call('GET', url, { as });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(at(answer.body, 'otp'), '482913');
    assert.equal(at(answer.body, 'links', 0, 'url'), 'https://shop.example/confirm?t=b1c2');
  }
});
