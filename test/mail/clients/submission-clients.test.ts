/** msmtp and swaks send by the submission listeners, as in a person's set-up. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { letter, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { needs } from '#test/support/programs.ts';
import { testTls } from '#test/support/services.ts';
import { storedMail } from '#test/support/stored-mail.ts';
import { runProgram } from './run-program.ts';

const world = await openMailWorld({ clients: { failureDelayMs: () => 10 } });
const root = mkdtempSync(path.join(tmpdir(), 'submission-clients-'));
after(async () => {
  await world.close();
  rmSync(root, { recursive: true });
});

type Listener = 'submission' | 'submissionStarttls';
const LISTENERS: readonly Listener[] = ['submission', 'submissionStarttls'];
const EX_NOPERM = 77;

async function msmtp(sender: TestMailbox, listener: Listener, to: string, message: string, token = sender.token) {
  const config = path.join(root, 'msmtprc');
  writeFileSync(
    config,
    `account default
host localhost
port ${world.mail[listener].port}
tls on
tls_starttls ${listener === 'submission' ? 'off' : 'on'}
tls_trust_file ${testTls().caFile}
auth on
user ${sender.address}
from ${sender.address}
password ${token}
`,
    { mode: 0o600 },
  );
  return runProgram('msmtp', [`--file=${config}`, to], { input: message, environment: { HOME: root } });
}

const swaks = (sender: TestMailbox, listener: Listener, to: string, ...more: string[]) =>
  runProgram('swaks', [
    ...['--server', '127.0.0.1', '--port', String(world.mail[listener].port)],
    ...[listener === 'submission' ? '--tls-on-connect' : '--tls', '--auth', 'PLAIN'],
    ...['--auth-user', sender.address, '--auth-password', sender.token, '--from', sender.address, '--to', to],
    ...more,
  ]);

const from = (sender: TestMailbox, subject: string) =>
  letter(subject).replace(/^From: .*\n/, `From: Agent <${sender.address}>\n`);

test(
  'msmtp sends by both listeners, gets errors for a wrong token and for a message too large, and what it sends to a stranger is held',
  needs('msmtp'),
  async () => {
    const [sender, receiver] = [await world.createMailbox('msmtp'), await world.createMailbox('msmtp-to')];
    for (const listener of LISTENERS) {
      const { code, stderr } = await msmtp(sender, listener, receiver.address, from(sender, `by msmtp, ${listener}`));
      assert.equal(code, 0, stderr);
      const wrong = await msmtp(sender, listener, receiver.address, from(sender, 'refused'), receiver.token);
      assert.equal(wrong.code, EX_NOPERM, wrong.stderr);
      assert.match(wrong.stderr, /535 5\.7\.8/);
    }
    for (const listener of LISTENERS) {
      const held = await msmtp(sender, listener, 'stranger@example.org', from(sender, 'held'));
      assert.equal(held.code, 0, held.stderr);
    }
    const [waiting] = await world.services.db.query<{ n: number }>(
      `select count(*)::int as n from consent where mailbox_id = $1 and status = 'pending'`,
      [sender.id],
    );
    assert.equal(waiting?.n, LISTENERS.length);
    const large = `${from(sender, 'too large')}${`${'x'.repeat(76)}\n`.repeat(Math.ceil(MESSAGE_MAX_BYTES / 77))}`;
    for (const listener of LISTENERS) {
      const refused = await msmtp(sender, listener, receiver.address, large);
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, /552 5\.3\.4/);
    }
    const subjects = (await storedMail(world, receiver)).map(
      (mail) => /^Subject: (.*?)\r?$/m.exec(mail.toString())?.[1] ?? '',
    );
    assert.deepEqual(
      subjects,
      LISTENERS.map((listener) => `by msmtp, ${listener}`),
    );
    assert.deepEqual(await world.faults(), []);
  },
);

test(
  'swaks sends by both listeners, and gets errors for a wrong token and for a message too large, and the id of what is held',
  needs('swaks'),
  async () => {
    const [sender, receiver] = [await world.createMailbox('swaks'), await world.createMailbox('swaks-to')];
    const tooLarge = path.join(root, 'too-large.eml');
    writeFileSync(
      tooLarge,
      `${from(sender, 'too large')}${`${'x'.repeat(76)}\n`.repeat(Math.ceil(MESSAGE_MAX_BYTES / 77))}`,
    );
    for (const listener of LISTENERS) {
      const sent = await swaks(sender, listener, receiver.address);
      assert.equal(sent.code, 0, sent.stdout);
      const held = await swaks(sender, listener, 'stranger@example.org');
      assert.equal(held.code, 0, held.stdout);
      assert.match(held.stdout, /250 2\.0\.0 held for consent con_/);
      const wrong = await swaks({ ...sender, token: receiver.token }, listener, receiver.address);
      assert.notEqual(wrong.code, 0);
      assert.match(wrong.stdout, /535 5\.7\.8/);
      const refused = await swaks(sender, listener, receiver.address, '--data', tooLarge);
      assert.notEqual(refused.code, 0);
      assert.match(refused.stdout, /552 5\.3\.4/);
    }
    assert.equal((await storedMail(world, receiver)).length, LISTENERS.length);
  },
);
