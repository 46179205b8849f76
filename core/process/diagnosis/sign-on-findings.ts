/** Single sign-on: whether the OpenID provider answers, and says what the service needs. */
import { discoverProvider, oidcProviderOf } from '#core/accounts/oidc/provider.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warning, error } = findingsOf('single sign-on');

export async function signOnFindings(settings: Settings): Promise<Finding[]> {
  const provider = oidcProviderOf(settings);
  if (provider === undefined) {
    if (settings.OIDC_ISSUER === undefined && settings.OIDC_CLIENT_ID === undefined) return [];
    return [
      warning(
        'Only one of OIDC_ISSUER and OIDC_CLIENT_ID is set, so nobody signs in by an OpenID provider.',
        'Set both, or none.',
      ),
    ];
  }
  const { issuer } = provider;
  try {
    const metadata = (await discoverProvider(provider)).serverMetadata();
    const missing = (['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const).filter(
      (name) => metadata[name] === undefined,
    );
    if (missing.length > 0)
      return [
        error(
          `The metadata of ${issuer} lacks ${missing.join(', ')}.`,
          'Use the issuer of an OpenID provider (OIDC_ISSUER).',
        ),
      ];
    if (metadata.code_challenge_methods_supported?.includes('S256') === false)
      return [error(`${issuer} does not support PKCE with S256.`, 'Turn it on there, or use another provider.')];
    return [ok(`The OpenID provider ${issuer} answers, and its metadata is right.`)];
  } catch (thrown) {
    return [
      error(
        `The OpenID provider ${issuer} cannot be used: ${reasonOf(thrown)}.`,
        'Check OIDC_ISSUER: it is the address that the provider itself has in its metadata, without .well-known. In production it needs TLS.',
      ),
    ];
  }
}
