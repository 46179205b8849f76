import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatAddress, readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { decodeCharset } from '@agent-mailbox/mime-structure/charset';
import { imapString } from '@agent-mailbox/mime-structure/envelope';
import { indexMessage, type PartNode } from '@agent-mailbox/mime-structure/index-message';
import { parseParameterized } from '@agent-mailbox/mime-structure/parameters';
import { decodedSize, decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import fc from 'fast-check';
import { HTML_MAX_CHARACTERS } from '#domain/mail/mail-limits.ts';
import { nests } from '#mailstore/upkeep/invariants.ts';
import { textOfHtml } from '#mime/html-content.ts';
import { readMessage } from '#mime/read-message.ts';
import { corpus } from '#test/mail/corpus/read-corpus.ts';
import { assertBodyStructure, assertEnvelope, parseWire } from '#test/support/imap-syntax.ts';

function assertReadable(bytes: Buffer): void {
  const read = readMessage(bytes);
  assert.ok(nests(read.parts, 0, bytes.length));
  assertEnvelope(parseWire(read.envelope.toString('latin1')));
  assertBodyStructure(parseWire(read.bodyStructure.toString('latin1')));
  const stored = JSON.stringify(read);
  assert.ok(!stored.includes('\\u0000') && !/\\ud[89ab]/i.test(stored), 'only what jsonb takes');
}

/** Pieces that matter to the indexer, in any order: closer to real damage than random bytes. */
const fragment = fc.constantFrom(
  'From: a@b.c\r\n',
  'Subject: =?utf-8?Q?=C3?=\r\n',
  'Content-Type: multipart/mixed; boundary=b\r\n',
  'Content-Type: multipart/alternative; boundary="b"\r\n',
  'Content-Type: message/rfc822\r\n',
  'Content-Type: text/html; charset=utf-7\r\n',
  'Content-Transfer-Encoding: base64\r\n',
  "Content-Disposition: attachment; filename*0*=utf-8''%ff; filename*1=\"\r\n",
  '\r\n',
  '\n',
  '--b\r\n',
  '--b--\r\n',
  '--b',
  '\0',
  '\r',
  '(',
  '"',
  'words ',
  '\xff\xfe',
);

describe('the MIME indexer', () => {
  it('reads any sequence of fragments without throwing', () => {
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 40 }), (list) =>
        assertReadable(Buffer.from(list.join(''), 'latin1')),
      ),
      { numRuns: 1_500 },
    );
  });
  it('reads random bytes without throwing', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => assertReadable(Buffer.from(bytes))));
  });
  it('reads mutated mail without throwing', () => {
    const small = corpus.filter(({ bytes }) => bytes.length > 0 && bytes.length < 6_000);
    fc.assert(
      fc.property(
        fc.constantFrom(...small),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        fc.nat(),
        ({ bytes }, changes, cut) => {
          const mutated = Buffer.from(bytes);
          for (const [place, value] of changes) mutated[place % mutated.length] = value;
          assertReadable(mutated.subarray(0, mutated.length - (cut % 20)));
        },
      ),
      { numRuns: 1_500 },
    );
  });
  it('reads mail whose lines were lost, doubled, and mixed with those of other mail', () => {
    const lines = corpus
      .filter(({ bytes }) => bytes.length > 0 && bytes.length < 6_000)
      .map(({ bytes }) => bytes.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? []);
    const message = fc.constantFrom(...lines);
    fc.assert(
      fc.property(
        message,
        message,
        fc.array(fc.tuple(fc.constantFrom('lose', 'double', 'take', 'cut'), fc.nat(), fc.nat()), {
          minLength: 1,
          maxLength: 10,
        }),
        (one, other, changes) => {
          const mixed = [...one];
          for (const [change, place, from] of changes) {
            const at = place % (mixed.length + 1);
            const line = mixed[at] ?? '';
            if (change === 'lose') mixed.splice(at, 1);
            else if (change === 'double') mixed.splice(at, 0, line);
            else if (change === 'take') mixed.splice(at, 0, other[from % other.length] ?? '');
            else mixed.splice(at, 1, line.slice(0, from % (line.length + 1)));
          }
          const bytes = Buffer.from(mixed.join(''), 'latin1');
          assertReadable(bytes);
          assertWhole(bytes);
        },
      ),
      { numRuns: 1_500 },
    );
  });
  it('leaves no byte out: header, parts and what lies between re-join to the input', () => {
    for (const { bytes } of corpus) assertWhole(bytes);
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 40 }), (list) => assertWhole(Buffer.from(list.join(''), 'latin1'))),
    );
  });
  it('counts the lines of each part as a naive count does', () => {
    const check = (bytes: Buffer, part: PartNode): void => {
      assert.equal(part.lines, bytes.subarray(part.body, part.end).toString('latin1').split('\n').length - 1);
      for (const child of part.parts ?? []) check(bytes, child);
    };
    for (const { bytes } of corpus) check(bytes, indexMessage(bytes));
  });
});

/** Header, children, what lies between and behind them. */
function assertWhole(bytes: Buffer): void {
  const slices = (part: PartNode): Buffer[] => {
    const found = [bytes.subarray(part.header, part.body)];
    let at = part.body;
    for (const child of part.parts ?? []) {
      found.push(bytes.subarray(at, child.header), ...slices(child));
      at = child.end;
    }
    return [...found, bytes.subarray(at, part.end)];
  };
  assert.ok(Buffer.concat(slices(indexMessage(bytes))).equals(bytes));
}

