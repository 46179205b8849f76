/**
 * Signing in by the OpenID provider of the installation:
 *
 *   begin: state, and a key that only this browser has ─▶ provider ─▶ return, once, within ten minutes
 *     known subject ─▶ session, or the second step
 *     verified address of an account ─▶ its password, once ─▶ linked ─▶ session, or the second step
 *
 * An account is linked to issuer and subject, never to an address: whoever gets the address later is somebody else. The
 * first time its password is asked for, so that a provider cannot take accounts over.
 */
import { randomBytes } from 'node:crypto';
import { recordFactorChange } from '#core/accounts/second-factor/record-change.ts';
import { type SignInStep, stepAfterPassword } from '#core/accounts/second-factor/sign-in-challenge.ts';
import { type SignInOrigin, userCaller } from '#core/accounts/sessions.ts';
import { requireActive, verifySignIn } from '#core/accounts/sign-in.ts';
import { sourceOf } from '#core/platform/addresses/source-address.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { loginsTotal } from '#core/platform/log/metrics.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential } from '#core/platform/secrets/credentials.ts';
import { type Sql, sqlOfEntityManager } from '#db/database.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import { SIGN_IN_WINDOW_SECONDS } from '#domain/access/credential-format.ts';
import { isOfDomains, OIDC_SIGN_IN_LIFE_SECONDS, OIDC_SIGN_INS_PER_SOURCE } from '#domain/access/oidc.ts';
import { CatalogueError } from '#domain/errors.ts';
import { authorizationUrl, claimsOf, type OidcProvider, oidcProviderOf, type SignInSecrets } from './provider.ts';

const SECRET_BYTES = 32;
const UNAVAILABLE_SECONDS = 10;

/** The page to which the provider leads back. */
export const oidcReturnUrl = (publicUrl: string): string => `${publicUrl}/sign-in/oidc`;

/** @throws {CatalogueError} not_found: the operator has set none */
function requireProvider({ settings }: Services): OidcProvider {
  const provider = oidcProviderOf(settings);
  if (provider === undefined)
    throw new CatalogueError('not_found', 'This service has no single sign-on.', {
      fix: 'Sign in with your password.',
    });
  return provider;
}

/** Nonce and verifier follow from the key of the browser and the pepper, so they are stored nowhere. */
function secretsOf({ pepper }: Services, state: string, browserKey: string): SignInSecrets {
  const of = (what: string) => hashCredential(`oidc ${what} ${state} ${browserKey}`, pepper).toString('base64url');
  return { state, nonce: of('nonce'), verifier: of('verifier') };
}

