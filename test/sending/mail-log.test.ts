/** The mail log: a line for each mail and each failed login, found by `mail find`, never with content. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import { findMail } from '#administration/mail/find-mail.ts';
import { MAIL_LINE_FIELDS, type MailLine } from '#core/platform/mail-log/mail-line.ts';
import { openMailLog } from '#core/platform/mail-log/mail-log.ts';
import { newId } from '#core/platform/new-id.ts';
import { newCredential } from '#core/platform/secrets/credentials.ts';
import { LOGGED_RECIPIENTS_MAX, REFUSALS_PER_SOURCE_MAX, REFUSALS_PER_WINDOW_MAX } from '#domain/mail/mail-log.ts';
import { openSendingWorld, passwordOf, type SendingWorld } from '#test/sending/sending-world.ts';
import { asBearer, TEST_PASSWORD, type TestMailbox } from '#test/support/api-world.ts';
import { LineClient } from '#test/support/line-client.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { captureLogs, openTestServices } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { openSubmissionClient } from '#test/support/submission-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const lines = captureLogs();
const policy = 'v=DMARC1; p=reject';
const dns = dnsStub({ '_dmarc.example.com': policy, '_dmarc.silent.example': policy });
const documentFile = fileURLToPath(new URL('../../docs/operations/mail-log.md', import.meta.url));
/** In subject and body of every message here. */
const [SUBJECT, BODY] = ['plantedsubject', 'plantedbody'];
const planted = () => letter(SUBJECT, '', `${BODY}\n`).replace('bob@example.com', 'bob@example.net');
const PATIENCE_MS = 30_000;

type Written = MailLine & { readonly msg?: string };
const written = (): Written[] =>
  lines.map((line): Written => JSON.parse(line)).filter(({ mail, msg }) => msg === 'mail' && mail !== undefined);
