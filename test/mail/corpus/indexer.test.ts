/** What is stored about each message of the corpus, against expectations that were not made by the code tested. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import { storableText } from '@agent-mailbox/mime-structure/charset';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { bodyParts, partText } from '@agent-mailbox/mime-structure/parts';
import {
  MIME_DEPTH_MAX,
  MIME_PARTS_MAX,
  PREVIEW_MAX_CHARACTERS,
  SEARCH_TEXT_MAX_BYTES,
} from '#domain/mail/mail-limits.ts';
import { nests } from '#mailstore/upkeep/invariants.ts';
import { readMessage } from '#mime/read-message.ts';
import { assertBodyStructure, assertEnvelope, parseWire } from '#test/support/imap-syntax.ts';
import { assertView, assertWire, corpus } from './read-corpus.ts';

const htmlOf = (bytes: Uint8Array, root: PartNode): string | null => {
  const { html } = bodyParts(root);
  if (html.length === 0) return null;
  return storableText(html.map(({ part }) => partText(bytes, part, SEARCH_TEXT_MAX_BYTES)).join('\n'));
};
const depthOf = (part: PartNode): number => 1 + Math.max(0, ...(part.parts ?? []).map(depthOf));
const countOf = (part: PartNode): number => 1 + (part.parts ?? []).reduce((sum, child) => sum + countOf(child), 0);

describe('what is stored about a message', () => {
  it('is tested with all of the corpus', () => assert.ok(corpus.length >= 380, `${corpus.length} messages`));

  for (const { name, about, bytes, envelope, bodystructure, api } of corpus)
    it(`${name}: ${about}`, () => {
      const read = readMessage(bytes);
      assertWire(read.envelope, envelope, 'ENVELOPE');
      assertWire(read.bodyStructure, bodystructure, 'BODYSTRUCTURE');
      assertEnvelope(parseWire(read.envelope.toString('latin1')));
      assertBodyStructure(parseWire(read.bodyStructure.toString('latin1')));
      assert.ok(nests(read.parts, 0, bytes.length), 'offsets nest and stay in bounds');
      assert.ok(depthOf(read.parts) <= MIME_DEPTH_MAX + 1);
      assert.ok(countOf(read.parts) <= MIME_PARTS_MAX);
      assert.ok(!JSON.stringify(read).includes('\\u0000'), 'nothing PostgreSQL refuses');
      assert.ok(Array.from(read.preview).length <= PREVIEW_MAX_CHARACTERS);
      assertView(
        {
          subject: read.subject,
          from: read.from[0] === undefined ? null : formatAddress(read.from[0]),
          to: read.to.map(formatAddress),
          cc: read.cc.map(formatAddress),
          sentAt: read.sentAt?.toISOString() ?? null,
          messageId: read.messageId ?? null,
          attachments: read.attachments,
          text: read.content.text,
          html: htmlOf(bytes, read.parts),
        },
        api,
        name,
      );
    });
});
