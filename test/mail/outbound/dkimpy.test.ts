/** That our signatures hold for an implementation that shares no code with ours. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../clients/run-program.ts';
import { type OutboundWorld, openOutboundWorld } from './outbound-world.ts';

/** Debian's own Python: the one its package python3-dkim belongs to. */
const PYTHON = '/usr/bin/python3';
const SCRIPT = fileURLToPath(new URL('../clients/dkim_verify.py', import.meta.url));

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld();
});
after(() => world?.close());

test('Python’s dkimpy verifies sent mail, and notices a change to it', async () => {
  const { messageId } = await world.send(['ann@example.com'], { subject: 'Grüße' });
  await world.finished(messageId);
  const [key] = await world.mail.services.db.query<{ selector: string; public_key: string }>(
    `select selector, public_key from dkim_key where domain = 'agents.test'`,
  );
  const records = { [`${key?.selector}._domainkey.agents.test`]: `v=DKIM1; k=rsa; p=${key?.public_key}` };
  const verify = async (message: Buffer) => {
    const input = JSON.stringify({ message: message.toString('base64'), records });
    const { stdout, stderr } = await runProgram(PYTHON, [SCRIPT], { input });
    assert.match(stdout, /^\{/, stderr);
    return JSON.parse(stdout) as unknown;
  };
  const sent = world.peer.received[0]?.bytes ?? Buffer.alloc(0);
  assert.match(sent.toString(), /^DKIM-Signature: /);
  assert.deepEqual(await verify(sent), { verified: true });
  const changed = Buffer.from(sent.toString('latin1').replace('Some words', 'Other words'), 'latin1');
  assert.deepEqual(await verify(changed), { verified: false });
});