/** With work that grows by the square each of these takes minutes: the run would end at its time limit. */
describe('mail made to take long is read like any other', () => {
  const HEADER = 250_000;
  const BODY = 8_000_000;
  const fill = (unit: string, length: number): string => unit.repeat(Math.floor(length / unit.length));

  it('in header fields', () => {
    const units = [
      '\r',
      '\n ',
      '=?',
      '=?utf-8?B?',
      '"',
      '(',
      '(a) ',
      ',',
      '<',
      ':',
      ';',
      'a*0=x;',
      "a*='%41;",
      '[',
      '1 jan ',
    ];
    for (const unit of units)
      for (const name of ['Subject', 'From', 'Content-Type: multipart/mixed; boundary=b; x', 'Date', 'References'])
        assertReadable(Buffer.from(`${name}: ${fill(unit, HEADER)}x\r\n\r\nbody\r\n`));
  });
  it('in header lines without a colon before a large body', () =>
    assertReadable(Buffer.from(`${fill('x\n', HEADER)}\n${fill('y', BODY)}`)));
  it('in multiparts whose boundaries never occur', () => {
    const parts = Array.from({ length: 990 }, (_, i) => `--b\nContent-Type: multipart/mixed; boundary=c${i}\n\nx\n`);
    const head = 'Content-Type: multipart/mixed; boundary=b\n\n';
    assertReadable(Buffer.from(`${head}${parts.join('')}--b--\n${fill('y', BODY)}`));
  });
  it('in levels over many short lines', () => {
    const multiparts = Array.from(
      { length: 40 },
      (_, i) => `Content-Type: multipart/mixed; boundary=n${i}\n\n--n${i}\n`,
    );
    const forwards = fill('Content-Type: message/rfc822\n\n', 1_200);
    for (const head of [multiparts.join(''), forwards]) indexMessage(Buffer.from(`${head}\n${fill('z\n', BODY)}`));
  });
  it('in HTML of tags that are never closed, or were never opened', () => {
    for (const unit of ['<a>', '<table><tr><td>', '<a></b>', '</a>', '<', '<p>', '<ul><li>', '<a href=x>y', '&amp'])
      textOfHtml(fill(unit, HTML_MAX_CHARACTERS));
  });
});

describe('HTML as text', () => {
  it('of an honest table of thousands of cells is whole', () => {
    const rows = Array.from({ length: 8_000 }, (_, i) => `<tr><td>a<td><b>${i}</b></td><td><br>c</td></tr>`);
    assert.ok(textOfHtml(`<p>x<table>${rows.join('')}</table>`).includes('7999'));
  });
});

describe('encodings', () => {
  it('base64 of any bytes decodes to them, with its size known before', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), fc.integer({ min: 1, max: 80 }), (bytes, width) => {
        const lines = Buffer.from(
          Buffer.from(bytes)
            .toString('base64')
            .replace(new RegExp(`.{${width}}`, 'g'), '$&\r\n'),
        );
        assert.deepEqual(Buffer.from(decodeTransfer(lines, 'base64')), Buffer.from(bytes));
        assert.equal(decodedSize(lines, 'base64'), bytes.length);
      }),
    );
  });
  it('quoted-printable never grows and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const decoded = decodeTransfer(bytes, 'quoted-printable');
        assert.ok(decoded.length <= bytes.length);
        assert.equal(decodedSize(bytes, 'quoted-printable'), decoded.length);
      }),
    );
  });
  it('UTF-7 of any text decodes to it', () => {
    const encode = (text: string): string =>
      text.replace(/[^A-Za-z0-9 ]+/g, (run) => {
        const units = Buffer.from(run, 'utf16le').swap16().toString('base64').replace(/=+$/, '');
        return `+${units}-`;
      });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) =>
        assert.equal(decodeCharset(Buffer.from(encode(text)), 'UTF-7'), text),
      ),
    );
  });
  it('an IMAP string reads back as what went in', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
        const text = Buffer.from(bytes).toString('latin1');
        assert.equal(parseWire(imapString(text)), text.replaceAll('\0', ''));
      }),
    );
  });
});

describe('addresses', () => {
  it('what is formatted reads back', () => {
    const name = fc
      .string({ maxLength: 20, unit: 'binary-ascii' })
      .map((text) => text.replace(/[\0-\x1f\x7f]|=\?/g, '').trim());
    const local = fc.stringMatching(/^[a-z][a-z0-9.+_-]{0,10}[a-z]$/);
    fc.assert(
      fc.property(name, local, (shown, mailbox) => {
        const address = { name: shown.replace(/\s+/g, ' '), address: `${mailbox}@example.com` };
        assert.deepEqual(readableAddresses(formatAddress(address)), [address]);
      }),
    );
  });
  it('any text gives a list, quickly', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary-ascii', maxLength: 300 }), (text) => void readableAddresses(text)));
  });
});

describe('parameters', () => {
  it('any text gives a value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 300 }), (text) => {
        parseParameterized(text);
        parseParameterized(`a/b; ${text}`);
      }),
    );
  });
});
