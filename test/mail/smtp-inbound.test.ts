import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createTransport } from 'nodemailer';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { readBlob } from '#mailstore/blobs/blob-store.ts';
import { letter, type MailWorld, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { needs } from '#test/support/programs.ts';
import { testTls } from '#test/support/services.ts';
import { type SmtpClient } from '#test/support/smtp-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const run = promisify(execFile);

describe('inbound SMTP', () => {
  let world: MailWorld;
  let ann: TestMailbox;
  let ben: TestMailbox;
  before(async () => {
    world = await openMailWorld();
    [ann, ben] = await Promise.all([world.createMailbox('ann'), world.createMailbox('ben')]);
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });

  const rows = <Row extends object>(text: string, values: readonly unknown[] = []) =>
    world.services.db.query<Row>(text, values);
  const events = async (messageId: string) =>
    (
      await rows<{ payload: string }>(`select payload from events where payload::jsonb #>> '{data,messageId}' = $1`, [
        messageId,
      ])
    ).map(({ payload }) => JSON.parse(payload));
  const idOf = (reply: string): string => /msg_\w+/.exec(reply)?.[0] ?? assert.fail(`no id in ${reply}`);
  async function rawOf(messageId: string): Promise<Buffer> {
    const [row] = await rows<{ blob: Buffer; size: number }>(`select blob, size from message where id = $1`, [
      messageId,
    ]);
    assert.ok(row);
    return readBlob(world.services.db, row.blob, 0, row.size);
  }

  it('announces what it implements, and nothing else', async () => {
    const client = await world.connect();
    const reply = await client.command('EHLO client.test');
    assert.deepEqual(
      reply
        .split('\n')
        .slice(1)
        .map((line) => line.slice(4))
        .sort(),
      ['8BITMIME', 'ENHANCEDSTATUSCODES', 'PIPELINING', `SIZE ${MESSAGE_MAX_BYTES}`, 'SMTPUTF8', 'STARTTLS'],
    );
    assert.match(await client.command('AUTH PLAIN AGEAYg=='), /^50[02] /);
    client.close();
  });

  it('takes mail from swaks over STARTTLS', needs('swaks'), async () => {
    const { stdout } = await run('swaks', [
      ...['--server', `${world.mail.smtp.host}:${world.mail.smtp.port}`, '--tls', '--to', ann.address],
      ...['--from', 'swaks@example.com', '--header', 'Subject: by swaks', '--body', 'body of swaks'],
    ]);
    const id = idOf(/250 2\.6\.0 Accepted (msg_\w+)/.exec(stdout)?.[0] ?? assert.fail(stdout));
    const raw = (await rawOf(id)).toString();
    assert.match(
      raw,
      /^Return-Path: <swaks@example\.com>\r\nReceived: from \S+ \(\[127\.0\.0\.1\]\)\r\n by mail\.test with ESMTPS id \w+;/,
    );
    assert.match(raw, /\r\nAuthentication-Results: mail\.test;\r\n/);
    assert.ok(
      !/^Received:[^]*?ann@agents\.test[^]*?\r\n\S/m.exec(raw.slice(0, raw.indexOf('Date:'))),
      'no recipient in Received',
    );
  });

  it('takes mail from nodemailer, with attachment and event as specified', async () => {
    const transport = createTransport({
      host: 'localhost',
      port: world.mail.smtp.port,
      tls: { ca: readFileSync(testTls().caFile) },
      requireTLS: true,
    });
    const sent = await transport.sendMail({
      from: '"Ann Ö" <sender@example.com>',
      to: [ann.address, 'Somebody <else@example.com>'],
      cc: 'copy@example.com',
      subject: 'Grüße',
      text: 'Hello from nodemailer',
      attachments: [{ filename: 'a.txt', content: 'attached' }],
      envelope: { from: 'sender@example.com', to: [ann.address] },
    });
    transport.close();
    const id = idOf(sent.response);
    const [event, ...more] = await events(id);
    assert.equal(more.length, 0);
    assert.equal(event.type, 'email_received');
    assert.deepEqual(event.actor, {
      type: 'external',
      id: null,
      name: 'Ann Ö',
      email: 'sender@example.com',
      address: 'sender@example.com',
    });
    assert.equal(event.mailbox.address, ann.address);
    const [message] = await rows<{ size: number; thread_id: string; received_at: Date }>(
      `select size, thread_id, received_at from message where id = $1`,
      [id],
    );
    assert.deepEqual(event.data, {
      messageId: id,
      threadId: message?.thread_id,
      deliveredTo: ann.address,
      from: 'Ann Ö <sender@example.com>',
      to: [ann.address, 'Somebody <else@example.com>'],
      cc: ['copy@example.com'],
      subject: 'Grüße',
      preview: 'Hello from nodemailer',
      receivedAt: message?.received_at.toISOString(),
      sizeBytes: message?.size,
      attachments: [{ id: '2', filename: 'a.txt', contentType: 'text/plain', sizeBytes: 8 }],
      labels: [],
      signals: [],
      authentication: { spf: 'none', dkim: 'none', dmarc: 'none' },
    });
  });

  it('stores every received byte: 8-bit, NUL, long lines, leading dots', async () => {
    const body = Buffer.concat([
      Buffer.from('From: a@b.c\r\nSubject: bytes\r\n\r\n..two dots\r\n.\r\n.x\r\n'),
      Buffer.from([0x00, 0xff, 0x0a, 0x0d, 0x80, 0x0d, 0x0a]),
      Buffer.from(`${'x'.repeat(5_000)}\r\n`),
    ]);
    const raw = await rawOf(idOf(await world.send(ann.address, body)));
    assert.ok(raw.subarray(raw.indexOf('From: a@b.c')).equals(body));
  });

  it('delivers to two mailboxes in one transaction, over one blob, with an event each', async () => {
    const reply = await world.send([ann.address, ben.address, `ben+again@agents.test`], letter('for two'));
    const ids = reply.match(/msg_\w+/g) ?? [];
    assert.equal(ids.length, 2);
    const stored = await rows<{ mailbox_id: string; blob: string }>(
      `select mailbox_id, encode(blob, 'hex') as blob from message where id = any($1) order by id`,
      [ids],
    );
    assert.deepEqual(new Set(stored.map((row) => row.mailbox_id)), new Set([ann.id, ben.id]));
    assert.equal(new Set(stored.map((row) => row.blob)).size, 1);
    for (const id of ids) assert.equal((await events(id)).length, 1);
  });

  it('answers a redelivery with 250, the same id and no second event', async () => {
    const message = letter('once only');
    const first = idOf(await world.send(ann.address, message));
    const again = await world.send(ann.address, `Received: from elsewhere by relay; later\n${message}`);
    assert.equal(idOf(again), first);
    assert.equal((await events(first)).length, 1);
    const other = await world.send(ann.address, message, 'another@example.com');
    assert.notEqual(idOf(other), first);
  });

  it('stores alike mail twice when it has no Message-ID', async () => {
    const message = 'From: cron@example.com\nSubject: tick\n\ntick\n';
    assert.notEqual(idOf(await world.send(ann.address, message)), idOf(await world.send(ann.address, message)));
  });

  it('delivers plus-tags to their mailbox and remembers the tag', async () => {
    const id = idOf(await world.send('Ann+News@Agents.Test', letter()));
    const [row] = await rows(`select mailbox_id, delivered_to from message where id = $1`, [id]);
    assert.deepEqual(row, { mailbox_id: ann.id, delivered_to: 'Ann+News@Agents.Test' });
  });

  it('takes the null sender', async () => {
    const id = idOf(await world.send(ann.address, letter('bounce'), ''));
    assert.match((await rawOf(id)).toString(), /^Return-Path: <>\r\n/);
  });

  it('removes Authentication-Results that claim our name, and no other', async () => {
    const id = idOf(
      await world.send(
        ann.address,
        letter(
          'forged',
          'Authentication-Results: Mail.Test;\n spf=pass\nAuthentication-Results: other.test; spf=pass\nAuthentication-Results: (x) "mail.test" 1; dkim=pass\n',
        ),
      ),
    );
    const raw = (await rawOf(id)).toString();
    assert.equal(raw.match(/Authentication-Results: mail\.test;/gi)?.length, 1);
    assert.match(raw, /Authentication-Results: other\.test; spf=pass\r\n/);
    assert.doesNotMatch(raw, /"mail\.test"/);
  });

  it('refuses what it should, each with its enhanced code', async () => {
    await world.createMailbox('pending', { status: 'pending' });
    await world.createMailbox('suspended', { status: 'suspended' });
    const client = await world.connect();
    await client.command('EHLO client.test');
    await client.command('MAIL FROM:<bob@example.com>');
    assert.match(await client.command('RCPT TO:<nobody@agents.test>'), /^550 5\.1\.1 /);
    assert.match(await client.command('RCPT TO:<postmaster@agents.test>'), /^550 5\.1\.1 /);
    assert.match(await client.command('RCPT TO:<ann@elsewhere.test>'), /^550 5\.7\.1 /);
    assert.match(await client.command('RCPT TO:<pending@agents.test>'), /^450 4\.2\.1 /);
    assert.match(await client.command('RCPT TO:<suspended@agents.test>'), /^550 5\.2\.1 /);
    assert.match(await client.command('DATA'), /^503 5\.5\.1 /);
    assert.match(await client.command(`RCPT TO:<${ann.address}>`), /^250 2\.1\.5 /);
    client.close();
  });

  it('accepts mail for a mailbox from its creation on, even if it was looked up before', async () => {
    assert.match(await world.send('soon@agents.test', letter()), /^550 5\.1\.1 /);
    await world.createMailbox('soon');
    assert.match(await world.send('soon@agents.test', letter()), /^250 /);
  });

  it('closes the line after ten unknown recipients', async () => {
    const client = await world.connect();
    await client.command('EHLO client.test');
    await client.command('MAIL FROM:<bob@example.com>');
    for (let i = 0; i < 9; i++) assert.match(await client.command(`RCPT TO:<guess${i}@agents.test>`), /^550 /);
    assert.match(await client.command('RCPT TO:<guess9@agents.test>'), /^421 4\.7\.0 /);
    assert.match(await client.command('NOOP'), /^000 /);
  });

  it('refuses a full mailbox at RCPT and records it once a minute', async () => {
    const full = await world.createMailbox('full', { quotaBytes: 3_000 });
    assert.match(await world.send(full.address, letter('fits', '', 'x'.repeat(1_500))), /^250 /);
    const client = await world.connect();
    await client.command('EHLO client.test');
    for (let i = 0; i < 3; i++) {
      assert.match(await client.command('MAIL FROM:<big@example.com> SIZE=2000'), /^250 /);
      assert.match(await client.command(`RCPT TO:<${full.address}>`), /^552 5\.2\.2 /);
      await client.command('RSET');
    }
    client.close();
    const blocked = await waitUntil('email_blocked', async () => {
      const found = await rows<{ payload: string }>(
        `select payload from events where type = 'email_blocked' and mailbox_id = $1`,
        [full.id],
      );
      return found.length > 0 && found;
    });
    assert.equal(blocked.length, 1);
    const { data } = JSON.parse(blocked[0]?.payload ?? '{}');
    assert.equal(data.direction, 'inbound');
    assert.equal(data.reason, 'quota_exceeded');
    assert.deepEqual(data.to, [full.address]);
  });

  it('answers 452 when the quota is hurt only by the message itself, and keeps nothing of it', async () => {
    const tight = await world.createMailbox('tight', { quotaBytes: 2_000 });
    const message = letter('too big', '', 'x'.repeat(3_000));
    assert.match(await world.send([ann.address, tight.address], message), /^452 4\.2\.2 /);
    const [{ n } = { n: -1 }] = await rows<{ n: number }>(
      `select count(*) as n from message where subject = 'too big'`,
    );
    assert.equal(n, 0);
    // The redelivery key was given back: alone, the other recipient gets it.
    assert.match(await world.send(ann.address, message), /^250 /);
  });

  it('refuses a declared size at MAIL, and a larger message while it streams', async () => {
    const client = await world.connect();
    await client.command('EHLO client.test');
    assert.match(await client.command(`MAIL FROM:<bob@example.com> SIZE=${MESSAGE_MAX_BYTES + 1}`), /^552 5\.3\.4 /);
    const line = `${'x'.repeat(998)}\r\n`;
    const message = Buffer.from(`Subject: huge\r\n\r\n${line.repeat(Math.ceil(MESSAGE_MAX_BYTES / line.length) + 10)}`);
    assert.match(await client.send('bob@example.com', [ann.address], message), /^552 5\.3\.4 /);
    assert.match(await client.command('NOOP'), /^250 /);
    client.close();
    assert.deepEqual(await readdir(path.join(world.services.settings.DATA_DIR, 'spool')), []);
  });

  it('receives a large message through the spool, byte for byte, and leaves no file', async () => {
    const line = `${'0123456789'.repeat(7)}\r\n`;
    const message = Buffer.from(`Subject: large\r\n\r\n${line.repeat(40_000)}`);
    const raw = await rawOf(idOf(await world.send(ann.address, message)));
    assert.ok(raw.subarray(raw.indexOf('Subject: large')).equals(message));
    assert.deepEqual(await readdir(path.join(world.services.settings.DATA_DIR, 'spool')), []);
  });

  it('leaves nothing behind when the client disconnects in the middle of a large message', async () => {
    const client = await world.connect();
    await client.command('EHLO client.test');
    await client.command('MAIL FROM:<bob@example.com>');
    await client.command(`RCPT TO:<${ann.address}>`);
    await client.command('DATA');
    client.socket.write(Buffer.alloc(600_000, 'x\r\n'));
    const spool = path.join(world.services.settings.DATA_DIR, 'spool');
    await waitUntil('a spooled file', async () => (await readdir(spool)).length === 1);
    client.socket.destroy();
    await waitUntil('an empty spool', async () => (await readdir(spool)).length === 0);
  });

  it('ends a mail loop: more than 50 Received fields', async () => {
    const hops = (count: number) => 'Received: from a by b; now\n'.repeat(count);
    assert.match(await world.send(ann.address, letter('51', hops(51))), /^554 5\.4\.6 /);
    assert.match(await world.send(ann.address, letter('50', hops(50))), /^250 /);
  });

  it('does not take commands smuggled by a bare-LF end of data', async () => {
    const client = await world.connect();
    await client.command('EHLO client.test');
    await client.command('MAIL FROM:<bob@example.com>');
    await client.command(`RCPT TO:<${ann.address}>`);
    await client.command('DATA');
    client.socket.write('Subject: smuggle\r\n\r\nbody\n.\nMAIL FROM:<evil@example.com>\r\n\r\n.\r\n');
    const raw = (await rawOf(idOf(await client.reply()))).toString();
    assert.match(raw, /body\n\.\nMAIL FROM:<evil@example\.com>\r\n/);
    client.close();
  });

  it('discards plaintext input pipelined after STARTTLS', async () => {
    const client = await world.connect();
    await client.command('EHLO client.test');
    client.socket.write('STARTTLS\r\nMAIL FROM:<evil@example.com>\r\n');
    assert.match(await client.reply(), /^220 /);
    const lost = Promise.race([
      client.reply(),
      new Promise((resolve) => client.socket.once('close', () => resolve('closed'))),
    ]);
    client.socket.write('NOOP\r\n'); // no TLS: the handshake fails, and no 250 was ever said in plain text
    assert.doesNotMatch(String(await lost), /^250/);
  });

  it('answers commands that came together in one packet (RFC 2920)', async () => {
    const client = await world.connect();
    await client.command('EHLO client.test');
    const packet = once(client.socket, 'data');
    client.socket.write(`MAIL FROM:<bob@sender.test>\r\nRCPT TO:<${ann.address}>\r\nDATA\r\n`);
    assert.match(String(await packet), /^250 .*\r\n250 .*\r\n354 .*\r\n$/);
    client.close();
  });

  it('cuts off web pages that talk SMTP', async () => {
    const client = await world.connect();
    assert.match(await client.command('GET / HTTP/1.1'), /^421 /);
  });

  it('indexes the text of messages for search, soon', async () => {
    const id = idOf(await world.send(ann.address, letter('searchable', '', 'unmistakable zebra\n')));
    const body = await waitUntil('message_text', async () => {
      const [row] = await rows<{ body: string }>(
        `select body from message_text where message_id = $1 and words @@ to_tsquery('simple', 'zebra')`,
        [id],
      );
      return row?.body;
    });
    assert.equal(body, 'unmistakable zebra\n');
  });
});

describe('connections of one source', () => {
  it('are capped, and a slot is free again when one ends', async () => {
    const world = await openMailWorld({ connectionsPerSource: 2 });
    try {
      const [first, second] = [await world.connect(), await world.connect()];
      const third = await world.connect();
      assert.match(await third.command('NOOP'), /^000 /);
      second.close();
      await waitUntil('a free slot', async () => {
        const client = await world.connect();
        const reply = await client.command('NOOP');
        client.close();
        return reply.startsWith('250');
      });
      first.close();
    } finally {
      await world.close();
    }
  });
});

describe('connections under TLS', () => {
  for (const [what, leave] of [
    ['QUIT', async (client: SmtpClient) => void (await client.command('QUIT'))],
    ['going away in the middle of a command', async (client: SmtpClient) => void client.socket.write('NOOP\r\nNO')],
    ['going away before EHLO', undefined],
  ] as const)
    it(`are no longer counted after ${what}`, async () => {
      const world = await openMailWorld({ connectionsPerSource: 2 });
      try {
        for (let count = 0; count < 8; count++)
          await waitUntil('a free slot', async () => {
            const client = await world.connect();
            try {
              if (!(await client.command('EHLO client.test')).startsWith('250')) return false;
              await client.startTls(readFileSync(testTls().caFile));
              if (leave === undefined) return true;
              assert.match(await client.command('EHLO client.test'), /^250/);
              await leave(client);
              return true;
            } finally {
              client.socket.destroy();
            }
          });
      } finally {
        await world.close();
      }
    });
});

describe('stopping', () => {
  it('lets a message in flight finish and sends idle clients away', async () => {
    const world = await openMailWorld();
    const ann = await world.createMailbox('ann');
    const [idle, busy] = [await world.connect(), await world.connect()];
    await busy.command('EHLO client.test');
    await busy.command('MAIL FROM:<bob@example.com>');
    await busy.command(`RCPT TO:<${ann.address}>`);
    await busy.command('DATA');
    busy.socket.write('Subject: slow\r\n\r\n');
    const stopped = world.mail.close();
    assert.match(await idle.reply(), /^421 4\.3\.2 /);
    assert.match(await busy.data('rest\r\n'), /^250 2\.6\.0 Accepted msg_/);
    await stopped;
    await world.services.close();
  });
});
