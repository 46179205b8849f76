/**
 * A started API over a database of its own, two organizations that must never see each other, and one of a limited
 * plan. Every answer is checked against what its route declares, so each test is also one of the documents.
 */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule, { type FormatsPlugin } from 'ajv-formats';
import { ErrorSchema, openApiDocument, templatePath } from '#api/documents/openapi.ts';
import { errorsOf, type Route } from '#api/http/route.ts';
import { routes } from '#api/routes.ts';
import { type StartedApi, startApi } from '#api/start.ts';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import { createInvitation } from '#core/accounts/invitations.ts';
import { hashPassword } from '#core/accounts/sign-in.ts';
import { createMailbox } from '#core/mailboxes/create-mailbox.ts';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { credentialHint, hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import { API_SCOPES, type ApiScope, type MemberRole } from '#domain/access/api-scopes.ts';
import type { PlanName } from '#domain/organizations/plans.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { mcpHttp } from '#mcp/http.ts';
import { type TestDns, testDns } from './dns-server.ts';
import { openTestServices } from './services.ts';

export type Credential = Readonly<Record<string, string>>;

export const asKey = (key: string): Credential => ({ 'x-organization-key': key });
export const asBearer = (token: string): Credential => ({ authorization: `Bearer ${token}` });

export interface TestPerson {
  readonly userId: string;
  readonly memberId: string;
  readonly email: string;
  readonly session: Credential;
}

export interface TestMailbox {
  readonly id: string;
  readonly address: string;
  readonly token: Credential;
}

export interface TestOrganization {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly plan: PlanName;
  /** Has every scope. */
  readonly key: Credential;
  readonly owner: TestPerson;
  readonly admin: TestPerson;
  readonly member: TestPerson;
  readonly mailbox: TestMailbox;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed JSON; undefined for other bodies. */
  readonly body: unknown;
}

export interface CallOptions {
  readonly as?: Credential;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly rawBody?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiWorld {
  readonly services: Services;
  readonly temporal: TemporalClient;
  readonly api: StartedApi;
  /** Name server of domain verification. */
  readonly dns: TestDns;
  readonly organization: TestOrganization;
  readonly other: TestOrganization;
  readonly operator: Credential;
  /** @param path of this API, or a whole URL of another one over the same routes */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  newOrganization(plan: PlanName): Promise<TestOrganization>;
  newPerson(organizationId: string, role: MemberRole): Promise<TestPerson>;
  newKey(
    organizationId: string,
    scopes: readonly ApiScope[],
    expiresAt?: Date | null,
    mailboxGroups?: readonly string[],
  ): Promise<Credential>;
  newMailbox(organization: Pick<TestOrganization, 'id' | 'name' | 'slug' | 'plan'>): Promise<TestMailbox>;
  /** An open invitation. @returns its token */
  newInvitation(organization: TestOrganization, email: string, role?: MemberRole): Promise<string>;
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export const TEST_PASSWORD = 'correct horse battery staple';
const DAY_MS = 86_400_000;
const CALLER = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };

let passwordHash: Promise<string> | undefined;

/** The value at a path of a parsed body. */
export function at(body: unknown, ...path: readonly (string | number)[]): unknown {
  let value = body;
  for (const step of path) {
    assert.ok(typeof value === 'object' && value !== null, `nothing at ${path.join('.')} in ${JSON.stringify(body)}`);
    value = Reflect.get(value, step);
  }
  return value;
}

/** As `at`, for what must be a text. */
export function textAt(body: unknown, ...path: readonly (string | number)[]): string {
  const value = at(body, ...path);
  assert.ok(typeof value === 'string', `no text at ${path.join('.')} in ${JSON.stringify(body)}`);
  return value;
}

export const errorCode = (answer: Answer): unknown => at(answer.body, 'error', 'code');

/** Paths of the error's details. */
export function detailPaths(answer: Answer): string[] {
  const details = at(answer.body, 'error', 'details');
  return Array.isArray(details) ? details.map((detail) => textAt(detail, 'path')) : [];
}

export async function apiWorld(overrides: Readonly<Record<string, string>> = {}): Promise<ApiWorld> {
  const dns = await testDns();
  const services = await openTestServices({
    DNS_SERVERS: dns.address,
    API_TRUSTED_PROXIES: '1',
    ...overrides,
  });
  const temporal = connectTemporal(services.settings);
  const mcp = mcpHttp((error) => services.log.debug({ error: error.message }, 'mcp'));
  const api = await startApi(services, temporal, mcp);
  const sql = (text: string, values: readonly unknown[] = []) => services.db.query(text, values);

  async function newPerson(organizationId: string, role: MemberRole): Promise<TestPerson> {
    passwordHash ??= hashPassword(TEST_PASSWORD);
    const [userId, memberId] = [newId('user'), newId('member')];
    const email = `${userId}@people.test`;
    await sql(`insert into users (id, email, name, password_hash) values ($1, $2, $3, $4)`, [
      userId,
      email,
      `A ${role}`,
      await passwordHash,
    ]);
    await sql(`insert into members (id, organization_id, user_id, role) values ($1, $2, $3, $4)`, [
      memberId,
      organizationId,
      userId,
      role,
    ]);
    const token = newCredential('session');
    await sql(`insert into sessions (id, user_id, token_hash, expires_at) values ($1, $2, $3, $4)`, [
      newId('session'),
      userId,
      hashCredential(token, services.pepper),
      new Date(Date.now() + DAY_MS),
    ]);
    return { userId, memberId, email, session: asBearer(token) };
  }

  async function newKey(
    organizationId: string,
    scopes: readonly ApiScope[],
    expiresAt?: Date | null,
    mailboxGroups?: readonly string[],
  ): Promise<Credential> {
    const key = newCredential('apiKey');
    await sql(
      `insert into api_keys (id, organization_id, name, key_hash, key_hint, scopes, expires_at, mailbox_groups)
       values ($1, $2, 'test', $3, $4, $5, $6, $7)`,
      [
        newId('apiKey'),
        organizationId,
        hashCredential(key, services.pepper),
        credentialHint(key),
        scopes,
        expiresAt ?? null,
        mailboxGroups ?? null,
      ],
    );
    return asKey(key);
  }

  async function newMailbox(
    organization: Pick<TestOrganization, 'id' | 'name' | 'slug' | 'plan'>,
  ): Promise<TestMailbox> {
    const { mailbox, token } = await createMailbox(services, organization, CALLER, {});
    return { id: mailbox.id, address: mailbox.address, token: asBearer(token ?? '') };
  }

  async function newInvitation(
    organization: TestOrganization,
    email: string,
    role: MemberRole = 'member',
  ): Promise<string> {
    const owner = { memberId: null, role: 'owner' } as const;
    const origin = { organization, caller: CALLER, publicUrl: api.url };
    const { token } = await createInvitation(services, origin, owner, { email, role });
    return token ?? '';
  }

  async function newOrganization(plan: PlanName): Promise<TestOrganization> {
    const id = newId('organization');
    const facts = { id, name: 'Test', slug: id.replace('_', '-'), plan };
    await sql(`insert into organizations (id, name, slug, plan) values ($1, $2, $3, $4)`, [
      id,
      facts.name,
      facts.slug,
      plan,
    ]);
    return {
      ...facts,
      key: await newKey(id, API_SCOPES),
      owner: await newPerson(id, 'owner'),
      admin: await newPerson(id, 'admin'),
      member: await newPerson(id, 'member'),
      mailbox: await newMailbox(facts),
    };
  }

  async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const body = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await fetch(new URL(path, api.url), {
      method,
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.as,
        ...options.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? (JSON.parse(text) as unknown) : undefined,
    };
    checkAgainstRoute(method, new URL(path, api.url).pathname, answer);
    return answer;
  }

  return {
    services,
    temporal,
    api,
    dns,
    organization: await newOrganization('business'),
    other: await newOrganization('business'),
    operator: { 'x-operator-key': services.settings.OPERATOR_KEY ?? '' },
    call,
    newOrganization,
    newPerson,
    newKey,
    newMailbox,
    newInvitation,
    sql,
    async close() {
      await api.close();
      await temporal.close();
      await services.close();
      await dns.close();
    },
  };
}

// The package is CommonJS with an ES default: under nodenext the namespace is typed, the function is what runs.
const addFormats = addFormatsModule as unknown as FormatsPlugin;
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
addFormats(ajv);

const validators = new Map<unknown, ValidateFunction>();

/** Fails unless a value fulfils a schema. */
export function checkSchema(schema: object, value: unknown, what: string): void {
  let validate = validators.get(schema);
  if (validate === undefined) {
    validate = ajv.compile({ ...schema });
    validators.set(schema, validate);
  }
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
}

const document = openApiDocument({ routes, events: webhookEvents, publicUrl: 'http://api', version: '0.0.0' });

const patterns = routes.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replaceAll(/:[A-Za-z]+/g, '[^/]+')}$`),
}));

/** The route that serves a path, as the router finds it: the first of the table. */
export const routeOf = (method: string, path: string): Route | undefined =>
  patterns.find(({ route, pattern }) => route.method === method && pattern.test(path))?.route;

function checkAgainstRoute(method: string, path: string, answer: Answer): void {
  const route = routeOf(method, path);
  assert.ok(answer.headers.get('x-request-id'), 'every answer has a request id');
  if (route === undefined) return;
  const what = `${route.operationId} ${answer.status}`;
  const operation = document.paths[templatePath(route.path)]?.[method.toLowerCase()];
  const described = at(operation, 'responses');
  assert.ok(Object.hasOwn(Object(described), answer.status), `${what} is not in the OpenAPI document`);
  if (answer.status === 304) {
    assert.deepEqual([route.etag, answer.text], [true, ''], what);
    return;
  }
  const spec = route.responses[answer.status];
  if (spec?.schema !== undefined) checkSchema(spec.schema, answer.body, what);
  else if (spec?.contentType === undefined && spec !== undefined) assert.equal(answer.text, '', `${what} has no body`);
  if (spec !== undefined) return;
  checkSchema(ErrorSchema, answer.body, what);
  const code = errorCode(answer);
  assert.ok(
    errorsOf(route).some((declared) => declared === code),
    `${what}: the error ${JSON.stringify(answer.body)} is not documented`,
  );
  assert.equal(at(answer.body, 'error', 'requestId'), answer.headers.get('x-request-id'));
}
