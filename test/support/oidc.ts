/** A real OpenID provider (oidc-provider) on this machine, where everybody signs in as who the test says. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import { type Answer, type ApiWorld, TEST_PASSWORD, textAt } from './api-world.ts';
import { kept } from './kept.ts';

export interface ProviderAccount {
  readonly subject: string;
  readonly email?: string;
  readonly verified?: boolean;
  readonly amr?: readonly string[];
}

export interface TestProvider {
  readonly issuer: string;
  /** Of OIDC_CLIENT_ID and OIDC_CLIENT_SECRET. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who signs in next. */
  signInAs(account: ProviderAccount): void;
  /** Where the browsers of this service return to. */
  allow(publicUrl: string): void;
  close(): Promise<void>;
}

const clientId = 'mailbox';
const clientSecret = 'the secret of the client of the tests';

export async function startProvider(): Promise<TestProvider> {
  let handle: ReturnType<Provider['callback']> | undefined;
  const server = createServer((request, response) => void handle?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  let current: ProviderAccount = { subject: 'nobody' };
  let allowed: string | undefined;
  const known = new Map<string, ProviderAccount>();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

  const open = (redirectUris: readonly string[]): void => {
    const configuration: Configuration = {
      clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [...redirectUris] }],
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] as never },
      cookies: { keys: ['of the tests'] },
      claims: { openid: ['sub', 'amr'], email: ['email', 'email_verified'] },
      scopes: ['openid', 'email', 'profile'],
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => {
          const account = known.get(id);
          const { email } = account ?? {};
          return {
            sub: id,
            ...(email === undefined ? {} : { email, email_verified: account?.verified ?? true }),
          };
        },
      }),
      interactions: { url: () => '/sign-in' },
      async loadExistingGrant(context) {
        const grant = new context.oidc.provider.Grant({
          clientId: context.oidc.client?.clientId ?? '',
          accountId: context.oidc.session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    };
    const provider = new Provider(issuer, configuration);
    const answers = provider.callback();
    handle = async (request, response) => {
      if (request.url?.startsWith('/sign-in') !== true) return answers(request, response);
      known.set(current.subject, current);
      const { subject: accountId, amr } = current;
      const result = { login: { accountId, ...(amr === undefined ? {} : { amr: [...amr] }) } };
      await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    };
  };
  open([`${issuer}/unused`]);
  return {
    issuer,
    clientId,
    clientSecret,
    signInAs(account) {
      current = account;
    },
    // What was begun at a provider is known to it alone.
    allow(publicUrl) {
      if (publicUrl !== allowed) open([`${publicUrl}/sign-in/oidc`]);
      allowed = publicUrl;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const keptProvider = kept(startProvider, (provider) => provider.close());

/** A provider for a world, whose settings name it from then on. */
export async function useProvider(world: ApiWorld, more: object = {}): Promise<TestProvider> {
  const provider = await keptProvider();
  provider.allow(world.api.url);
  Object.assign(world.services.settings, {
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    ...more,
  });
  return provider;
}

/** What a browser does at the provider: it follows redirects, with cookies, until it is led back. @returns the query */
export async function browseProvider(url: string): Promise<string> {
  const cookies = new Map<string, string>();
  let next = url;
  for (let hop = 0; hop < 10; hop++) {
    const answer = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const each of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    assert.ok(location !== null, `${answer.status} of ${next}: ${await answer.text()}`);
    const target = new URL(location, next);
    if (target.pathname === '/sign-in/oidc') return target.search.slice(1);
    next = target.href;
  }
  throw new Error('the provider leads nowhere');
}

export interface Begun {
  readonly url: string;
  readonly browserKey: string;
}

export async function beginAtProvider(world: ApiWorld): Promise<Begun> {
  const begun = await world.call('POST', '/api/sessions/oidc/begin');
  assert.equal(begun.status, 201, begun.text);
  return { url: textAt(begun.body, 'url'), browserKey: textAt(begun.body, 'browserKey') };
}

/** From the sign-in page to the provider and back. @returns what the browser sends then */
export async function returned(world: ApiWorld): Promise<{ readonly query: string; readonly browserKey: string }> {
  const { url, browserKey } = await beginAtProvider(world);
  return { query: await browseProvider(url), browserKey };
}

export const finish = async (world: ApiWorld): Promise<Answer> =>
  world.call('POST', '/api/sessions/oidc', { body: await returned(world) });

/** Somebody whose account is linked. */
export async function linkedPerson(world: ApiWorld, organizationId = world.organization.id) {
  const person = await world.newPerson(organizationId, 'member');
  const provider = await useProvider(world);
  const subject = `subject of ${person.userId}`;
  provider.signInAs({ subject, email: person.email });
  const first = await finish(world);
  assert.equal(first.status, 200, first.text);
  const body = { link: textAt(first.body, 'link'), password: TEST_PASSWORD };
  const linked = await world.call('POST', '/api/sessions/oidc/link', { body });
  assert.equal(linked.status, 201, linked.text);
  return { ...person, subject, provider };
}
