/** A database that an earlier version has filled is brought to today's schema, and works there. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { blobKey, storeBlob } from '../../core/blob-store.ts';
import { newId } from '../../core/new-id.ts';
import { hashContent } from '../../core/outbound-consent.ts';
import type { Services } from '../../core/services.ts';
import { isMigrated, migrate } from '../../db/migrate.ts';
import { SYSTEM_ACTOR } from '../../domain/event-envelope.ts';
import { withdrawMessage } from '../../mail/outbound/withdraw-message.ts';
import { checkMailStore } from '../../mail/store/check.ts';
import { pruneMailStore } from '../../mail/store/housekeeping.ts';
import { arrivedMessages, arrivedUpTo } from '../../mail/store/read-messages.ts';
import { insertMailbox, type TestMailbox } from '../mail/mail-world.ts';
import { openTestServices } from '../support/services.ts';

/** The last one before drafts, scheduled mail and the order of arrival. */
const EARLIER = 'Migration20261121000010_delay_notices';
const OLD = Buffer.from(
  'From: a@b.example\r\nTo: ann@example.com\r\nTo: ben@example.com\r\nSubject: Old\r\n\r\nWords.\r\n',
);

let services: Services;
let box: TestMailbox;
const organizationId = newId('organization');
const [messageId, heldId, consentId] = [newId('message'), newId('message'), newId('consent')];

before(async () => {
  services = await openTestServices();
  const { db } = services;
  await db.pool.query('drop schema public cascade; create schema public');
  await db.orm.migrator.up({ to: EARLIER });
  await db.query(`insert into organizations (id, name, slug, plan) values ($1, 'Old', 'old', 'unlimited')`, [
    organizationId,
  ]);
  box = await insertMailbox(services, organizationId, 'old');
  await storeBlob(db, blobKey(OLD), OLD);
});
after(() => services?.close());

/** As the version of then filed a message: its reader knew the first To alone. */
async function fileOldMessage(): Promise<void> {
  const { db } = services;
  await db.query(
    `insert into message (id, mailbox_id, blob, thread_id, origin, received_at, size, from_addresses, to_addresses,
       cc_addresses, subject, preview, envelope, bodystructure, parts, attachments)
     values ($1, $2, $3, $4, 'smtp', now() - interval '40 days', $5, '[]', '[{"name": "", "address": "ann@example.com"}]',
       '[]', 'Old', 'Words.', 'old', 'old', '{"header": 0, "body": ${OLD.length - 8}, "end": ${OLD.length}}', '[]')`,
    [messageId, box.id, blobKey(OLD), newId('thread'), OLD.length],
  );
  const [inbox] = await db.query<{ id: number }>(
    `update folder set uid_next = 2, modseq = 2, total = 1, unseen = 1, bytes = $2
      where mailbox_id = $1 and special_use = '\\Inbox' returning id`,
    [box.id, OLD.length],
  );
  await db.query(
    `insert into placement (folder_id, uid, message_id, internal_date, save_date, size) values ($1, 1, $2, now(), now(), $3)`,
    [inbox?.id, messageId, OLD.length],
  );
  await db.query(`insert into placement_state (folder_id, uid, flags, keywords, modseq) values ($1, 1, 0, '{}', 2)`, [
    inbox?.id,
  ]);
  await db.query(
    `insert into change_log (mailbox_id, seq, folder_id, modseq, kind, uids) values ($1, 1, $2, 2, 'added', '{[1,1]}')`,
    [box.id, inbox?.id],
  );
  await db.query(`update mailbox_counter set bytes_used = $2, messages = 1, change_seq = 1 where mailbox_id = $1`, [
    box.id,
    OLD.length,
  ]);
}

async function holdOldMail(): Promise<void> {
  const { db } = services;
  const hash = hashContent(OLD, ['ann@example.com']);
  await db.query(
    `insert into outbound_message (id, organization_id, mailbox_id, blob, size, content_hash, message_id_header,
       from_address, to_addresses, cc_addresses, subject, preview, labels, via, actor, consent_id, state, submitted_at, due_at)
     values ($1, $2, $3, $4, $5, $6, '<old@agents.test>', 'old@agents.test', '[]', '[]', 'Old', '', '{}', 'api', $7, $8,
       'held', now(), now())`,
    [heldId, organizationId, box.id, blobKey(OLD), OLD.length, hash, JSON.stringify(SYSTEM_ACTOR), consentId],
  );
  await db.query(
    `insert into outbound_recipient (message_id, number, address, local, status) values ($1, 0, 'ann@example.com', false, 'queued')`,
    [heldId],
  );
  await db.query(
    `insert into consent (id, organization_id, mailbox_id, message_id, recipients, content_hash, subject, preview,
       expires_at, created_at)
     values ($1, $2, $3, $4, '{ann@example.com}', $5, 'Old', '', now() + interval '1 day', now())`,
    [consentId, organizationId, box.id, heldId, hash],
  );
}

test('mail, held mail and lists of an earlier version are there after the migration, as new ones are', async () => {
  const { db } = services;
  await fileOldMessage();
  await holdOldMail();
  await db.query(
    `insert into sender_list (id, organization_id, direction, action, value) values ($1, $2, 'outbound', 'block', 'köln.example')`,
    [newId('listEntry'), organizationId],
  );
  assert.equal(await isMigrated(db), false);
  await migrate(db);
  assert.equal(await isMigrated(db), true);

  assert.equal((await pruneMailStore(db)).readAgain, 1);
  const results = await checkMailStore(db, { all: true });
  assert.deepEqual(
    results.flatMap(({ examples }) => examples),
    [],
  );
  const place = { after: arrivedUpTo(-1), upToSeq: 1, limit: 10 };
  const [found] = await arrivedMessages(db, box.id, {}, place);
  assert.equal(found?.id, messageId);
  assert.deepEqual(
    found.to.map(({ address }) => address),
    ['ann@example.com', 'ben@example.com'],
  );
  assert.equal(await withdrawMessage(services, box.id, heldId, SYSTEM_ACTOR), true);
  assert.deepEqual(await db.query(`select value from sender_list`), [{ value: 'xn--kln-sna.example' }]);
});
