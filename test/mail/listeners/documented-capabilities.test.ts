import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { LineClient } from '#test/support/line-client.ts';
import { openMailWorld } from '#test/support/mail-world.ts';

const world = await openMailWorld();
after(() => world.close());
const document = readFileSync(new URL('../../../docs/mail.md', import.meta.url), 'utf8');

/** Words of the CAPABILITY answer, without the value of APPENDLIMIT. */
async function announced(client: LineClient): Promise<string[]> {
  const answer = (await client.command('c CAPABILITY')) ?? '';
  await client.line();
  return answer
    .replace('* CAPABILITY ', '')
    .split(' ')
    .map((word) => word.replace(/^APPENDLIMIT=.*/, 'APPENDLIMIT'));
}

test('docs/mail.md lists each announced IMAP capability, and no other', async () => {
  const { address, token } = await world.createMailbox('capable');
  const plain = await LineClient.open(world.mail.imapStarttls.port);
  await plain.line();
  const secure = await LineClient.open(world.mail.imap.port, { secure: true });
  await secure.line();
  const found = new Set([...(await announced(plain)), ...(await announced(secure))]);
  assert.match((await secure.command(`l LOGIN ${address} ${token}`)) ?? '', /^l OK/);
  for (const word of await announced(secure)) found.add(word);
  const table = document.slice(document.indexOf('### IMAP capabilities'), document.indexOf('### Limits'));
  const documented = [...table.matchAll(/^\|[^|]*\| `([^`]+)` \|/gm)].map(([, word]) => word ?? '');
  assert.deepEqual(new Set(documented), found);
  assert.equal(new Set(documented).size, documented.length);
  plain.close();
  secure.close();
});

test('docs/mail.md lists each announced POP3 capability, and no other', async () => {
  const found = new Set<string>();
  for (const [port, isSecure] of [
    [world.mail.pop3Starttls.port, false],
    [world.mail.pop3.port, true],
  ] as const) {
    const client = await LineClient.open(port, { secure: isSecure });
    await client.line();
    await client.command('CAPA');
    for (const line of await client.body()) found.add(line.split(' ')[0] ?? '');
    client.close();
  }
  const documented = /^POP3: `([^`]+)`/m.exec(document)?.[1]?.split(' ') ?? [];
  assert.deepEqual(new Set(documented), found);
});
