/** An MCP host that connects by OAuth, with the client of the protocol: it keeps its tokens, and waits for the browser. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  OAuthClientInformationMixed,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from '@modelcontextprotocol/client';
import { oauthHost } from './oauth-host.ts';

export interface McpHost {
  readonly provider: OAuthClientProvider;
  /** Where the browser brings the code. */
  readonly callbackUrl: string;
  /** The page on which the person decides. */
  page(): string;
  /** What the browser brought last. */
  brought(): URLSearchParams;
  close(): void;
}

/** Anybody could call a program so. */
export const NAME_OF_REGISTERED = 'A <b>well-known</b> host';

/** Shown to the person who comes back. */
export const BACK = 'Back in the program.';

/** @param identity `document`: it has one at an address of its own; `registers`: it registers itself (RFC 7591) */
export async function startMcpHost(identity: 'document' | 'registers' = 'document'): Promise<McpHost> {
  let brought = new URLSearchParams();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    if (pathname === '/callback') brought = searchParams;
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Back</title><p>${BACK}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  let page = '';
  let client: OAuthClientInformationMixed | undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let discovery: OAuthDiscoveryState | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: callbackUrl,
    ...(identity === 'document' ? { clientMetadataUrl: (await oauthHost()).clientId } : {}),
    clientMetadata: {
      client_name: identity === 'document' ? 'Test Host' : NAME_OF_REGISTERED,
      redirect_uris: [callbackUrl],
    },
    // A number to a careless router.
    state: () => '1e5',
    clientInformation: () => client,
    saveClientInformation(next) {
      client = next;
    },
    tokens: () => tokens,
    saveTokens(next) {
      tokens = next;
    },
    codeVerifier: () => verifier,
    saveCodeVerifier(next) {
      verifier = next;
    },
    discoveryState: () => discovery,
    saveDiscoveryState(next) {
      discovery = next;
    },
    redirectToAuthorization(url) {
      page = url.href;
    },
  };
  return {
    provider,
    callbackUrl,
    page: () => page,
    brought: () => brought,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