const has = (line: Written, fields: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(fields).every(([name, value]) => {
    const own: unknown = Reflect.get(line, name);
    return value instanceof RegExp ? value.test(String(own)) : JSON.stringify(own) === JSON.stringify(value);
  });

describe('the mail log', () => {
  let world: SendingWorld;
  let ann: TestMailbox;
  before(async () => {
    world = await openSendingWorld({
      mail: {
        lookup: async (name, type) => {
          if (name === 'silent.example') throw Object.assign(new Error('no answer'), { code: 'ETIMEOUT' });
          return dns(name, type);
        },
        clients: { failureDelayMs: () => 1 },
      },
    });
    ann = world.api.organization.mailbox;
  });
  after(() => world?.close());

  const db = () => world.api.services.db;
  const find = (what: string) => findMail(db(), what, { since: new Date(0), until: new Date(Date.now() + 60_000) });
  async function send(to: readonly string[], from = 'bob@example.net', message = planted()): Promise<string> {
    const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
    try {
      return await client.send(from, to, message);
    } finally {
      client.close();
    }
  }
  /** The line is written, and its refusal is found by each of the keys. */
  async function leaves(fields: Readonly<Record<string, unknown>>, ...keys: string[]): Promise<Written> {
    const line = await waitUntil(
      `a line with ${JSON.stringify(fields)}`,
      () => written().find((each) => has(each, fields)),
      PATIENCE_MS,
    );
    for (const key of keys)
      await waitUntil(
        `a refusal found by ${key}`,
        async () =>
          (await find(key)).steps.some(
            ({ step, details }) => step === 'refusal' && has({ ...line, ...details }, fields),
          ),
        PATIENCE_MS,
      );
    return line;
  }

  test('a refused RCPT', async () => {
    assert.match(await send(['nobody@agents.test'], 'rcpt@example.net'), /^550 5\.1\.1/);
    const line = await leaves(
      { mail: 'in', outcome: 'refused', step: 'RCPT', to: ['nobody@agents.test'], from: 'rcpt@example.net' },
      'nobody@agents.test',
      'RCPT@example.net',
    );
    assert.match(String(line.reply), /^550 5\.1\.1 /);
    assert.deepEqual([line.client, line['helo'], line['tls']], ['127.0.0.1', 'client.test', 'none']);
    assert.ok(line.session);
  });

  test('a message that DMARC refuses, with its verdicts, by its Message-ID too', async () => {
    const strict = await world.api.newMailbox(world.api.organization);
    await db().query(`update mailboxes set unauthenticated_mail = 'reject' where id = $1`, [strict.id]);
    const message = planted().replace('bob@example.net', 'ceo@example.com');
    const reply = await send([strict.address], 'spoof@example.net', message);
    assert.match(reply, /^550 5\.7\.26/);
    const [, id = ''] = /^Message-ID: (.*)$/m.exec(message) ?? [];
    const line = await leaves(
      { step: 'DATA', outcome: 'refused', dmarc: 'fail', to: [strict.address] },
      strict.address,
      id,
    );
    assert.ok(Number(line['size']) > 100);
    const [row] = await db().query<{ organization: string }>(
      `select organization_id as organization from mail_refusal where keys @> array[$1]`,
      ['spoof@example.net'],
    );
    assert.equal(row?.organization, world.api.organization.id);
  });

  test('a message that is deferred, because DNS does not answer', async () => {
    const message = planted().replace('bob@example.net', 'ceo@silent.example');
    assert.match(await send([ann.address], 'ceo@silent.example', message), /^451 4\.7\.24/);
    const [, id = ''] = /^Message-ID: (.*)$/m.exec(message) ?? [];
    await leaves({ step: 'DATA', outcome: 'deferred', messageId: id, spf: 'temperror' }, 'ceo@silent.example', id);
  });

  test('a full mailbox, and one that takes no mail yet', async () => {
    const full = await world.api.newMailbox(world.api.organization);
    await db().query('update mailbox_counter set quota_bytes = 1 where mailbox_id = $1', [full.id]);
    assert.match(await send([full.address]), /^452 4\.2\.2/);
    await leaves({ outcome: 'deferred', step: 'DATA', to: [full.address], reply: /^452 4\.2\.2/ }, full.address);
    const pending = await world.api.newMailbox(world.api.organization);
    await db().query(`update mailboxes set status = 'pending' where id = $1`, [pending.id]);
    assert.match(await send([pending.address]), /^450 4\.2\.1/);
    await leaves({ outcome: 'deferred', step: 'RCPT', to: [pending.address] }, pending.address);
  });

  test('what the listener refuses before any check: size, and talking before the greeting', async () => {
    const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
    await client.command('EHLO client.test');
    assert.match(await client.command('MAIL FROM:<big@example.net> SIZE=999999999'), /^552 /);
    client.close();
    await leaves({ step: 'MAIL', outcome: 'refused', from: 'big@example.net' }, 'big@example.net');
    const robot = await LineClient.open(world.mail.smtp.port, { localAddress: '127.0.1.90' });
    robot.send('EHLO robot.test\r\n');
    await leaves({ step: 'greeting', client: '127.0.1.90', outcome: 'deferred' }, '127.0.1.90');
    robot.socket.destroy();
  });

  test('mail that is accepted', async () => {
    const client = await SmtpClient.open(world.mail.smtp.host, world.mail.smtp.port);
    const reply = await client.send('fine@example.net', [ann.address], planted());
    client.close();
    const id = /msg_\w+/.exec(reply)?.[0] ?? assert.fail(reply);
    const line = await leaves({ mail: 'in', outcome: 'accepted', messages: [id] });
    assert.deepEqual([line.from, line.to, line['recipients']], ['fine@example.net', [ann.address], 1]);
    assert.deepEqual(
      (await find('fine@example.net')).steps.map(({ step, id: of }) => [step, of]),
      [['received', id]],
    );
  });

  test('mail that is sent: submitted, delivered here, each attempt', async () => {
    const to = ['partner@outside.example', world.api.organization.mailbox.address];
    const sender = await world.api.newMailbox(world.api.organization);
    world.peer.faults = [{ at: 'rcpt', reply: 451, words: 'greylisted', times: 1 }];
    const sent = await world.send('REST', sender, { to, subject: SUBJECT, text: BODY });
    const approved = await world.api.call('POST', `/api/consents/${sent.consentId}/approve`, {
      as: world.api.organization.owner.session,
      body: { scope: 'message' },
    });
    assert.equal(approved.status, 200, approved.text);
    await world.reaches(sender, sent.id, 'sent');
    const submitted = await leaves({ mail: 'submission', outcome: 'held', messages: [sent.id] });
    assert.match(submitted.request ?? '', /^req_/);
    await leaves({ mail: 'local', outcome: 'delivered', messages: [sent.id] });
    await leaves({ mail: 'out', outcome: 'deferred', messages: [sent.id], attempt: 1, reply: /greylisted/ });
    await leaves({ mail: 'out', outcome: 'sent', messages: [sent.id], attempt: 2 });
    const steps = (await find('partner@outside.example')).steps.map(({ step, outcome }) => `${step} ${outcome}`);
    for (const each of ['submitted done', 'attempt deferred', 'attempt sent', 'recipient sent'])
      assert.ok(steps.includes(each), `${each} is not in ${steps.join(', ')}`);
    await world.send('SMTP', sender, { to: [ann.address], subject: SUBJECT, text: BODY });
    assert.match(
      (await leaves({ mail: 'submission', listener: 'submission', from: sender.address }))['tls'] as string,
      /^TLS/,
    );
  });

  test('submissions that are refused, by REST and SMTP', async () => {
    const sender = await world.api.newMailbox(world.api.organization);
    await db().query(`update mailboxes set sending_mode = 'stopped' where id = $1`, [sender.id]);
    for (const entry of ['REST', 'SMTP'] as const) {
      const to = `refused-by-${entry.toLowerCase()}@outside.example`;
      assert.equal((await world.send(entry, sender, { to: [to], subject: SUBJECT, text: BODY })).kind, 'refused');
      await leaves(
        { mail: 'submission', listener: entry === 'REST' ? 'api' : 'submission', to: [to] },
        to,
        sender.address,
      );
    }
  });

  test('failed logins of every protocol and of the sign-in page, with the account that was asked for', async () => {
    const token = newCredential('mailboxToken');
    const imap = await LineClient.open(world.mail.imap.port, { secure: true });
    await imap.line();
    assert.match((await imap.command(`a LOGIN imap-guess@agents.test "${token}"`)) ?? '', /^a NO/);
    const pop3 = await LineClient.open(world.mail.pop3.port, { secure: true });
    await pop3.line();
    await pop3.command('USER pop3-guess@agents.test');
    assert.match((await pop3.command(`PASS ${token}`)) ?? '', /^-ERR/);
    const smtp = await openSubmissionClient(world.mail.submissionStarttls);
    const plain = Buffer.from(`\0smtp-guess@agents.test\0${token}`).toString('base64');
    assert.match(await smtp.command(`AUTH PLAIN ${plain}`), /^535/);
    await smtp.command('AUTH LOGIN');
    await smtp.command(Buffer.from('smtp-guess@agents.test').toString('base64'));
    assert.match(await smtp.command(Buffer.from(token).toString('base64')), /^535/);
    for (const client of [imap.socket, pop3.socket, smtp.socket]) client.destroy();
    await world.api.call('GET', `/api/mailboxes/${ann.id}`, { as: asBearer(token) });
    await world.api.call('POST', '/api/sessions', {
      body: { email: 'web-guess@example.org', password: 'wrong guess here' },
    });
    for (const [listener, account] of [
      ['imap', 'imap-guess@agents.test'],
      ['pop3', 'pop3-guess@agents.test'],
      ['submission', 'smtp-guess@agents.test'],
      ['api', ann.id],
      ['sign-in', 'web-guess@example.org'],
    ] as const) {
      const line = await leaves({ mail: 'login', outcome: 'refused', listener, account }, account);
      if (listener !== 'api' && listener !== 'sign-in')
        await leaves({ mail: 'login', account }, line.session ?? assert.fail(`no session of ${listener}`));
    }
    const all = lines.join('');
    for (const secret of [
      token,
      plain,
      Buffer.from(token).toString('base64'),
      'wrong guess here',
      TEST_PASSWORD,
      passwordOf(ann),
    ])
      assert.ok(!all.includes(secret), 'a credential is in the log');
  });

  test('lines of one session have one id, and a request has the one that its client got', async () => {
    const all = (): Record<string, unknown>[] => lines.map((line) => JSON.parse(line));
    const sender = await world.api.newMailbox(world.api.organization);
    const since = lines.length;
    await world.send('SMTP', sender, { to: [ann.address], subject: SUBJECT, text: BODY });
    const login = all().find(
      ({ msg, mailbox }, i) => i >= since && msg === 'submission login' && mailbox === sender.id,
    );
    assert.ok(login?.['session']);
    await leaves({ mail: 'submission', listener: 'submission', session: login['session'], from: sender.address });
    const answer = await world.api.call('GET', '/api/mailboxes/mbx_none', { as: world.api.organization.key });
    const requestId = answer.headers.get('x-request-id') ?? '';
    assert.ok(requestId !== '' && answer.text.includes(requestId));
    const line = await waitUntil('the line of the request', () =>
      all().find((each) => each['msg'] === 'request' && each['requestId'] === requestId),
    );
    assert.deepEqual(
      [line['level'], line['method'], line['operation'], line['status']],
      [30, 'GET', 'getMailbox', answer.status],
    );
  });

  test('`mail find` shows them, as text and as JSON', async () => {
    const { DATABASE_URL = '' } = world.api.services.settings;
    const environment = { DATABASE_URL, DATA_DIR: world.api.services.settings.DATA_DIR };
    const shown = await runAdmin(['mail', 'find', 'rcpt@example.net'], { environment });
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /refusal {2}refused {2}rcpt@example\.net → nobody@agents\.test.*reply=550 5\.1\.1/);
    const json = await runAdmin(['mail', 'find', 'fine@example.net', '--json'], { environment });
    assert.equal(JSON.parse(json.stdout).steps[0].step, 'received');
    const none = await runAdmin(['mail', 'find', 'fine@example.net', '--until', '2020-01-01'], { environment });
    assert.equal(none.stdout.trim(), 'No mail was found.');
    assert.equal((await runAdmin(['mail', 'find', 'x', '--since', 'yesterday'], { environment })).code, 2);
  });

  test('`mail queue` lists what waits, without content', async () => {
    const sender = await world.api.newMailbox(world.api.organization);
    const held = await world.send('REST', sender, { to: ['waits@queue.example'], subject: SUBJECT, text: BODY });
    assert.equal(held.kind, 'held', held.words);
    const { DATABASE_URL = '', DATA_DIR } = world.api.services.settings;
    const queue = (...args: string[]) =>
      runAdmin(['mail', 'queue', ...args], { environment: { DATABASE_URL, DATA_DIR } });
    const found = JSON.parse((await queue('--to', 'Queue.example', '--json')).stdout);
    assert.deepEqual([found.count, found.messages[0].id, found.messages[0].state], [1, held.id, 'held']);
    const { code, stdout, stderr } = await queue('--to', 'waits@queue.example');
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`^${held.id}  held .*\\n  waits@queue\\.example`));
    assert.ok(!stdout.includes(SUBJECT));
    assert.equal((await queue('--to', 'none.example')).stdout.trim(), 'No outgoing mail waits.');
  });

  test('no content, and no field without a sentence in the document', async () => {
    await send(['nobody@agents.test'], 'nodemailer@example.net');
    const transport = createTransport({
      host: world.mail.smtp.host,
      port: world.mail.smtp.port,
      secure: false,
      ignoreTLS: true,
    });
    await assert.rejects(
      transport.sendMail({ from: 'nm@example.net', to: 'unknown@agents.test', subject: SUBJECT, text: BODY }),
    );
    transport.close();
    await leaves({ step: 'RCPT', from: 'nm@example.net' }, 'nm@example.net');
    const all = lines.join('');
    for (const word of [SUBJECT, BODY]) assert.ok(!all.includes(word), `${word} is in the log`);
    const stored = JSON.stringify(await db().query('select keys, line from mail_refusal'));
    for (const word of [SUBJECT, BODY]) assert.ok(!stored.includes(word), `${word} is stored`);
    const document = readFileSync(documentFile, 'utf8');
    const fields = new Set(written().flatMap((line) => Object.keys(line)));
    for (const name of ['level', 'time', 'msg']) fields.delete(name);
    assert.ok(fields.size > 15, [...fields].join());
    for (const name of [...fields, ...Object.keys(MAIL_LINE_FIELDS)])
      assert.ok(document.includes(`| \`${name}\` |`), `${name} is not in docs/operations/mail-log.md`);
  });
});

