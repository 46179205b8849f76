import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { newId } from '#core/platform/new-id.ts';
import { letter, type MailWorld, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

describe('the mail store', () => {
  let world: MailWorld;
  before(async () => {
    world = await openMailWorld({ connectionsPerSource: 500 });
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });
  const rows = <Row extends object>(text: string, values: readonly unknown[] = []) =>
    world.services.db.query<Row>(text, values);

  /** Many clients, each with its own connection, sending one after another. */
  async function burst(clients: number, each: number, send: (client: number, message: number) => readonly string[]) {
    const replies = await Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        const connection = await world.connect();
        const got: string[] = [];
        for (let message = 0; message < each; message++) {
          await connection.command('RSET');
          got.push(await connection.send('bob@example.com', send(client, message), letter(`${client}/${message}`)));
        }
        connection.close();
        return got;
      }),
    );
    return replies.flat();
  }

  it('keeps UIDs, counters and log in order with 20 writers on one mailbox', async () => {
    const one = await world.createMailbox('one');
    const replies = await burst(20, 10, () => [one.address]);
    assert.ok(
      replies.every((reply) => reply.startsWith('250')),
      replies.find((reply) => !reply.startsWith('250')),
    );
    const [inbox] = await rows(
      `select total, unseen, uid_next from folder where mailbox_id = $1 and special_use = '\\Inbox'`,
      [one.id],
    );
    assert.deepEqual(inbox, { total: 200, unseen: 200, uid_next: 201 });
    // Writers shared transactions, which is what the log counts.
    const [{ n } = { n: 0 }] = await rows<{ n: number }>(`select count(*) as n from change_log where mailbox_id = $1`, [
      one.id,
    ]);
    assert.ok(n < 200, `${n} transactions for 200 messages`);
  });

  it('delivers to many mailboxes at once, crossed recipient lists included, without deadlock', async () => {
    const boxes: TestMailbox[] = [];
    for (let i = 0; i < 8; i++) boxes.push(await world.createMailbox(`many${i}`));
    const replies = await burst(16, 8, (client, message) => {
      const first = boxes[(client + message) % boxes.length];
      const second = boxes[(client * 3 + message * 5 + 1) % boxes.length];
      const list = [first, ...(message % 2 === 0 ? [second] : [])].map((box) => box?.address ?? '');
      return client % 2 === 0 ? list : list.reverse();
    });
    assert.ok(
      replies.every((reply) => reply.startsWith('250')),
      replies.find((reply) => !reply.startsWith('250')),
    );
  });

  it('fills a mailbox to its quota and no byte more, in any order', async () => {
    const tight = await world.createMailbox('tight', { quotaBytes: 12_000 });
    const replies = await burst(10, 4, () => [tight.address]);
    const accepted = replies.filter((reply) => reply.startsWith('250')).length;
    assert.ok(accepted > 5 && accepted < 40, `${accepted} accepted`);
    assert.ok(replies.every((reply) => /^(250|452 4\.2\.2|552 5\.2\.2)/.test(reply)));
    const [{ n } = { n: 0 }] = await rows<{ n: number }>(`select count(*) as n from message where mailbox_id = $1`, [
      tight.id,
    ]);
    assert.equal(n, accepted);
  });

  it('stores one of two messages that are delivered at the same time and are the same', async () => {
    const twin = await world.createMailbox('twin');
    const message = letter('twin');
    const replies = await Promise.all(Array.from({ length: 6 }, () => world.send(twin.address, message)));
    assert.equal(new Set(replies.map((reply) => /msg_\w+/.exec(reply)?.[0])).size, 1);
    const [{ n } = { n: 0 }] = await rows<{ n: number }>(`select count(*) as n from message where mailbox_id = $1`, [
      twin.id,
    ]);
    assert.equal(n, 1);
  });

  it('records deliveries of a subscribed endpoint in the same transaction', async () => {
    const heard = await world.createMailbox('heard');
    const endpoint = newId('webhookEndpoint');
    await rows(
      `insert into webhook_endpoints (id, organization_id, url, event_types, secret_sealed, secret_prefix)
       values ($1, $2, 'https://localhost/', '{email_received}', 'x', 'whsec_x')`,
      [endpoint, world.organizationId],
    );
    await world.send(heard.address, letter());
    const owed = await rows(`select status from deliveries where endpoint_id = $1`, [endpoint]);
    await rows(`delete from webhook_endpoints where id = $1`, [endpoint]);
    assert.deepEqual(owed, [{ status: 'pending' }]);
  });

  it('answers 45x while the database is unreachable, stores nothing, and continues afterwards', async () => {
    const away = await world.createMailbox('away');
    const client = await world.connect();
    await client.command('EHLO client.test');
    await client.command('MAIL FROM:<bob@example.com>');
    await client.command(`RCPT TO:<${away.address}>`);
    await client.command('DATA');
    // Connections are ended and new ones refused: like a stopped server.
    const url = new URL(world.services.settings.DATABASE_URL ?? '');
    const name = url.pathname.slice(1);
    url.pathname = '/postgres';
    const maintenance = new pg.Client({ connectionString: url.href });
    await maintenance.connect();
    const message = letter('while away');
    try {
      await maintenance.query(`alter database ${name} allow_connections false`);
      await maintenance.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [name]);
      // 452 where the connection was refused, 451 where it broke in the middle of a statement.
      assert.match(await client.data(message), /^45(2 4\.3\.1|1 4\.3\.0) /);
    } finally {
      await maintenance.query(`alter database ${name} allow_connections true`);
      await maintenance.end();
    }
    const reply = await waitUntil('the database', async () => {
      const answer = await world.send(away.address, message);
      return answer.startsWith('250') && answer;
    });
    client.close();
    const stored = await rows<{ id: string }>(`select id from message where mailbox_id = $1`, [away.id]);
    assert.deepEqual(
      stored.map(({ id }) => id),
      [/msg_\w+/.exec(reply)?.[0]],
    );
  });

  it('refuses a mailbox that was suspended a moment ago, although it is remembered', async () => {
    const gone = await world.createMailbox('gone');
    assert.match(await world.send(gone.address, letter()), /^250 /);
    await rows(`update mailboxes set status = 'suspended' where id = $1`, [gone.id]);
    assert.match(await world.send(gone.address, letter()), /^450 4\.2\.1 /);
  });
});

