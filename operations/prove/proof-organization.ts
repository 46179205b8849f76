/** The organization of a proof: its own mailboxes, key and endpoint, made before and erased after. */
import { randomBytes } from 'node:crypto';
import { erase, organizationTarget } from '#administration/erasure/erase.ts';
import { createMailbox } from '#core/mailboxes/create-mailbox.ts';
import { OPERATOR } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { credentialHint, hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { API_SCOPES } from '#domain/access/api-scopes.ts';
import { CommandError } from '#operations/command.ts';

export interface ProofOrganization {
  readonly id: string;
  readonly apiKey: string;
  readonly addresses: readonly string[];
}

const MAILBOXES = 5;

/** Nobody is a member of it, and nobody is written to. Its mail is not screened: that of a load looks like a load. */
export async function makeProofOrganization(services: Services): Promise<ProofOrganization> {
  const { db, pepper } = services;
  const id = newId('organization');
  const slug = `prove-${randomBytes(6).toString('hex')}`;
  const apiKey = newCredential('apiKey');
  await db.transaction(async (sql) => {
    await sql.query(`insert into organizations (id, name, slug, plan, settings) values ($1, $2, $2, 'unlimited', $3)`, [
      id,
      slug,
      JSON.stringify({ screening: 'off' }),
    ]);
    await sql.query(
      `insert into api_keys (id, organization_id, name, key_hash, key_hint, scopes) values ($1, $2, 'Proof', $3, $4, $5)`,
      [newId('apiKey'), id, hashCredential(apiKey, pepper), credentialHint(apiKey), [...API_SCOPES]],
    );
  });
  const addresses: string[] = [];
  for (let made = 0; made < MAILBOXES; made++) {
    const { mailbox } = await createMailbox(services, { id, name: slug, slug, plan: 'unlimited' }, OPERATOR, {});
    addresses.push(mailbox.address);
  }
  return { id, apiKey, addresses };
}

/** @returns id of the erasure */
export async function eraseProofOrganization(services: Services, id: string): Promise<string> {
  const target = await organizationTarget(services.db, id);
  const { statement } = await erase(services, target, { backups: undefined, onPortion: () => {}, despiteHolds: false });
  return statement.id;
}

export const PROOF_EVENT_TYPES = ['email_received', 'mailbox_created'] as const;

/** An endpoint for everything that the load makes. @throws {CommandError} with the answer of the service */
export async function makeEndpoint(
  apiUrl: string,
  apiKey: string,
  url: string,
): Promise<{ readonly id: string; readonly secret: string }> {
  const response = await fetch(new URL('/api/webhooks', apiUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-organization-key': apiKey },
    body: JSON.stringify({ url, eventTypes: PROOF_EVENT_TYPES }),
  });
  const text = await response.text();
  if (response.status !== 201)
    throw new CommandError(
      `the service refuses the endpoint ${url}: ${text.slice(0, 500)}\nIn production the receiver needs a public address: --receiver-url`,
    );
  return JSON.parse(text) as { id: string; secret: string };
}
