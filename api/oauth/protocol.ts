/**
 * The OAuth 2.1 endpoints that programs call themselves: metadata (RFC 8414, RFC 9728), registration (RFC 7591),
 * authorization, tokens, and revocation (RFC 7009). Their forms and errors are those of OAuth, not those of the API.
 */
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { ApiContext, RequestState } from '#api/handle.ts';
import { limitOAuthRegistrations, limitOAuthTokens } from '#api/http/rate-limit.ts';
import { readBody, readText } from '#api/http/read-body.ts';
import { registerClient } from '#core/oauth/clients.ts';
import { exchangeCode, refreshTokens, revokeToken, type TokenResult } from '#core/oauth/tokens.ts';
import type { Caller } from '#core/platform/caller.ts';
import {
  ACCESS_TOKEN_LIFE_SECONDS,
  CLIENT_DOCUMENT_MAX_BYTES,
  CODE_VERIFIER,
  OAUTH_FORM_MAX_BYTES,
  OAUTH_QUERY_MAX_CHARACTERS,
  OAUTH_SCOPES,
  readRegistration,
  redirectUriOf,
  scopeOfAccess,
} from '#domain/access/oauth.ts';
import { CatalogueError } from '#domain/errors.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { parametersOf, resourceOf } from './authorization-request.ts';

export const PROTECTED_RESOURCE_PATH = '/.well-known/oauth-protected-resource/mcp';
/** The page on which a person decides. */
const CONSENT_PAGE = '/authorize';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** What a public client of this server may do. */
const PUBLIC_CLIENT = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
} as const;

/** An error in the form of RFC 6749 §5.2, and of RFC 7591 §3.2.2. */
class ProtocolError extends Error {
  readonly error: string;
  constructor(error: string, description: string) {
    super(description);
    this.error = error;
  }
}

const invalid = (description: string): ProtocolError => new ProtocolError('invalid_request', description);

function answer(context: Context, status: number, body: object): void {
  context.status = status;
  context.type = 'application/json';
  context.set('Cache-Control', 'no-store');
  context.body = JSON.stringify(body);
}

const protectedResource = (publicUrl: string): object => ({
  resource: resourceOf(publicUrl),
  authorization_servers: [publicUrl],
  scopes_supported: OAUTH_SCOPES,
  bearer_methods_supported: ['header'],
  resource_name: 'Agent Mailbox',
  resource_documentation: `${publicUrl}/docs`,
});

const authorizationServer = (publicUrl: string): object => ({
  issuer: publicUrl,
  authorization_endpoint: `${publicUrl}/oauth/authorize`,
  token_endpoint: `${publicUrl}/oauth/token`,
  revocation_endpoint: `${publicUrl}/oauth/revoke`,
  registration_endpoint: `${publicUrl}/oauth/register`,
  scopes_supported: OAUTH_SCOPES,
  response_types_supported: PUBLIC_CLIENT.response_types,
  response_modes_supported: ['query'],
  grant_types_supported: PUBLIC_CLIENT.grant_types,
  token_endpoint_auth_methods_supported: [PUBLIC_CLIENT.token_endpoint_auth_method],
  revocation_endpoint_auth_methods_supported: [PUBLIC_CLIENT.token_endpoint_auth_method],
  code_challenge_methods_supported: ['S256'],
  client_id_metadata_document_supported: true,
  authorization_response_iss_parameter_supported: true,
  service_documentation: `${publicUrl}/docs`,
});

type Form = (name: string) => string;

/** The parameters of a form; each at most once. */
async function formOf(context: Context): Promise<Form & { readonly optional: (name: string) => string | undefined }> {
  if (!context.is(FORM_TYPE)) throw invalid(`The body must be ${FORM_TYPE}.`);
  const text = await readText(context.req, OAUTH_FORM_MAX_BYTES);
  const optional = parametersOf(new URLSearchParams(text), (name) => invalid(`${name} occurs more than once.`));
  const required = (name: string): string => {
    const value = optional(name);
    if (value === undefined) throw invalid(`${name} is required.`);
    return value;
  };
  return Object.assign(required, { optional });
}

