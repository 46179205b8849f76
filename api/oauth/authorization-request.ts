/**
 * The parameters of an authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707 §2), and the document that
 * describes its program, fetched from the address that is its id. Both are given by a stranger.
 */
import { readFile } from 'node:fs/promises';
import { useRegisteredClient } from '#core/oauth/clients.ts';
import type { NewOAuthRequest } from '#core/oauth/requests.ts';
import type { Services } from '#core/platform/process/services.ts';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import {
  accessesFor,
  CLIENT_DOCUMENT_MAX_BYTES,
  CLIENT_DOCUMENT_TIMEOUT_MS,
  CODE_CHALLENGE,
  isRegistered,
  isRegistrationId,
  OAUTH_STATE,
  OAUTH_STATE_MAX_CHARACTERS,
  type OAuthClient,
  problemOfClientId,
  readClientDocument,
  redirectUriOf,
} from '#domain/access/oauth.ts';
import { CatalogueError } from '#domain/errors.ts';
import { downloadPublic } from '#mailstore/messages/public-download.ts';

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json$/;

/** About a parameter of the authorization request. */
const wrongParameter = (name: string, message: string): CatalogueError =>
  new CatalogueError('invalid_request', `The request of the program is not valid.`, {
    details: [{ path: `/query/${name}`, message }],
    fix: 'Report it to the maker of the program, or connect it with a mailbox token.',
  });

/** @throws {CatalogueError} invalid_request, with the reason */
async function fetchClient({ settings }: Services, clientId: string): Promise<OAuthClient> {
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

const KNOWN = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'resource',
] as const;
type Parameter = (typeof KNOWN)[number];

/** What the tokens are for: the MCP endpoint of this service. */
export const resourceOf = (publicUrl: string): string => `${publicUrl}/mcp`;

/**
 * Each parameter at most once, or the program and this service could read different ones (RFC 6749 §3.1).
 *
 * @returns undefined for one that is absent or empty
 */
export function parametersOf(search: URLSearchParams, onRepeated: (name: string) => Error) {
  return (name: string): string | undefined => {
    const values = search.getAll(name);
    if (values.length > 1) throw onRepeated(name);
    return values[0] === '' ? undefined : values[0];
  };
}

/** @throws {CatalogueError} invalid_request, with the reason */
async function clientOf(services: Services, clientId: string): Promise<OAuthClient> {
  if (!isRegistrationId(clientId)) return fetchClient(services, clientId);
  const client = await useRegisteredClient(services, clientId);
  if (client === undefined)
    throw wrongParameter(
      'client_id',
      'is no registration here, or expired: remove the server in the program, add it again',
    );
  return client;
}

/**
 * Checks a request and fetches the document of its client. Until the redirect URI is known to belong to the client,
 * nothing is sent back to the program.
 *
 * @param query as the browser sent it
 * @throws {CatalogueError} invalid_request
 */
export async function readAuthorizationRequest(
  services: Services,
  query: string,
  publicUrl: string,
): Promise<NewOAuthRequest> {
  const value: (name: Parameter) => string | undefined = parametersOf(new URLSearchParams(query), (name) =>
    wrongParameter(name, 'occurs more than once'),
  );
  const required = (name: Parameter): string => {
    const text = value(name);
    if (text === undefined) throw wrongParameter(name, 'is required');
    return text;
  };
  const clientId = required('client_id');
  const redirectUri = redirectUriOf(required('redirect_uri'));
  if (required('response_type') !== 'code') throw wrongParameter('response_type', 'must be code');
  const codeChallenge = required('code_challenge');
  if (value('code_challenge_method') !== 'S256') throw wrongParameter('code_challenge_method', 'must be S256');
  if (!CODE_CHALLENGE.test(codeChallenge)) throw wrongParameter('code_challenge', 'must be a SHA-256 in base64url');
  const state = value('state');
  if (state !== undefined && state.length > OAUTH_STATE_MAX_CHARACTERS)
    throw wrongParameter('state', `must have at most ${OAUTH_STATE_MAX_CHARACTERS} characters`);
  if (state !== undefined && !OAUTH_STATE.test(state)) throw wrongParameter('state', 'must be visible ASCII');
  const resource = resourceOf(publicUrl);
  if ((value('resource') ?? resource) !== resource) throw wrongParameter('resource', `must be ${resource}`);
  const accesses = accessesFor(value('scope'));
  const client = await clientOf(services, clientId);
  if (redirectUri === undefined || !isRegistered(client, redirectUri))
    throw wrongParameter('redirect_uri', 'is not one of the program');
  return { client, redirectUri, state, codeChallenge, resource, accesses };
}