describe('threads', () => {
  let world: MailWorld;
  let box: TestMailbox;
  before(async () => {
    world = await openMailWorld();
    box = await world.createMailbox('box');
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });
  async function threadOf(header: string, from = 'bob@example.com'): Promise<string> {
    const reply = await world.send(box.address, `From: ${from}\nTo: box@agents.test\n${header}\n\nwords\n`);
    const [row] = await world.services.db.query<{ thread_id: string }>(`select thread_id from message where id = $1`, [
      /msg_\w+/.exec(reply)?.[0],
    ]);
    return row?.thread_id ?? assert.fail(reply);
  }

  it('follow In-Reply-To, then References from the last', async () => {
    const a = await threadOf('Message-ID: <a@x>\nSubject: one');
    const b = await threadOf('Message-ID: <b@x>\nSubject: two');
    assert.notEqual(a, b);
    assert.equal(await threadOf('Message-ID: <c@x>\nSubject: other\nIn-Reply-To: <a@x>\nReferences: <b@x>'), a);
    assert.equal(await threadOf('Message-ID: <d@x>\nSubject: other\nReferences: <a@x> <b@x>'), b);
  });

  it('are found by a message that arrives before the one it answers', async () => {
    const reply = await threadOf('Message-ID: <late2@x>\nIn-Reply-To: <late1@x>\nSubject: Re: late');
    assert.equal(await threadOf('Message-ID: <late1@x>\nSubject: late'), reply);
  });

  it('join a reply without references by subject and correspondent, and nothing else', async () => {
    const first = await threadOf('Message-ID: <s1@x>\nSubject: Weekly report');
    assert.equal(await threadOf('Message-ID: <s2@x>\nSubject: RE: [ext] weekly  Report'), first);
    assert.notEqual(await threadOf('Message-ID: <s3@x>\nSubject: Weekly report'), first);
    assert.notEqual(await threadOf('Message-ID: <s4@x>\nSubject: Re: Weekly report', 'carol@example.com'), first);
  });

  it('do not reach back beyond 30 days by subject', async () => {
    const old = await threadOf('Message-ID: <o1@x>\nSubject: Old matter');
    await world.services.db.query(`update thread_ref set seen_at = now() - interval '31 days'`);
    assert.notEqual(await threadOf('Message-ID: <o2@x>\nSubject: Re: Old matter'), old);
    assert.equal(await threadOf('Message-ID: <o3@x>\nIn-Reply-To: <o1@x>\nSubject: Re: Old matter'), old);
  });
});