/** The body of a registration. */
async function metadataOf(context: Context): Promise<unknown> {
  try {
    return (await readBody(context.req, CLIENT_DOCUMENT_MAX_BYTES)).value;
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    throw new ProtocolError('invalid_client_metadata', error.message);
  }
}

export function addOAuth(router: Router<RequestState>, { services, publicUrl }: ApiContext): void {
  const caller = (context: Context & { readonly state: RequestState }): Caller => ({
    actor: SYSTEM_ACTOR,
    ipAddress: context.ip,
    requestId: context.state.requestId,
  });

  for (const path of ['/.well-known/oauth-protected-resource', PROTECTED_RESOURCE_PATH])
    router.get(path, (context) => answer(context, 200, protectedResource(publicUrl())));
  router.get('/.well-known/oauth-authorization-server', (context) =>
    answer(context, 200, authorizationServer(publicUrl())),
  );

  // One text for the page: its router would read `state=1e5` as a number.
  router.get('/oauth/authorize', (context) => {
    context.state.operationId = 'oauthAuthorize';
    const { querystring } = context;
    if (querystring.length > OAUTH_QUERY_MAX_CHARACTERS) {
      answer(context, 400, { error: 'invalid_request', error_description: 'The query is too long.' });
      return;
    }
    context.set('Cache-Control', 'no-store');
    context.status = 303;
    context.redirect(`${CONSENT_PAGE}?request=q${Buffer.from(querystring).toString('base64url')}`);
  });

  const endpoint = (
    name: string,
    run: (context: Context & { state: RequestState }) => Promise<void>,
    limit = limitOAuthTokens,
  ) =>
    router.post(`/oauth/${name}`, async (context) => {
      context.state.operationId = `oauth-${name}`;
      await limit(services, context.ip);
      try {
        await run(context);
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        answer(context, 400, { error: error.error, error_description: error.message });
      }
    });

  endpoint(
    'register',
    async (context) => {
      const registration = readRegistration(await metadataOf(context));
      if ('error' in registration) throw new ProtocolError(registration.error, `${registration.problem}.`);
      const { id, createdAt } = await registerClient(services, registration, context.ip);
      answer(context, 201, {
        client_id: id,
        client_id_issued_at: Math.floor(createdAt.getTime() / 1_000),
        client_name: registration.name,
        redirect_uris: registration.redirectUris,
        ...PUBLIC_CLIENT,
      });
    },
    limitOAuthRegistrations,
  );

  endpoint('token', async (context) => {
    const form = await formOf(context);
    const tokens = await tokensFor(form, caller(context));
    if ('error' in tokens) throw new ProtocolError(tokens.error, tokens.description);
    answer(context, 200, {
      access_token: tokens.accessToken,
      token_type: 'Bearer',
      expires_in: ACCESS_TOKEN_LIFE_SECONDS,
      refresh_token: tokens.refreshToken,
      scope: scopeOfAccess(tokens.access),
    });
  });

  async function tokensFor(form: Awaited<ReturnType<typeof formOf>>, by: Caller): Promise<TokenResult> {
    const resource = form.optional('resource');
    const clientId = form('client_id');
    const grantType = form('grant_type');
    if (grantType === 'refresh_token')
      return refreshTokens(services, { refreshToken: form('refresh_token'), clientId, resource }, by);
    if (grantType !== 'authorization_code')
      throw new ProtocolError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.');
    const verifier = form('code_verifier');
    if (!CODE_VERIFIER.test(verifier)) throw invalid('code_verifier must have 43 to 128 characters.');
    const exchange = {
      code: form('code'),
      clientId,
      redirectUri: redirectUriOf(form('redirect_uri')),
      verifier,
      resource,
    };
    return exchangeCode(services, exchange, by);
  }

  endpoint('revoke', async (context) => {
    const form = await formOf(context);
    await revokeToken(services, form('token'), form('client_id'), caller(context));
    // Also for unknown tokens (RFC 7009 §2.2).
    answer(context, 200, {});
  });
}
