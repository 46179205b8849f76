import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MIME_DEPTH_MAX, MIME_PARTS_MAX, PREVIEW_MAX_CHARACTERS } from '../../../domain/mail-limits.ts';
import type { PartNode } from '../../../mail/mime/index-message.ts';
import { readMessage } from '../../../mail/mime/read-message.ts';
import { messageText } from '../../../mail/mime/text.ts';
import { nests } from '../../../mail/store/check.ts';
import { corpus } from './corpus.ts';
import { assertBodyStructure, assertEnvelope, parseWire } from './imap-syntax.ts';

const depthOf = (part: PartNode): number => 1 + Math.max(0, ...(part.parts ?? []).map(depthOf));
const countOf = (part: PartNode): number => 1 + (part.parts ?? []).reduce((sum, child) => sum + countOf(child), 0);

describe('every message of the corpus', () => {
  for (const { name, bytes, structure, subject, text, attachments } of corpus)
    it(name, () => {
      const read = readMessage(bytes);
      assert.ok(nests(read.parts, 0, bytes.length), 'offsets nest and stay in bounds');
      assert.ok(depthOf(read.parts) <= MIME_DEPTH_MAX + 1);
      assert.ok(countOf(read.parts) <= MIME_PARTS_MAX);
      assertEnvelope(parseWire(read.envelope.toString('latin1')));
      assertBodyStructure(parseWire(read.bodyStructure.toString('latin1')));
      assert.ok(!JSON.stringify(read).includes('\\u0000'), 'nothing PostgreSQL refuses');
      assert.ok(Array.from(read.preview).length <= PREVIEW_MAX_CHARACTERS);
      const shown = messageText(bytes, read.parts);
      if (structure !== undefined) assert.equal(read.bodyStructure.toString('latin1'), structure);
      if (subject !== undefined) assert.equal(read.subject, subject);
      if (text !== undefined) assert.equal(shown.text, text);
      if (attachments !== undefined)
        assert.deepEqual(
          read.attachments.map((a) => `${a.id} ${a.filename} ${a.contentType} ${a.sizeBytes}`),
          attachments,
        );
    });
});