test('a flood from one source costs few lines and rows, and hides no other source', async () => {
  const services = await openTestServices();
  const before = lines.length;
  const log = openMailLog(services.log, services.db, services.now);
  const refusal = (client: string, from: string): MailLine => ({
    mail: 'in',
    outcome: 'refused',
    client,
    from,
    to: Array.from({ length: 50 }, (_, i) => `r${i}@agents.test`),
  });
  const flood = 1_000;
  for (let i = 0; i < flood; i++) log.refused(refusal('192.0.2.1', `a${i}@flood.test`));
  log.refused(refusal('192.0.2.2', 'honest@example.net\u0000\r\nInjected: x'));
  // Nor does it hide failed logins, of the same source too. A token that was typed as the name is not written.
  const token = newCredential('mailboxToken');
  for (const account of [token, token.toLowerCase()])
    log.refused({ mail: 'login', outcome: 'refused', listener: 'imap', client: '192.0.2.1', account });
  await log.close();
  const own = lines.slice(before).map((line): Written => JSON.parse(line));
  assert.equal(own.length, REFUSALS_PER_SOURCE_MAX + 4);
  assert.deepEqual(
    own.filter(({ mail }) => mail === 'login').map(({ account }) => account),
    ['amt_[hidden]', 'amt_[hidden]'],
  );
  assert.equal(own.find((line) => line['more'] !== undefined)?.['more'], flood - REFUSALS_PER_SOURCE_MAX);
  assert.equal(own.at(0)?.to?.length, LOGGED_RECIPIENTS_MAX);
  assert.equal(own.at(0)?.['recipients'], 50);
  const [rows] = await services.db.query<{ count: number }>('select count(*)::int as count from mail_refusal');
  assert.equal(rows?.count, REFUSALS_PER_SOURCE_MAX + 3);
  const stored = await services.db.query('select 1 from mail_refusal where mail_refusal::text ilike $1', [
    `%${token}%`,
  ]);
  assert.equal(stored.length, 0);
  assert.ok(own.some(({ from }) => from === 'honest@example.net Injected: x'));
  // Many sources at once.
  const many = openMailLog(services.log, services.db, services.now);
  for (let i = 0; i < REFUSALS_PER_WINDOW_MAX * 2; i++)
    many.refused(refusal(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 'x@flood.test'));
  await many.close();
  assert.equal(lines.slice(before).length, REFUSALS_PER_SOURCE_MAX + 4 + REFUSALS_PER_WINDOW_MAX + 1);
  await services.close();
});

