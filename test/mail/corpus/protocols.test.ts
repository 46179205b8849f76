/** The whole corpus in one mailbox: what IMAP, POP3 and the messages API give of it, and what search finds. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { MESSAGE_MEMORY_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { startMail } from '#mail/start.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { apiWorld, at, type TestMailbox, type TestOrganization } from '#test/support/api-world.ts';
import { parseWire, type Wire } from '#test/support/imap-syntax.ts';
import { LineClient } from '#test/support/line-client.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { ImapBytes } from './imap-bytes.ts';
import { assertView, assertWire, type CorpusMessage, corpus, digest } from './read-corpus.ts';

const world = await apiWorld();
const mail = await startMail(world.services, { lookup: dnsStub() });
after(async () => {
  await mail.close();
  await world.close();
});

interface Stored extends CorpusMessage {
  readonly uid: number;
  /** Id of the API. */
  readonly id: string;
}

const passwordOf = ({ token }: TestMailbox): string => (token['authorization'] ?? '').replace('Bearer ', '');
const asked = (item: string): string => item.replace(/^(BODY|BINARY)\[/, '$1.PEEK[');
/** `BODY[]<2.7>` is answered as `BODY[]<2>`. */
const answered = (item: string): string => item.replace(/<(\d+)\.\d+>$/, '<$1>');

const MESSAGES_AT_ONCE = 50;

/** What BODY leaves out of BODYSTRUCTURE. */
function withoutExtensions(structure: Wire): Wire {
  assert.ok(Array.isArray(structure));
  const [first] = structure;
  if (Array.isArray(first)) {
    const children = structure.findIndex((each) => !Array.isArray(each));
    return [...structure.slice(0, children).map(withoutExtensions), structure[children] ?? null];
  }
  const rest = structure.slice(7);
  if (Array.isArray(rest[0]) && Array.isArray(rest[1]))
    return [...structure.slice(0, 7), rest[0] ?? null, withoutExtensions(rest[1] ?? null), rest[2] ?? null];
  return structure.slice(0, first === 'text' ? 8 : 7);
}

/** The lines of a message as POP3 must send them (RFC 1939 §3): each ends with CRLF, the last one too. */
function asLines(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1').replace(/\r?\n/g, '\r\n');
  return Buffer.from(text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`, 'latin1');
}

/** Bytes as an ordinary literal shows them: NUL as 80 (RFC 9051 §4.3.1). */
const withoutNul = (bytes: Uint8Array): Buffer => Buffer.from(bytes.map((byte) => (byte === 0 ? 0x80 : byte)));

/** Pieces of a message with NUL that are shown as this content. */
function* shownAs(bytes: Buffer, content: Buffer): Generator<Buffer> {
  if (content.length === 0 || !bytes.includes(0)) return;
  const shown = withoutNul(bytes);
  for (let at = shown.indexOf(content); at >= 0; at = shown.indexOf(content, at + 1))
    yield bytes.subarray(at, at + content.length);
  yield Buffer.from(content.map((byte) => (byte === 0x80 ? 0 : byte)));
}

describe('the corpus in a mailbox', () => {
  let organization: TestOrganization;
  let imap: ImapBytes;
  const stored: Stored[] = [];

  before(async () => {
    organization = await world.newOrganization('unlimited');
    const { mailbox } = organization;
    imap = await ImapBytes.logIn(mail.imap.port, mailbox.address, passwordOf(mailbox));
    const [empty, ...others] = [...corpus].sort((a, b) => a.bytes.length - b.bytes.length);
    assert.equal(empty?.bytes.length, 0);
    assert.match(
      String(await imap.append('INBOX', [empty.bytes])),
      /^NO /,
      'an empty message is how a client gives up',
    );
    const uids: number[] = [];
    for (let at = 0; at < others.length; at += MESSAGES_AT_ONCE) {
      const messages = others.slice(at, at + MESSAGES_AT_ONCE);
      const appended = await imap.append(
        'INBOX',
        messages.map(({ bytes }) => bytes),
      );
      assert.ok(typeof appended !== 'string', String(appended));
      assert.equal(appended.length, messages.length);
      uids.push(...appended);
    }
    await imap.command('SELECT INBOX');
    const ids = new Map<number, string>();
    await imap.command('UID FETCH 1:* EMAILID', (line) => {
      const [, uid, id = ''] = /UID (\d+) EMAILID \((\w+)\)/.exec(line.toString('latin1')) ?? [];
      if (uid !== undefined) ids.set(Number(uid), id);
    });
    for (const [index, message] of others.entries()) {
      const uid = uids[index] ?? 0;
      stored.push({ ...message, uid, id: ids.get(uid) ?? assert.fail('no EMAILID') });
    }
  });
  after(() => imap.close());

  it('comes out of IMAP byte for byte, whole and in sections', async () => {
    for (const { name, bytes, uid, envelope, bodystructure, sections } of stored) {
      const known = Object.entries(sections).filter(([, expected]) => expected !== 'UNKNOWN-CTE');
      const binaries = known.filter(([item, expected]) => /^BINARY\[[\d.]+\]$/.test(item) && expected !== null);
      const items = await imap.fetch(uid, [
        'RFC822.SIZE',
        'ENVELOPE',
        'BODYSTRUCTURE',
        'BODY',
        ...known.map(([item]) => asked(item)),
        ...binaries.map(([item]) => item.replace('BINARY', 'BINARY.SIZE')),
      ]);
      const wire = (item: string): Buffer => items.get(item)?.wire ?? assert.fail(`${name}: no ${item}`);
      assert.equal(wire('RFC822.SIZE').toString(), String(bytes.length), name);
      assertWire(wire('ENVELOPE'), envelope, `${name}: ENVELOPE`);
      assertWire(wire('BODYSTRUCTURE'), bodystructure, `${name}: BODYSTRUCTURE`);
      assert.deepEqual(
        parseWire(wire('BODY').toString('latin1')),
        withoutExtensions(parseWire(wire('BODYSTRUCTURE').toString('latin1'))),
        `${name}: BODY`,
      );
      const content = (item: string): Buffer | null => items.get(answered(item))?.content ?? null;
      const isBinary = (item: string): boolean => item.startsWith('BINARY');
      assert.ok(content('BODY[]')?.equals(withoutNul(bytes)), `${name}: BODY[] is what was appended`);
      for (const [item, expected] of known) {
        const found = content(item);
        const possible = found === null ? [] : isBinary(item) ? [found] : [found, ...shownAs(bytes, found)];
        if (found === null) assert.equal(expected, null, `${name}: ${item}`);
        else
          assert.ok(
            possible.some((each) => isDeepStrictEqual(digest(each), expected)),
            `${name}: ${item}`,
          );
        assert.ok(found === null || isBinary(item) || !found.includes(0), `${name}: ${item} holds NUL`);
      }
      for (const [item, expected] of binaries) {
        const octets = expected === null || typeof expected === 'string' ? 0 : expected.octets;
        assert.equal(
          wire(item.replace('BINARY', 'BINARY.SIZE')).toString(),
          String(octets),
          `${name}: size of ${item}`,
        );
      }
      for (const [item, expected] of Object.entries(sections))
        if (expected === 'UNKNOWN-CTE')
          for (const each of [asked(item), item.replace('BINARY', 'BINARY.SIZE')])
            assert.match(await imap.command(`UID FETCH ${uid} (${each})`), /^NO \[UNKNOWN-CTE\]/, `${name}: ${each}`);
    }
  });

  it('comes out of POP3 in lines that all end with CRLF, with the sizes announced', async () => {
    const { mailbox } = organization;
    const client = await LineClient.open(mail.pop3.port, { secure: true });
    await client.line();
    await client.command(`USER ${mailbox.address}`);
    assert.match((await client.command(`PASS ${passwordOf(mailbox)}`)) ?? '', new RegExp(`^\\+OK ${stored.length} `));
    await client.command('LIST');
    const sizes = (await client.body()).map((line) => Number(line.split(' ')[1]));
    for (const [index, { name, bytes }] of stored.entries()) {
      const expected = asLines(bytes);
      assert.equal(sizes[index], expected.length, `${name}: size`);
      if (bytes.length > 100_000) continue;
      await client.command(`RETR ${index + 1}`);
      const lines = await client.body();
      assert.ok(Buffer.from(lines.map((line) => `${line}\r\n`).join(''), 'latin1').equals(expected), name);
    }
    client.close();
  });

  it('is shown by the API as expected, and downloaded byte for byte', async () => {
    const { token } = organization.mailbox;
    const download = async (path: string): Promise<Buffer> => {
      const answer = await fetch(new URL(`/api/mailbox/messages/${path}`, world.api.url), { headers: { ...token } });
      assert.equal(answer.status, 200, path);
      return Buffer.from(await answer.arrayBuffer());
    };
    const check = async ({ name, bytes, id, api, sections }: Stored): Promise<void> => {
      const answer = await world.call('GET', `/api/mailbox/messages/${id}`, { as: token });
      assert.equal(answer.status, 200, `${name}: ${answer.text}`);
      assert.ok(typeof answer.body === 'object' && answer.body !== null);
      for (const key of Object.keys(api)) assert.ok(key in answer.body, `${name}: the API shows ${key}`);
      assertView({ ...answer.body }, api, name);
      assert.ok(typeof at(answer.body, 'extractedText') === 'string');
      assert.ok((await download(`${id}/raw`)).equals(bytes), `${name}: raw`);
      if (!('count' in api.attachments))
        for (const attachment of api.attachments.slice(0, 4)) {
          const content = sections[`BINARY[${attachment.id}]`];
          if (content === undefined || content === null || typeof content === 'string') continue;
          const file = await download(`${id}/attachments/${attachment.id}`);
          assert.deepEqual(digest(file), content, `${name}: attachment ${attachment.id}`);
        }
    };
    for (let at = 0; at < stored.length; at += 5) await Promise.all(stored.slice(at, at + 5).map(check));
  });

  it('is found by what it says, in the words kept for search and in the bytes', async () => {
    const withSearches = stored.filter(({ search }) => search !== undefined);
    assert.ok(withSearches.length > 50);
    await waitUntil(
      'the words of the messages that were in memory; a later sweep fills in the others',
      async () =>
        (
          await world.sql(
            `select 1 from message m left join message_text t on t.message_id = m.id
              where t.message_id is null and m.size <= $1`,
            [MESSAGE_MEMORY_MAX_BYTES],
          )
        ).length === 0,
      120_000,
    );
    const results = new Map<string, Set<number>>();
    for (const { name, uid, search = [] } of withSearches)
      for (const { query, found } of search) {
        const uids = results.get(query) ?? (await imap.search(query));
        results.set(query, uids);
        assert.equal(uids.has(uid), found, `${name}: ${query}`);
      }
    await world.sql('delete from message_text where message_id = any($1)', [withSearches.map(({ id }) => id)]);
    for (const { name, uid, search = [] } of withSearches)
      for (const { query, found } of search)
        assert.equal((await imap.search(`UID ${uid} ${query}`)).has(uid), found, `${name}: ${query}, in the bytes`);
  });

  it('leaves the store in order', async () => {
    const results = await checkMailStore(world.services.db, { all: true });
    assert.deepEqual(
      results.flatMap(({ rule, examples }) => examples.map((example) => `${rule}: ${example}`)),
      [],
    );
  });
});
