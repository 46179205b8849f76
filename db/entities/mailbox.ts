import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { MAILBOX_STATUSES, SYNC_STATUSES, UNAUTHENTICATED_MAIL } from '#domain/organizations/mailboxes.ts';
import { SENDING_MODES } from '#domain/sending/sending-brakes.ts';
import { Organization } from './organization.ts';

/** An agent's mailbox: one address, one token. Its mail and quota counters are in the tables of the mail store. */
export const Mailbox = defineEntity({
  name: 'Mailbox',
  tableName: 'mailboxes',
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    localPart: p.text(),
    domain: p.text(),
    /** `localPart@domain`, lower-cased; unique among mailboxes that are not deleted. */
    address: p.text(),
    name: p.text(),
    purpose: p.text().nullable(),
    groupName: p.text().nullable(),
    status: p.enum(MAILBOX_STATUSES),
    syncStatus: p.enum(SYNC_STATUSES),
    /** Of the first token; a trigger keeps its row of `mailbox_token`, which logins read. */
    tokenHash: p.blob().unique(),
    metadata: p.json<Record<string, string>>().defaultRaw(`'{}'`),
    unauthenticatedMail: p.enum(UNAUTHENTICATED_MAIL).defaultRaw(`'junk'`),
    sendingMode: p.enum(SENDING_MODES).defaultRaw(`'normal'`),
    messagesPerDay: p.integer().nullable(),
    newRecipientsPerDay: p.integer().nullable(),
    clientId: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
    lastActivityAt: p.datetime().nullable(),
    deletedAt: p.datetime().nullable(),
  },
});
export type MailboxRow = InferEntity<typeof Mailbox>;
