import { newId } from '../core/new-id.ts';
import type { Services } from '../core/services.ts';
import { webhookSecretPlace } from '../core/webhook-secrets.ts';
import { newWebhookSecret, webhookSecretHint } from '../core/webhook-signature.ts';
import type { EnvelopeMailbox, EnvelopeOrganization } from '../domain/event-envelope.ts';

/** An organization with a mailbox in which the load makes something happen, and its endpoints. */
export interface Subscriber {
  readonly organization: EnvelopeOrganization;
  readonly mailbox: EnvelopeMailbox;
  readonly endpointIds: readonly string[];
}

/** Writes organizations on the plan `unlimited`, each with a mailbox and an endpoint for every URL. */
export async function createSubscribers(
  { db, secrets }: Services,
  count: number,
  urls: readonly string[],
): Promise<Subscriber[]> {
  const subscribers = Array.from({ length: count }, (_, n) => {
    const organization = {
      id: newId('organization'),
      name: `Organization ${n}`,
      slug: newId('organization').slice(-16),
    };
    const id = newId('mailbox');
    const localPart = `agent-${id.slice(-12)}`;
    const mailbox = { id, name: 'Agent', address: `${localPart}@agents.test`, localPart, domain: 'agents.test' };
    return { organization, mailbox, endpointIds: urls.map(() => newId('webhookEndpoint')) };
  });
  const endpoints = subscribers.flatMap(({ organization, endpointIds }) =>
    endpointIds.map((id, n) => {
      const secret = newWebhookSecret();
      return {
        id,
        organizationId: organization.id,
        url: urls[n],
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
       select id, organization_id, local_part, 'agents.test', address, 'Agent', 'active', 'synced', id::bytea
         from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as m(id, organization_id, local_part, address)`,
      [
        subscribers.map(({ mailbox }) => mailbox.id),
        subscribers.map(({ organization }) => organization.id),
        subscribers.map(({ mailbox }) => mailbox.localPart),
        subscribers.map(({ mailbox }) => mailbox.address),
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

/** Sets every endpoint inactive, so that nothing of an earlier run disturbs the next. */
export async function retire({ db }: Services, subscribers: readonly Subscriber[]): Promise<void> {
  await db.query('update webhook_endpoints set active = false where id = any($1)', [
    subscribers.flatMap(({ endpointIds }) => endpointIds),
  ]);
}