test('refusals that wait for the database, and those of a day, are bounded, and each has its line', async () => {
  const services = await openTestServices();
  const refusal = (i: number): MailLine => ({
    mail: 'in',
    outcome: 'refused',
    client: `10.9.0.${i}`,
    from: 'x@flood.test',
  });
  const warnings = (from: number) =>
    lines.slice(from).flatMap((line) => {
      const { msg, reason } = JSON.parse(line) as Written & { readonly reason?: string };
      return msg?.startsWith('refusals are not stored') ? [reason] : [];
    });
  const rowsNow = async () => (await services.db.query('select 1 from mail_refusal')).length;
  // The database hangs.
  let begun = 0;
  const answered = Promise.withResolvers<[]>();
  const hanging = { ...services.db, query: () => (begun++, answered.promise) };
  const first = lines.length;
  const slow = openMailLog(services.log, hanging, services.now, {
    waiting: 3,
    perDay: 100,
  });
  for (let i = 1; i <= 10; i++) slow.refused(refusal(i));
  assert.equal(lines.slice(first).filter((line) => line.includes('x@flood.test')).length, 10);
  assert.deepEqual(warnings(first), ['3 wait for the database']);
  answered.resolve([]);
  await slow.close();
  assert.ok(begun > 0);

  let nowMs = Date.parse('2026-11-26T23:00:00Z');
  const second = lines.length;
  const daily = openMailLog(services.log, services.db, () => nowMs, { waiting: 100, perDay: 4 });
  for (let i = 1; i <= 10; i++) daily.refused(refusal(i));
  await daily.close();
  assert.equal(await rowsNow(), 4);
  assert.deepEqual(warnings(second), ['4 were stored today']);
  nowMs += 2 * 3_600_000;
  daily.refused(refusal(11));
  await daily.close();
  assert.equal(await rowsNow(), 5);
  await services.close();
});

