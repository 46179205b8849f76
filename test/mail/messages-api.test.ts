import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type MailListeners, startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld, at, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';

describe('messages over REST', () => {
  let world: ApiWorld;
  let mail: MailListeners;
  let box: TestMailbox;
  before(async () => {
    world = await apiWorld();
    mail = await startMail(world.services, {
      lookup: dnsStub({ '_dmarc.strict.example': 'v=DMARC1; p=reject', 'strict.example': 'v=spf1 -all' }),
    });
    box = world.organization.mailbox;
  });
  after(async () => {
    await mail.close();
    await world.close();
  });

  async function deliver(message: string | Buffer, to: string = box.address): Promise<string> {
    const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
    const reply = await client.send('bob@example.com', [to], message);
    client.close();
    return /msg_\w+/.exec(reply)?.[0] ?? assert.fail(reply);
  }
  const get = async (path: string) => {
    const answer = await world.call('GET', `/api/mailbox/messages${path}`, { as: box.token });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  const ids = async (query: string): Promise<unknown[]> => {
    const data = at((await get(query)).body, 'data');
    return Array.isArray(data) ? data.map((message) => at(message, 'id')) : assert.fail('no list');
  };
  const WITH_ATTACHMENT = [
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<p>Gr\u00fc\u00dfe</p><p>On Monday, Ann &lt;a@b.c&gt; wrote:</p>',
    '--b',
    'Content-Type: text/html',
    "Content-Disposition: attachment; filename*=utf-8''b%C3%B6se%22%0d%0aX:%20y.html",
    'Content-Transfer-Encoding: base64',
    '',
    'PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==',
    '--b--',
  ].join('\n');

  it('shows a message with its text, header and verdicts, always as untrusted', async () => {
    const id = await deliver(
      letter(
        '=?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
        'Reply-To: r@example.com\nReferences: <x@y>\n',
        'Yes.\n\nOn Mon, Jan 5, 2026 at 9:00 AM Ann <ann@x.y> wrote:\n> Do it?\n',
      ),
    );
    const { body } = await get(`/${id}`);
    assert.equal(at(body, 'subject'), 'Grüße');
    assert.equal(at(body, 'from'), 'Bob Builder <bob@example.com>');
    assert.equal(at(body, 'extractedText'), 'Yes.');
    assert.match(textAt(body, 'text'), /Do it\?/);
    assert.deepEqual(at(body, 'replyTo'), ['r@example.com']);
    assert.deepEqual(at(body, 'references'), ['<x@y>']);
    assert.equal(at(body, 'untrusted'), true);
    assert.equal(at(body, 'seen'), false);
    assert.equal(at(body, 'authentication', 'spf', 'result'), 'none');
    assert.deepEqual(at(body, 'folders'), ['INBOX']);
    const text = (await get(`/${id}?format=text`)).body;
    assert.equal(at(text, 'headers'), null);
    const metadata = (await get(`/${id}?format=metadata`)).body;
    assert.equal(at(metadata, 'text'), null);
  });

  it('downloads raw mail byte for byte and attachments decoded, so that no browser runs them', async () => {
    const id = await deliver(letter('attached', WITH_ATTACHMENT, ''));
    const raw = await get(`/${id}/raw`);
    assert.equal(raw.headers.get('content-type'), 'message/rfc822');
    assert.ok(raw.text.endsWith('--b--\r\n') && raw.text.startsWith('Return-Path: <bob@example.com>\r\n'));
    const { body } = await get(`/${id}`);
    assert.equal(at(body, 'html')?.toString().includes('Grüße'), true);
    assert.equal(at(body, 'attachments', 0, 'filename'), 'böse" X: y.html');
    const file = await get(`/${id}/attachments/${textAt(body, 'attachments', 0, 'id')}`);
    assert.equal(file.text, '<script>alert(1)</script>');
    for (const answer of [raw, file]) {
      assert.match(
        answer.headers.get('content-disposition') ?? '',
        /^attachment; filename="[^"\r\n]+"; filename\*=UTF-8''[^\s"]+$/,
      );
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.match(answer.headers.get('content-security-policy') ?? '', /sandbox/);
      assert.equal(answer.headers.get('x'), null);
    }
    const missing = await world.call('GET', `/api/mailbox/messages/${id}/attachments/7`, { as: box.token });
    assert.equal(missing.status, 404);
  });

  it('lists newest first, page by page, by every filter', async () => {
    const first = await deliver(letter('Invoice 1'));
    const between = new Date(Date.now() + 1).toISOString();
    await delay(5);
    const second = await deliver(letter('100%_sure', 'Cc: Carl <carl@cc.example>\n').replace('Bob Builder', 'Zoe'));
    assert.deepEqual((await ids('')).slice(0, 2), [second, first]);
    const page = (await get('?limit=1')).body;
    assert.equal(at(page, 'data', 0, 'id'), second);
    assert.equal((await ids(`?limit=1&cursor=${textAt(page, 'nextCursor')}`))[0], first);
    assert.deepEqual(await ids('?subject=invoice'), [first]);
    assert.deepEqual(await ids('?subject=%25_'), [second]);
    assert.deepEqual(await ids('?from=zoe'), [second]);
    assert.deepEqual(await ids('?to=carl@CC'), [second]);
    assert.deepEqual(await ids(`?since=${between}`), [second]);
    assert.ok(!(await ids(`?until=${between}`)).includes(second));
    assert.deepEqual(await ids('?folder=sent'), []);
    assert.ok((await ids('?folder=inbox&unread=true')).includes(first));
    assert.deepEqual(await ids('?unread=false'), []);
    assert.equal((await world.call('GET', '/api/mailbox/messages?colour=red', { as: box.token })).status, 400);
  });

  it('refuses a folder the mailbox does not have, wherever one can be named, instead of finding nothing', async () => {
    const { key } = world.organization;
    for (const [base, as] of [
      ['/api/mailbox', box.token],
      [`/api/mailboxes/${box.id}`, key],
    ] as const)
      for (const path of ['messages?', 'messages/search?q=x&', 'messages/wait?timeoutSeconds=60&']) {
        const answer = await world.call('GET', `${base}/${path}folder=No+such`, { as });
        assert.equal(answer.status, 400, answer.text);
        assert.equal(at(answer.body, 'error', 'details', 0, 'path'), 'query/folder');
        assert.match(textAt(answer.body, 'error', 'fix'), /folders/);
      }
  });

  it('files mail that fails DMARC to Junk, out of sight until asked for', async () => {
    const id = await deliver('From: ceo@strict.example\nSubject: urgent\nMessage-ID: <dmarc@strict.example>\n\npay\n');
    assert.ok(!(await ids('')).includes(id));
    assert.deepEqual(await ids('?folder=Junk'), [id]);
    assert.deepEqual(await ids('?label=Unauthenticated'), [id]);
    const { body } = await get(`/${id}`);
    assert.deepEqual(at(body, 'labels'), ['unauthenticated']);
    assert.deepEqual(at(body, 'authentication', 'dmarc'), {
      result: 'fail',
      domain: 'strict.example',
      policy: 'reject',
    });
    const [event] = await world.sql(`select payload from events where payload::jsonb #>> '{data,messageId}' = $1`, [
      id,
    ]);
    assert.match(String(event?.['payload']), /"labels":\["unauthenticated"\].*"dmarc":"fail"/);
  });

  it('refuses such mail where the mailbox says so, and files it to INBOX where it says that', async () => {
    const other = await world.newMailbox(world.organization);
    const spoofed = (n: number) =>
      `From: ceo@strict.example\nSubject: no\nMessage-ID: <dmarc${n}@strict.example>\n\npay\n`;
    const choose = async ({ id }: TestMailbox, unauthenticatedMail: string) => {
      const changed = await world.call('PATCH', `/api/mailboxes/${id}`, {
        as: world.organization.key,
        body: { unauthenticatedMail },
      });
      assert.equal(at(changed.body, 'unauthenticatedMail'), unauthenticatedMail);
    };
    await choose(other, 'reject');
    const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
    assert.match(await client.send('ceo@strict.example', [other.address], spoofed(1)), /^550 5\.7\.26 /);
    client.close();
    const third = await world.newMailbox(world.organization);
    await choose(third, 'inbox');
    const id = await deliver(spoofed(2), third.address);
    const answer = await world.call('GET', `/api/mailboxes/${third.id}/messages/${id}`, { as: world.organization.key });
    assert.deepEqual(at(answer.body, 'folders'), ['INBOX']);
  });

  it('keeps mailboxes and organizations apart on every path', async () => {
    const id = await deliver(letter('private'));
    const sibling = await world.newMailbox(world.organization);
    for (const path of ['', '/raw', '/attachments/1'])
      for (const [target, as] of [
        [`/api/mailbox/messages/${id}${path}`, sibling.token],
        [`/api/mailbox/messages/${id}${path}`, world.other.mailbox.token],
        [`/api/mailboxes/${box.id}/messages/${id}${path}`, sibling.token],
        [`/api/mailboxes/${box.id}/messages/${id}${path}`, world.other.key],
        [`/api/mailboxes/${sibling.id}/messages/${id}${path}`, world.organization.key],
      ] as const)
        assert.equal((await world.call('GET', target, { as })).status, 404, target);
    const list = await world.call('GET', `/api/mailboxes/${box.id}/messages`, { as: world.other.key });
    assert.equal(list.status, 404);
    const own = await world.call('GET', `/api/mailboxes/${box.id}/messages/${id}`, { as: world.organization.key });
    assert.equal(own.status, 200);
  });
});
