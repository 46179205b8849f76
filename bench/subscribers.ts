import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { credentialHint, hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { newWebhookSecret, webhookSecretHint, webhookSecretPlace } from '#core/webhooks/signing/webhook-signature.ts';
import type { Database } from '#db/database.ts';
import { createMailFolders, createMailFoldersOfAll } from '#db/queries/mailboxes/mail-folders.ts';
import { API_SCOPES } from '#domain/access/api-scopes.ts';
import type { EnvelopeMailbox, EnvelopeOrganization } from '#domain/webhooks/event-types.ts';

const QUOTA_BYTES = 1e12;

/** An organization with mailboxes in which the load makes something happen, and its endpoints. */
export interface Subscriber {
  readonly organization: EnvelopeOrganization;
  readonly mailboxes: readonly EnvelopeMailbox[];
  readonly endpointIds: readonly string[];
  readonly apiKey: string;
}

export interface SubscriberShape {
  readonly organizations: number;
  readonly mailboxesEach: number;
  /** Endpoints of the organization with this number. */
  readonly urls: (organization: number) => readonly string[];
}

export const SUBSCRIBER_MAIL_DOMAIN = 'agents.test';

/** Writes organizations on the plan `unlimited`. */
export async function createSubscribers(services: Services, shape: SubscriberShape): Promise<Subscriber[]> {
  const { db, secrets, pepper } = services;
  const subscribers = Array.from({ length: shape.organizations }, (_, n) => {
    const organization = {
      id: newId('organization'),
      name: `Organization ${n}`,
      slug: newId('organization').slice(-16),
    };
    const mailboxes = Array.from({ length: shape.mailboxesEach }, () => {
      const id = newId('mailbox');
      const localPart = `agent-${id.slice(-12)}`;
      const domain = SUBSCRIBER_MAIL_DOMAIN;
      return { id, name: 'Agent', address: `${localPart}@${domain}`, localPart, domain };
    });
    const endpointUrls = shape.urls(n);
    return {
      organization,
      mailboxes,
      endpointUrls,
      endpointIds: endpointUrls.map(() => newId('webhookEndpoint')),
      apiKeyId: newId('apiKey'),
      apiKey: newCredential('apiKey'),
    };
  });
  const mailboxes = subscribers.flatMap(({ organization, mailboxes }) =>
    mailboxes.map((mailbox) => ({ ...mailbox, organizationId: organization.id })),
  );
  const endpoints = subscribers.flatMap(({ organization, endpointIds, endpointUrls }) =>
    endpointIds.map((id, n) => {
      const secret = newWebhookSecret();
      return {
        id,
        organizationId: organization.id,
        url: endpointUrls[n],
        sealed: secrets.seal(secret, webhookSecretPlace(id)),
        hint: webhookSecretHint(secret),
      };
    }),
  );
  await db.transaction(async (sql) => {
    await sql.query(
      `insert into organizations (id, name, slug, plan) select id, name, slug, 'unlimited'
         from unnest($1::text[], $2::text[], $3::text[]) as o(id, name, slug)`,
      [
        subscribers.map(({ organization }) => organization.id),
        subscribers.map(({ organization }) => organization.name),
        subscribers.map(({ organization }) => organization.slug),
      ],
    );
    await sql.query(
      `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash)
       select id, organization_id, local_part, domain, address, 'Agent', 'active', 'synced', id::bytea
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
              as m(id, organization_id, local_part, domain, address)`,
      [
        mailboxes.map(({ id }) => id),
        mailboxes.map(({ organizationId }) => organizationId),
        mailboxes.map(({ localPart }) => localPart),
        mailboxes.map(({ domain }) => domain),
        mailboxes.map(({ address }) => address),
      ],
    );
    await createMailFoldersOfAll(
      sql,
      mailboxes.map(({ id }) => ({ mailboxId: id, quotaBytes: QUOTA_BYTES })),
    );
    await sql.query(
      `insert into api_keys (id, organization_id, name, key_hash, key_hint, scopes, created_by)
       select id, organization_id, 'Load', key_hash, key_hint, $5, 'bench'
         from unnest($1::text[], $2::text[], $3::bytea[], $4::text[]) as k(id, organization_id, key_hash, key_hint)`,
      [
        subscribers.map(({ apiKeyId }) => apiKeyId),
        subscribers.map(({ organization }) => organization.id),
        subscribers.map(({ apiKey }) => hashCredential(apiKey, pepper)),
        subscribers.map(({ apiKey }) => credentialHint(apiKey)),
        API_SCOPES,
      ],
    );
    await sql.query(
      `insert into webhook_endpoints (id, organization_id, url, event_types, secret_sealed, secret_prefix)
       select id, organization_id, url, array['email_received', 'mailbox_created'], sealed, hint
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
              as e(id, organization_id, url, sealed, hint)`,
      [
        endpoints.map((endpoint) => endpoint.id),
        endpoints.map((endpoint) => endpoint.organizationId),
        endpoints.map((endpoint) => endpoint.url),
        endpoints.map((endpoint) => endpoint.sealed),
        endpoints.map((endpoint) => endpoint.hint),
      ],
    );
  });
  return subscribers;
}

/** Settings of a mail process whose listeners choose their ports. */
export const FREE_LISTENER_PORTS: Readonly<Record<string, string>> = Object.fromEntries(
  ['SMTP', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'POP3', 'POP3S'].map((listener) => [`${listener}_PORT`, '0']),
);

/** Writes a mailbox of an organization that is there. @returns its address */
export async function insertMailbox(
  db: Database,
  organizationId: string,
  localPart: string,
  domain: string,
  tokenHash: Buffer,
): Promise<string> {
  const [id, address] = [newId('mailbox'), `${localPart}@${domain}`];
  await db.transaction(async (sql) => {
    await sql.query(
      `insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash)
       values ($1, $2, $3, $4, $5, $3, 'active', 'synced', $6)`,
      [id, organizationId, localPart, domain, address, tokenHash],
    );
    await createMailFolders(sql, id, QUOTA_BYTES);
  });
  return address;
}
