import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readSettings, SettingsError } from '#core/platform/settings/settings.ts';
import { LineClient } from '#test/support/line-client.ts';
import { openMailWorld } from '#test/support/mail-world.ts';
import { testVariables } from '#test/support/services.ts';

const world = await openMailWorld({
  settings: { IMAP_HIDE_CAPABILITIES: 'PhoneMail*: CONDSTORE QRESYNC IMAP4rev2; *: COMPRESS=DEFLATE' },
});
after(() => world.close());
const mailbox = await world.createMailbox('hidden');

/** All lines up to the tagged one. */
async function answer(client: LineClient, command: string): Promise<string[]> {
  client.send(`t ${command}\r\n`);
  const lines: string[] = [];
  for (;;) {
    const line = (await client.line()) ?? assert.fail('the connection ended');
    lines.push(line);
    if (line.startsWith('t ')) return lines;
  }
}

const wordsOf = (line: string | undefined): string[] => /CAPABILITY ([^\]]*)/.exec(line ?? '')?.[1]?.split(' ') ?? [];

async function open(): Promise<{ client: LineClient; greeting: string[] }> {
  const client = await LineClient.open(world.mail.imap.port, { secure: true });
  return { client, greeting: wordsOf(await client.line()) };
}

const LOGIN = `LOGIN ${mailbox.address} ${mailbox.token}`;
const HIDDEN = ['CONDSTORE', 'QRESYNC', 'IMAP4rev2', 'COMPRESS=DEFLATE'];

test('a client that sends ID before login does not get hidden capabilities, and cannot enable them', async () => {
  const { client } = await open();
  assert.equal((await answer(client, 'ID ("name" "phonemail" "version" "3")')).at(-1), 't OK ID completed');
  const words = wordsOf((await answer(client, LOGIN)).at(-1));
  for (const word of HIDDEN) assert.ok(!words.includes(word), word);
  for (const word of ['IMAP4rev1', 'MOVE', 'SORT']) assert.ok(words.includes(word), word);
  assert.equal((await answer(client, 'ENABLE CONDSTORE QRESYNC IMAP4rev2 UTF8=ACCEPT'))[0], '* ENABLED UTF8=ACCEPT');
  const selected = (await answer(client, 'SELECT INBOX')).join('\n');
  assert.match(selected, /UIDVALIDITY/);
  assert.doesNotMatch(selected, /HIGHESTMODSEQ/);
  assert.match((await answer(client, 'SELECT INBOX (QRESYNC (1 1))')).at(-1) ?? '', /^t BAD \[CLIENTBUG\]/);
  client.close();
});

test('a client that sends ID after login gets fewer capabilities from then on, and commands still work', async () => {
  const { client } = await open();
  const before = wordsOf((await answer(client, LOGIN)).at(-1));
  assert.ok(before.includes('QRESYNC') && before.includes('IMAP4rev2'));
  await answer(client, 'ID ("name" "PhoneMail 4")');
  const words = wordsOf((await answer(client, 'CAPABILITY'))[0]);
  for (const word of HIDDEN) assert.ok(!words.includes(word), word);
  assert.match((await answer(client, 'SELECT INBOX (CONDSTORE)')).join('\n'), /HIGHESTMODSEQ/);
  assert.equal((await answer(client, 'COMPRESS DEFLATE')).length, 1);
  client.close();
});

test('a rule for every client applies without ID, and the other capabilities are announced', async () => {
  const { client, greeting } = await open();
  assert.ok(greeting.includes('IMAP4rev2'));
  const words = wordsOf((await answer(client, LOGIN)).at(-1));
  assert.ok(words.includes('QRESYNC') && !words.includes('COMPRESS=DEFLATE'));
  assert.match((await answer(client, 'SELECT INBOX')).join('\n'), /HIGHESTMODSEQ/);
  client.close();
});

test('a wrong rule stops the start and says what is right', () => {
  assert.throws(
    () => readSettings(testVariables({ IMAP_HIDE_CAPABILITIES: 'PhoneMail: QRSYNC' })),
    (error) =>
      error instanceof SettingsError && /IMAP_HIDE_CAPABILITIES is .* takes <client>: <capability>/.test(error.message),
  );
});
