/** Every message of the MIME corpus, fetched: structures are grammar, sections are the stored bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PartNode } from '../../../mail/mime/index-message.ts';
import { leaves } from '../../../mail/mime/parts.ts';
import { decodeTransfer } from '../../../mail/mime/transfer-encoding.ts';
import { corpus } from '../mime/corpus.ts';
import { assertBodyStructure, assertEnvelope, parseWire, type Wire } from '../mime/imap-syntax.ts';
import { MemoryStore } from './memory-store.ts';
import { connectRaw } from './raw-client.ts';

/** The value of one item of an answer `* 1 FETCH (<item> <value>)`. */
function valueOf(answer: Buffer, item: string): Buffer {
  const start = `* 1 FETCH (${item} `;
  assert.equal(answer.subarray(0, start.length).toString('latin1'), start);
  return answer.subarray(start.length, answer.lastIndexOf(')\r\n'));
}

/** Bytes of a literal, a quoted empty string, or NIL. */
function bytesOf(value: Buffer): Buffer | null {
  const text = value.toString('latin1');
  if (text === 'NIL') return null;
  if (text === '""') return Buffer.alloc(0);
  const [announced = '', size] = /^~?\{(\d+)\}\r\n/.exec(text) ?? assert.fail(`no literal: ${text.slice(0, 40)}`);
  const bytes = value.subarray(announced.length);
  assert.equal(bytes.length, Number(size));
  return bytes;
}

/** What BODY leaves out of BODYSTRUCTURE. */
function withoutExtensions(structure: Wire): Wire {
  assert.ok(Array.isArray(structure));
  const [first] = structure;
  if (Array.isArray(first)) {
    const children = structure.findIndex((each) => !Array.isArray(each));
    return [...structure.slice(0, children).map(withoutExtensions), structure[children] ?? null];
  }
  const rest = structure.slice(7);
  const isMessage = Array.isArray(rest[0]) && Array.isArray(rest[1]);
  if (isMessage)
    return [...structure.slice(0, 7), rest[0] ?? null, withoutExtensions(rest[1] ?? null), rest[2] ?? null];
  return structure.slice(0, first === 'text' ? 8 : 7);
}

test('every message of the corpus is fetched as it is stored', async () => {
  for (const { name, bytes } of corpus) {
    const store = new MemoryStore();
    const [uid] = (await store.append(1, [await spooled(store, bytes)])).uids;
    assert.equal(uid, 1, name);
    const view = await store.view(1, false);
    assert.ok(view !== undefined);
    let parts: PartNode | undefined;
    for await (const rows of store.rows(1, view.uids, ALL_COLUMNS)) parts = rows[0]?.parts;
    assert.ok(parts !== undefined);
    const client = await connectRaw(store);
    const fetch = async (item: string, shown = item.replace('.PEEK', '')) =>
      valueOf(await client.command(`FETCH 1 ${item}`), shown);

    assert.deepEqual(bytesOf(await fetch('BODY.PEEK[]')), bytes, `${name}: BODY[]`);
    assert.equal((await fetch('RFC822.SIZE')).toString(), String(bytes.length), name);
    assertEnvelope(parseWire((await fetch('ENVELOPE')).toString('latin1')));
    const structure = parseWire((await fetch('BODYSTRUCTURE')).toString('latin1'));
    assertBodyStructure(structure);
    assert.deepEqual(parseWire((await fetch('BODY')).toString('latin1')), withoutExtensions(structure), name);
    const header = bytesOf(await fetch('BODY.PEEK[HEADER]'));
    const text = bytesOf(await fetch('BODY.PEEK[TEXT]'));
    assert.deepEqual(
      Buffer.concat([header ?? Buffer.alloc(0), text ?? Buffer.alloc(0)]),
      bytes,
      `${name}: HEADER, TEXT`,
    );
    for (const { number, part } of [...leaves(parts)].slice(0, 30)) {
      const stored = bytes.subarray(part.body, part.end);
      assert.deepEqual(bytesOf(await fetch(`BODY.PEEK[${number}]`)), stored, `${name}: ${number}`);
      const mime = bytes.subarray(part.header, part.body);
      assert.deepEqual(bytesOf(await fetch(`BODY.PEEK[${number}.MIME]`)), mime, `${name}: ${number}.MIME`);
      const partial = await fetch(`BODY.PEEK[${number}]<1.5>`, `BODY[${number}]<1>`);
      assert.deepEqual(bytesOf(partial), stored.subarray(1, 6), `${name}: ${number}<1.5>`);
      if (['7bit', '8bit', 'binary', 'base64', 'quoted-printable'].includes(part.encoding)) {
        const decoded = Buffer.from(decodeTransfer(stored, part.encoding));
        assert.deepEqual(bytesOf(await fetch(`BINARY.PEEK[${number}]`)), decoded, `${name}: BINARY ${number}`);
        assert.equal((await fetch(`BINARY.SIZE[${number}]`)).toString(), String(decoded.length), name);
      }
    }
    await client.close();
  }
});

const ALL_COLUMNS = { envelope: true, bodyStructure: true, parts: true, preview: true, sortKeys: true };

async function spooled(store: MemoryStore, bytes: Buffer) {
  const spool = store.spool();
  await spool.write(bytes);
  return { content: await spool.end(), flags: 1, keywords: [], internalDate: null };
}
