/** A program that asks for a mailbox by OAuth, as MCP hosts do: its document on a server of its own, and its requests. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { type Answer, type ApiWorld, asBearer, type Credential, textAt } from './api-world.ts';
import { kept } from './kept.ts';
import { startReceiver } from './receiver.ts';

const keptHost = kept(startReceiver, (host) => host.close());

/** Where the browser brings the code; nothing listens there unless a test does. */
export const CALLBACK = 'http://127.0.0.1:33418/callback';

export interface OAuthHost {
  /** The address of its document. */
  readonly clientId: string;
}

/** Serves a document for a program. @param more fields of it, also in place of usual ones */
export async function oauthHost(more: object = {}): Promise<OAuthHost> {
  const host = await keptHost();
  const clientId = new URL('/client.json', host.url).href;
  const document = {
    client_id: clientId,
    client_name: 'Test Host',
    redirect_uris: ['http://127.0.0.1/callback', 'https://host.example/callback', 'cursor://test/callback'],
    token_endpoint_auth_method: 'none',
    ...more,
  };
  host.answer((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document)),
  );
  return { clientId };
}

/** The answers of the host from now on, for hosts that do not serve a document. */
export async function answerOfHost(status: number, headers: Readonly<Record<string, string>>, body: string) {
  (await keptHost()).answer((response) => response.writeHead(status, headers).end(body));
}

/** A program that asks: its secret of PKCE and the parameters of its request. */
export interface Asking {
  readonly verifier: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export function asking({ clientId }: OAuthHost, url: string, more: Readonly<Record<string, string>> = {}): Asking {
  const verifier = randomBytes(32).toString('base64url');
  return {
    verifier,
    parameters: {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: CALLBACK,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: `${url}/mcp`,
      state: '1e5',
      ...more,
    },
  };
}

export const beginRequest = (world: ApiWorld, as: Credential, parameters: Readonly<Record<string, string>>) =>
  world.call('POST', '/api/oauth/requests', { as, body: { query: String(new URLSearchParams(parameters)) } });

/** Posts a form, as programs do. */
export async function postForm(
  url: string,
  parameters: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: unknown; readonly headers: Headers }> {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams({ ...parameters }) });
  return { status: answer.status, body: await answer.json(), headers: answer.headers };
}

/** A person lets the program in. @returns the code, and what belongs to it */
export async function givenCode(
  world: ApiWorld,
  as: Credential,
  mailboxId: string,
  access: 'full' | 'read' | 'send' = 'full',
) {
  const host = await oauthHost();
  const { verifier, parameters } = asking(host, world.api.url);
  const begun = await beginRequest(world, as, parameters);
  assert.equal(begun.status, 201, begun.text);
  const decided: Answer = await world.call('POST', `/api/oauth/requests/${textAt(begun.body, 'id')}/decide`, {
    as,
    body: { approve: true, mailboxId, access },
  });
  assert.equal(decided.status, 200, decided.text);
  const redirect = new URL(textAt(decided.body, 'redirectUrl'));
  const code = redirect.searchParams.get('code') ?? '';
  const form = {
    grant_type: 'authorization_code',
    code,
    client_id: host.clientId,
    redirect_uri: CALLBACK,
    code_verifier: verifier,
    resource: `${world.api.url}/mcp`,
  };
  return { host, redirect, form };
}

export interface GivenTokens {
  readonly clientId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly credential: Credential;
}

export async function givenTokens(
  world: ApiWorld,
  as: Credential,
  mailboxId: string,
  access: 'full' | 'read' | 'send' = 'full',
): Promise<GivenTokens> {
  const { host, form } = await givenCode(world, as, mailboxId, access);
  const answer = await postForm(`${world.api.url}/oauth/token`, form);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const accessToken = textAt(answer.body, 'access_token');
  return {
    clientId: host.clientId,
    accessToken,
    refreshToken: textAt(answer.body, 'refresh_token'),
    credential: asBearer(accessToken),
  };
}
