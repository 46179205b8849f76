/** Fetches the document that describes a program, from the address that is its id. Both are given by a stranger. */
import { readFile } from 'node:fs/promises';
import type { Services } from '#core/platform/process/services.ts';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import {
  CLIENT_DOCUMENT_MAX_BYTES,
  CLIENT_DOCUMENT_TIMEOUT_MS,
  type OAuthClient,
  problemOfClientId,
  readClientDocument,
} from '#domain/access/oauth.ts';
import { CatalogueError } from '#domain/errors.ts';
import { downloadPublic } from '#mailstore/messages/public-download.ts';

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json$/;

/** About a parameter of the authorization request. */
export const wrongParameter = (name: string, message: string): CatalogueError =>
  new CatalogueError('invalid_request', `The request of the program is not valid.`, {
    details: [{ path: `/query/${name}`, message }],
    fix: 'Report it to the maker of the program, or connect it with a mailbox token.',
  });

/** @throws {CatalogueError} invalid_request, with the reason */
export async function fetchClient({ settings }: Services, clientId: string): Promise<OAuthClient> {
  const problem = problemOfClientId(clientId);
  if (problem !== undefined) throw wrongParameter('client_id', problem);
  const extraCa = settings.WEBHOOK_EXTRA_CA;
  const fetched = await downloadPublic(clientId, {
    policy: destinationPolicy(settings),
    extraCa: extraCa === undefined ? undefined : [await readFile(extraCa, 'utf8')],
    timeoutMs: CLIENT_DOCUMENT_TIMEOUT_MS,
    maxBytes: CLIENT_DOCUMENT_MAX_BYTES,
    // The id of the client is the address of the document, so a redirect would be another client.
    redirectsMax: 0,
    headers: { accept: 'application/json', 'user-agent': 'agent-mailbox' },
    accepts: (contentType) => JSON_TYPE.test(contentType),
    unwanted: 'it is not JSON',
  });
  if (!fetched.ok) throw wrongParameter('client_id', `the document could not be fetched: ${fetched.reason}`);
  const client = readClientDocument(clientId, parsed(fetched.bytes));
  if ('problem' in client) throw wrongParameter('client_id', `the document cannot be used: ${client.problem}`);
  return client;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