test('a refusal for several organizations is a row for each, with its own recipients', async () => {
  const services = await openTestServices();
  const addresses = ['one@agents.test', 'two@agents.test'];
  for (const address of addresses) {
    const organizationId = newId('organization');
    await services.db.query(`insert into organizations (id, name, slug, plan) values ($1, 'O', $1, 'unlimited')`, [
      organizationId,
    ]);
    await services.db.query(
      `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash)
       values ($1, $2, 'x', 'agents.test', $3, 'x', 'active', 'synced', sha256($3::text::bytea))`,
      [newId('mailbox'), organizationId, address],
    );
  }
  services.mailLog.refused({
    mail: 'in',
    outcome: 'refused',
    to: ['One+tag@agents.test', 'two@agents.test', 'no@agents.test'],
  });
  const stored = await waitUntil('three rows', async () => {
    const rows = await services.db.query<{ organization: string | null; to: string[] }>(
      `select organization_id as organization, array(select jsonb_array_elements_text(line -> 'to')) as to from mail_refusal`,
    );
    return rows.length === 3 && rows;
  });
  assert.equal(stored.find(({ to }) => to.includes('no@agents.test'))?.organization, null);
  assert.equal(new Set(stored.map(({ organization }) => organization)).size, 3);
  for (const { to } of stored) assert.equal(to.length, 1);
  await services.close();
});
