/** Sign-in by an OpenID provider that the operator has set (OpenID Connect Core 1.0). */

/** From the begin to the return of the browser, and from there to the password that links the account. */
export const OIDC_SIGN_IN_LIFE_SECONDS = 600;
/** Sign-ins that a source address may begin within the window of wrong passwords. */
export const OIDC_SIGN_INS_PER_SOURCE = 60;
/** For each request to the provider. */
export const OIDC_TIMEOUT_SECONDS = 10;
/** Largest answer of the provider: its metadata, keys and tokens. */
export const OIDC_ANSWER_MAX_BYTES = 512 * 1024;
/** How long its metadata and keys are used before they are asked for again. */
export const OIDC_METADATA_LIFE_SECONDS = 3_600;
/** Answers that a process keeps; of more the oldest are dropped. */
export const OIDC_ANSWERS_KEPT_MAX = 1_000;
/** Longest query with which a browser returns. */
export const OIDC_QUERY_MAX_CHARACTERS = 8_192;
/** Longest subject (OpenID Connect Core 1.0 §2). */
export const OIDC_SUBJECT_MAX_CHARACTERS = 255;

/** What the provider says about a person, as far as it matters here. */
export interface OidcClaims {
  readonly subject: string;
  /** In lower case; null: none, or one that the provider has not verified. */
  readonly email: string | null;
  /** Names of what the person was recognized by: `amr` and `acr`. */
  readonly methods: readonly string[];
}

/** Whether people of this address may sign in. @param domains empty: all */
export const isOfDomains = (email: string | null, domains: readonly string[]): boolean =>
  domains.length === 0 ||
  (email !== null && domains.some((domain) => domain.toLowerCase() === email.slice(email.lastIndexOf('@') + 1)));
