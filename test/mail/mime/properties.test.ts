import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatAddress, readableAddresses } from '../../../mail/mime/addresses.ts';
import { imapString } from '../../../mail/mime/imap-strings.ts';
import { indexMessage, type PartNode } from '../../../mail/mime/index-message.ts';
import { parseParameterized } from '../../../mail/mime/parameters.ts';
import { readMessage } from '../../../mail/mime/read-message.ts';
import { decodedSize, decodeTransfer } from '../../../mail/mime/transfer-encoding.ts';
import { nests } from '../../../mail/store/check.ts';
import { corpus } from './corpus.ts';
import { assertBodyStructure, assertEnvelope, parseWire } from './imap-syntax.ts';

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
    const small = corpus.filter(({ bytes }) => bytes.length > 0 && bytes.length < 3_000);
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
  it('leaves no byte out: header, parts and what lies between re-join to the input', () => {
    for (const { bytes } of corpus) {
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
