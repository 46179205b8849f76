import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testTls } from '../../support/services.ts';
import { openMailWorld } from '../mail-world.ts';
import { runPython } from './run-program.ts';
import { storedMail } from './stored-mail.ts';

const world = await openMailWorld();
after(() => world.close());

test('Python’s smtplib delivers over STARTTLS, and hears which recipient is refused', async () => {
  const mailbox = await world.createMailbox('smtplib');
  const result = await runPython<{ features: string[]; refused: Record<string, number> }>('smtplib_session.py', {
    caFile: testTls().caFile,
    port: world.mail.smtp.port,
    to: [mailbox.address, 'nobody@agents.test'],
  });
  assert.deepEqual(result.refused, { 'nobody@agents.test': 550 });
  assert.ok(['8bitmime', 'pipelining', 'size', 'smtputf8'].every((feature) => result.features.includes(feature)));
  assert.ok(!result.features.includes('auth'));
  const [stored] = await storedMail(world, mailbox);
  assert.match(stored?.toString() ?? '', /^Subject: =\?utf-8\?/im);
  assert.match(stored?.toString() ?? '', /filename="b\.bin"/);
});