/** @throws {CatalogueError} not_found, rate_limited, unavailable */
export async function beginOidcSignIn(
  services: Services,
  ipAddress: string,
  publicUrl: string,
): Promise<{ readonly url: string; readonly browserKey: string }> {
  const { db, now, pepper, log } = services;
  const provider = requireProvider(services);
  const counter = `oidc:address:${sourceOf(ipAddress)}`;
  const { used, resetsInMs } = await countUse(db, counter, SIGN_IN_WINDOW_SECONDS * 1_000, now());
  if (used > OIDC_SIGN_INS_PER_SOURCE)
    throw new CatalogueError('rate_limited', undefined, {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
  const [state, browserKey] = [SECRET_BYTES, SECRET_BYTES].map((bytes) => randomBytes(bytes).toString('base64url'));
  if (state === undefined || browserKey === undefined) throw new Error('two texts are made above');
  const secrets = secretsOf(services, state, browserKey);
  const url = await authorizationUrl(provider, secrets, oidcReturnUrl(publicUrl), now()).catch((error: unknown) => {
    log.warn({ issuer: provider.issuer, reason: reasonOf(error) }, 'the OpenID provider does not answer');
    throw new CatalogueError('unavailable', `${provider.name} does not answer.`, {
      fix: 'Try again in a moment, or sign in with your password.',
      retryAfterSeconds: UNAVAILABLE_SECONDS,
    });
  });
  const nowMs = now();
  await db.transaction((sql) =>
    sql.query(
      `insert into oidc_sign_ins (id, state_hash, browser_hash, created_at, expires_at) values ($1, $2, $3, $4, $5)`,
      [
        newId('oidcSignIn', nowMs),
        hashCredential(state, pepper),
        hashCredential(browserKey, pepper),
        new Date(nowMs),
        endOf(nowMs),
      ],
    ),
  );
  return { url, browserKey };
}

const endOf = (nowMs: number): Date => new Date(nowMs + OIDC_SIGN_IN_LIFE_SECONDS * 1_000);

const refused = (message: string, fix = 'Begin again on the sign-in page, or sign in with your password.') =>
  new CatalogueError('unauthenticated', message, { fix });

/** The account has this address and is not linked yet: its password is asked for. */
export interface OidcLink {
  /** Shown this once. */
  readonly token: string;
  readonly email: string;
  readonly expiresAt: Date;
}

export type OidcStep = SignInStep | { readonly link: OidcLink };

interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/**
 * Takes what a browser returned with.
 *
 * @param input.query of the address to which the provider led back
 * @throws {CatalogueError} not_found; unauthenticated (refused by the provider, too late, another browser, no account);
 *   forbidden, if all organizations of the person are suspended
 */
export async function finishOidcSignIn(
  services: Services,
  input: { readonly query: string; readonly browserKey: string },
  publicUrl: string,
  origin: SignInOrigin & { readonly ipAddress: string },
): Promise<OidcStep> {
  const { db, pepper, now, log, mailLog } = services;
  const provider = requireProvider(services);
  try {
    const parameters = new URLSearchParams(input.query);
    const state = parameters.get('state') ?? '';
    const hashes = [hashCredential(state, pepper), hashCredential(input.browserKey, pepper)];
    const ended = () => refused('The sign-in took too long, or began in another browser.');
    const [begun] = await db.query<{ id: string }>(
      `select id from oidc_sign_ins where state_hash = $1 and browser_hash = $2 and expires_at > $3`,
      [...hashes, new Date(now())],
    );
    if (begun === undefined) throw ended();
    if (parameters.has('error')) throw refused(`${provider.name} did not sign you in.`);
    const returnedTo = new URL(`${oidcReturnUrl(publicUrl)}?${parameters.toString()}`);
    const claims = await claimsOf(provider, secretsOf(services, state, input.browserKey), returnedTo, now()).catch(
      (error: unknown) => {
        log.warn({ issuer: provider.issuer, reason: reasonOf(error) }, 'an answer of the OpenID provider was refused');
        throw refused(`The answer of ${provider.name} was not accepted.`);
      },
    );
    if (!isOfDomains(claims.email, provider.domains))
      throw refused(
        `People of your address do not sign in by ${provider.name} here.`,
        'Sign in with your password, or ask the operator of this service.',
      );
    const isProven = claims.methods.some((method) => provider.secondFactor.includes(method));
    const end = async (sql: Sql) => {
      const taken = await sql.query(`delete from oidc_sign_ins where id = $1 returning 1`, [begun.id]);
      if (taken.length === 0) throw ended();
    };
    const step = await stepOf(services, provider, { ...claims, isProven }, origin, end);
    loginsTotal.inc({ protocol: 'web', outcome: 'passed' });
    return step;
  } catch (error) {
    if (error instanceof CatalogueError && error.code === 'unauthenticated') {
      loginsTotal.inc({ protocol: 'web', outcome: 'failed' });
      const reply = `single sign-on: ${error.message}`;
      mailLog.refused({ mail: 'login', outcome: 'refused', listener: 'sign-in', client: origin.ipAddress, reply });
    }
    throw error;
  }
}

interface Recognized {
  readonly subject: string;
  readonly email: string | null;
  /** The provider recognized the person by what counts as second factor. */
  readonly isProven: boolean;
}

/** @param end of the sign-in that the browser began, in the transaction of what follows from it: it counts once */
async function stepOf(
  services: Services,
  { issuer, name }: OidcProvider,
  { subject, email, isProven }: Recognized,
  origin: SignInOrigin,
  end: (sql: Sql) => Promise<void>,
): Promise<OidcStep> {
  const { db, now, pepper } = services;
  const [known] = await db.query<Person>(
    `select u.id, u.name, u.email from oidc_identities i join users u on u.id = i.user_id
      where i.issuer = $1 and i.subject = $2`,
    [issuer, subject],
  );
  if (known !== undefined) {
    await requireActive(db, known.id);
    return db.entityTransaction(async (em) => {
      const sql = sqlOfEntityManager(em);
      await end(sql);
      // Held until the commit: an identity that is removed at the same time opens nothing.
      const held = await sql.query(
        `update oidc_identities set last_used_at = $3 where issuer = $1 and subject = $2 returning 1`,
        [issuer, subject, new Date(now())],
      );
      if (held.length === 0) throw refused(`Your account is not linked to ${name} any more.`);
      return stepAfterPassword(services, em, known, origin, { isProven });
    });
  }
  const [account] =
    email === null ? [] : await db.query<Person>(`select id, name, email from users where email = $1`, [email]);
  if (account === undefined)
    throw refused(
      email === null ? `${name} has not verified an address of you.` : `There is no account of ${email} here.`,
      'Ask an admin of an organization to invite you. Accept the invitation, and sign in this way then.',
    );
  const token = randomBytes(SECRET_BYTES).toString('base64url');
  const nowMs = now();
  const expiresAt = endOf(nowMs);
  await db.transaction(async (sql) => {
    await end(sql);
    await sql.query(
      `insert into oidc_sign_ins (id, state_hash, browser_hash, user_id, issuer, subject, is_proven, created_at, expires_at)
       values ($1, $2, $2, $3, $4, $5, $6, $7, $8)`,
      [
        newId('oidcSignIn', nowMs),
        hashCredential(`link ${token}`, pepper),
        account.id,
        issuer,
        subject,
        isProven,
        new Date(nowMs),
        expiresAt,
      ],
    );
  });
  return { link: { token, email: account.email, expiresAt } };
}

/**
 * Links an account by its password and, if it has one, its second factor: then the link is made by the second step.
 *
 * @throws {CatalogueError} unauthenticated, rate_limited, forbidden, as at sign-in
 */
export async function linkOidc(
  services: Services,
  input: { readonly link: string; readonly password: string },
  origin: SignInOrigin & { readonly ipAddress: string },
): Promise<SignInStep> {
  const { db, pepper, now } = services;
  const hash = hashCredential(`link ${input.link}`, pepper);
  const tooLate = () => refused('This took too long.');
  const [waiting] = await db.query<{ email: string }>(
    `select u.email from oidc_sign_ins s join users u on u.id = s.user_id where s.state_hash = $1 and s.expires_at > $2`,
    [hash, new Date(now())],
  );
  if (waiting === undefined) throw tooLate();
  const { user } = await verifySignIn(services, { ...waiting, password: input.password }, origin.ipAddress);
  return db.entityTransaction(async (em) => {
    const sql = sqlOfEntityManager(em);
    const [taken] = await sql.query<{ issuer: string; subject: string; isProven: boolean }>(
      `delete from oidc_sign_ins where state_hash = $1 and user_id = $2
       returning issuer, subject, is_proven as "isProven"`,
      [hash, user.id],
    );
    if (taken === undefined) throw tooLate();
    return stepAfterPassword(services, em, user, origin, { link: taken });
  });
}

/** What a person is linked to. */
export interface OidcIdentity {
  readonly id: string;
  readonly issuer: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

export const listOidcIdentities = (sql: Sql, userId: string): Promise<OidcIdentity[]> =>
  sql.query<OidcIdentity>(
    `select id, issuer, created_at as "createdAt", last_used_at as "lastUsedAt"
       from oidc_identities where user_id = $1 order by id`,
    [userId],
  );

/** Ends a link; the password still signs in. The service sends the notice. @throws {CatalogueError} not_found */
export function removeOidcIdentity(
  services: Services,
  person: Person,
  id: string,
  origin: SignInOrigin,
): Promise<void> {
  return services.db.transaction(async (sql) => {
    const [removed] = await sql.query<{ issuer: string }>(
      `delete from oidc_identities where id = $1 and user_id = $2 returning issuer`,
      [id, person.id],
    );
    if (removed === undefined) throw new CatalogueError('not_found');
    await recordFactorChange(services, sql, person, userCaller(person, origin), {
      action: 'user.oidc_unlinked',
      details: { issuer: removed.issuer },
      subject: 'Your account signs in by single sign-on no more',
      what: `The account ${person.email} was separated from ${removed.issuer}.`,
    });
  });
}
