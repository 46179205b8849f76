import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import { at, textAt } from '#test/support/api-world.ts';
import { letter } from '#test/support/mail-world.ts';
import { needs } from '#test/support/programs.ts';
import { testTls } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type WholeService, wholeService } from '#test/support/whole-service.ts';
import { type ExampleProgram, startExample } from './example-program.ts';

const RECEIVERS = {
  TypeScript: [[], process.execPath, 'examples/webhook-receiver-typescript/receiver.ts'],
  Python: [['python3'], 'python3', 'examples/webhook-receiver-python/receiver.py'],
} as const;
const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const [SECRET, OTHER_SECRET] = [secretOf(7), secretOf(8)];
const SIX_MINUTES_MS = 360_000;
const BODY_MAX_BYTES = 1024 * 1024;

/** Of a request; what is missing is as the service makes it. */
interface Parts {
  readonly id?: string;
  readonly time?: Date;
  readonly secret?: string;
  readonly subject?: string;
  /** Sent in place of what was signed. */
  readonly body?: string;
  readonly signature?: string;
}

const bodyAbout = (subject: string) => JSON.stringify({ type: 'email_received', data: { subject } });

let service: WholeService;
before(async () => {
  service = await wholeService();
});
after(() => service?.close());

for (const [language, [programs, program, file]] of Object.entries(RECEIVERS)) {
  const start = (environment: Readonly<Record<string, string>>) =>
    startExample(program, [file], { PORT: '0', ...environment });

  describe(`the receiver in ${language}`, needs(...programs), () => {
    let receiver: ExampleProgram;
    let url: string;
    let agent: Agent;
    const tls = testTls();
    before(async () => {
      receiver = start({ WEBHOOK_SECRET: SECRET, TLS_CERT: tls.certFile, TLS_KEY: tls.keyFile });
      url = `https://localhost:${await receiver.wrote(/Receiving on port (\d+)/)}/`;
      agent = new Agent({ connect: { ca: readFileSync(tls.caFile) } });
    });
    after(async () => {
      await agent?.close();
      await receiver?.close();
    });

    /** A request as the service makes it, or with parts of it changed. @returns the status of the answer */
    async function send(parts: Parts = {}): Promise<number> {
      const { id = randomUUID(), time = new Date(), secret = SECRET, subject = 'Signed' } = parts;
      const body = bodyAbout(subject);
      const answer = await request(url, {
        method: 'POST',
        dispatcher: agent,
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
          'webhook-signature': parts.signature ?? new Webhook(secret).sign(id, time, body),
        },
        body: parts.body ?? body,
      });
      await answer.body.dump();
      return answer.statusCode;
    }

    test('accepts what the service sends and names the subject of a mail that arrived', async () => {
      const { key, mailbox } = service.organization;
      // The service makes the secret, the receiver its port: the endpoint gets its address last.
      const created = await service.call('POST', '/api/webhooks', {
        as: key,
        body: { url: 'https://localhost:1/', eventTypes: ['email_received'], mailboxId: mailbox.id },
      });
      assert.equal(created.status, 201, created.text);
      const endpoint = `/api/webhooks/${textAt(created.body, 'id')}`;
      const own = start({
        WEBHOOK_SECRET: textAt(created.body, 'secret'),
        TLS_CERT: tls.certFile,
        TLS_KEY: tls.keyFile,
      });
      try {
        const port = await own.wrote(/Receiving on port (\d+)/);
        const moved = await service.call('PATCH', endpoint, { as: key, body: { url: `https://localhost:${port}/` } });
        assert.equal(moved.status, 200, moved.text);
        const subject = `Über ${language}`;
        assert.match(await service.deliver(mailbox.address, letter(subject)), /^250/);
        await own.wrote(new RegExp(`email_received: ${subject}`));
        await waitUntil('the delivery to have succeeded', async () => {
          const list = await service.call('GET', `${endpoint}/deliveries`, { as: key });
          return at(list.body, 'data', 0, 'status') === 'success';
        });
      } finally {
        await service.call('DELETE', endpoint, { as: key });
        await own.close();
      }
    });

    test('handles a delivery once that is sent twice', async () => {
      const id = randomUUID();
      const subject = `Once ${id}`;
      assert.deepEqual([await send({ id, subject }), await send({ id, subject })], [204, 204]);
      const last = randomUUID();
      assert.equal(await send({ subject: last }), 204);
      await receiver.wrote(new RegExp(last));
      assert.equal(receiver.output().split(subject).length - 1, 1);
    });

    test('accepts one of two signatures, as while a secret is rotated', async () => {
      const [id, time, subject] = [randomUUID(), new Date(), 'Rotated'];
      const both = [OTHER_SECRET, SECRET].map((secret) => new Webhook(secret).sign(id, time, bodyAbout(subject)));
      assert.equal(await send({ id, time, subject, signature: both.join(' ') }), 204);
    });

    test('refuses another secret, another body, other times, and requests without a signature', async () => {
      const subject = `Refused ${randomUUID()}`;
      const wrong: readonly Parts[] = [
        { secret: OTHER_SECRET },
        { body: bodyAbout('Changed') },
        { time: new Date(Date.now() - SIX_MINUTES_MS) },
        { time: new Date(Date.now() + SIX_MINUTES_MS) },
        { signature: '' },
        { signature: 'v1,' },
      ];
      for (const parts of wrong) assert.equal(await send({ subject, ...parts }), 401, JSON.stringify(parts));
      const last = randomUUID();
      assert.equal(await send({ subject: last }), 204);
      await receiver.wrote(new RegExp(last));
      assert.doesNotMatch(receiver.output(), new RegExp(subject));
    });

    test('does not read a body without end, and goes on afterwards', async () => {
      // The answer may be lost, because the connection ends while the body is still being sent.
      const status = await send({ body: 'x'.repeat(BODY_MAX_BYTES + 1) }).catch(() => 413);
      assert.deepEqual([status, await send()], [413, 204]);
    });

    test('says what is missing', async () => {
      const without = start({});
      assert.notEqual(await without.ended, 0);
      assert.match(without.output(), /WEBHOOK_SECRET is not set/);
    });
  });
}
