/**
 * The OpenAPI 3.1 document, made from the route table and the schemas of the events; and who may call a route, as security
 * schemes and as a sentence.
 */
import Type, { type TSchema } from 'typebox';
import { errorBody } from '#api/http/error-response.ts';
import {
  type AuthRule,
  actsInOrganization,
  errorsOf,
  RESOURCES,
  type ResourceName,
  type ResponseSpec,
  type RouteInfo,
  tokenNeedOf,
} from '#api/http/route.ts';
import { closed } from '#api/http/schema-parts.ts';
import { CatalogueError, ERROR_CATALOGUE, type ErrorCode } from '#domain/errors.ts';
import { IDEMPOTENCY_KEY_MAX_LENGTH } from '#domain/idempotency-limits.ts';
import { TOKEN_ACCESSES, type TokenNeed, tokenAllows } from '#domain/organizations/mailboxes.ts';
import type { EventType } from '#domain/webhooks/event-types.ts';

/** An event in the `webhooks` section: the schema is that of the whole envelope. */
export interface DocumentedEvent {
  readonly type: EventType;
  readonly summary: string;
  readonly schema: TSchema;
  readonly example: unknown;
}

type Json = Record<string, unknown>;

interface Components {
  readonly schemas: Json;
  readonly responses: Json;
}

/** Parts of the document that its readers here (pages, tests) rely on. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Json;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly webhooks: Readonly<Record<string, Json>>;
  readonly components: Components & { readonly securitySchemes: Json };
}

export const ErrorSchema = closed(
  {
    error: closed(
      {
        code: Type.String({ description: 'Stable; see /docs/errors.' }),
        message: Type.String({ description: 'What happened, for people.' }),
        fix: Type.String({ description: 'What to do.' }),
        docs: Type.String({ description: 'Page about the code.' }),
        requestId: Type.String(),
        details: Type.Array(
          closed(
            {
              path: Type.String({ description: 'JSON pointer into the body, or `query/…`, `header/…`.' }),
              message: Type.String(),
            },
            { title: 'ErrorDetail' },
          ),
        ),
      },
      { title: 'ErrorContent' },
    ),
  },
  { title: 'Error' },
);

const header = (name: string, description: string, schema: Json): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
});

const IDEMPOTENCY_KEY = header(
  'Idempotency-Key',
  'For 24 hours a repeated request with the same key and body gets the answer of the first one.',
  { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX_LENGTH },
);
const ORGANIZATION_ID = header('x-organization-id', 'Which organization, when there are several.', { type: 'string' });
const IF_NONE_MATCH = header('If-None-Match', 'ETag of the last answer; 304 if nothing changed.', { type: 'string' });

const NOT_MODIFIED: Json = {
  description: 'Nothing changed since the answer with this ETag. Without a body.',
  headers: { ETag: { description: 'The one that was sent.', schema: { type: 'string' } } },
};

/** Moves schemas with a title into components, so that each is described once and has a name. */
export function hoist(schema: unknown, components: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => hoist(item, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const plain = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, hoist(value, components)]));
  if (typeof plain['title'] !== 'string' || !('type' in plain || 'anyOf' in plain)) return plain;
  const name = plain['title'].replaceAll(' ', '');
  const text = JSON.stringify(plain);
  if (name in components && JSON.stringify(components[name]) !== text)
    throw new Error(`two different schemas have the title ${name}`);
  components[name] = plain;
  return { $ref: `#/components/schemas/${name}` };
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

function parameters(schema: TSchema | undefined, place: 'path' | 'query', components: Json): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as ObjectSchema;
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property;
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: hoist(rest, components),
    };
  });
}

/** OpenAPI 3.1 has no word for the events of a stream, so they are in an extension: name and schema of the data. */
function streamEvents({ streamEvents: events }: ResponseSpec, components: Json): Json {
  if (events === undefined) return {};
  const named = Object.entries(events).map(([name, schema]) => [name, hoist(schema, components)]);
  return {
    // OpenAPI 3.1 describes the stream as one text; the extension has the schema of the data of each event.
    schema: {
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: oneOf(named.map(([, schema]) => schema)),
    },
    'x-stream-events': Object.fromEntries(named),
  };
}

/** Each schema once. */
function oneOf(schemas: readonly unknown[]): unknown {
  const each = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return each.length === 1 ? each[0] : { anyOf: each };
}

/** Bytes. Without a schema, generated clients would leave the body out. */
const BINARY: Json = { type: 'string', format: 'binary' };
const BYTES = 'application/octet-stream';

/** A body that is not JSON. It is also listed as bytes, for generators that do not know its type (message/rfc822). */
function rawContent(spec: ResponseSpec, contentType: string, components: Json): Json {
  if (contentType.startsWith('text/')) return { [contentType]: streamEvents(spec, components) };
  return { [contentType]: { schema: BINARY }, [BYTES]: { schema: BINARY } };
}

function response(spec: ResponseSpec, components: Json): Json {
  const headers = Object.fromEntries(
    Object.entries(spec.headers ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
  const content =
    spec.contentType !== undefined
      ? rawContent(spec, spec.contentType, components)
      : spec.schema === undefined
        ? undefined
        : {
            'application/json': {
              schema: hoist(spec.schema, components),
              ...(spec.example === undefined ? {} : { example: spec.example }),
            },
          };
  return {
    description: spec.description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(content === undefined ? {} : { content }),
  };
}

/** References to the answers of each error status; the same codes share one component. */
function errorResponses(codes: readonly ErrorCode[], publicUrl: string, components: Components): Json {
  const responses: Json = {};
  for (const [status, sameStatus] of Map.groupBy(codes, (code) => ERROR_CATALOGUE[code].status)) {
    const name = sameStatus.toSorted().join('.');
    components.responses[name] ??= {
      description: sameStatus.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].message}`).join('\n\n'),
      content: {
        'application/json': {
          schema: hoist(ErrorSchema, components.schemas),
          examples: Object.fromEntries(
            sameStatus.map((code) => [
              code,
              { value: errorBody(new CatalogueError(code), 'req_01k8e8f2c0e4x9w2v7a3r5t6y8', publicUrl) },
            ]),
          ),
        },
      },
    };
    responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return responses;
}

function operation(route: RouteInfo, publicUrl: string, components: Components): Json {
  const { schemas } = components;
  const schemes = schemesOf(route.auth);
  const own = Object.fromEntries(
    Object.entries(route.responses).map(([status, spec]) => [status, response(spec, schemas)]),
  );
  const all = [
    ...parameters(route.params, 'path', schemas),
    ...parameters(route.query, 'query', schemas),
    ...(route.method === 'POST' ? [IDEMPOTENCY_KEY] : []),
    ...(route.etag === true ? [IF_NONE_MATCH] : []),
    ...(actsInOrganization(route.auth) && route.auth !== 'mailbox_token' && route.auth !== 'approval_link'
      ? [ORGANIZATION_ID]
      : []),
  ];
  const { required = [] } = (route.body ?? {}) as ObjectSchema;
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, accessText(route)].filter((text) => text !== undefined).join('\n\n'),
    security: schemes.map((scheme) => ({ [scheme]: [] })),
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(route.takesFile === true ? { requestBody: fileBody(schemas) } : {}),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: required.length > 0,
            content: {
              'application/json': {
                schema: hoist(route.body, schemas),
                ...(route.bodyExample === undefined ? {} : { example: route.bodyExample }),
              },
            },
          },
        }),
    // A status of the route's own, such as 503 of the readiness check, says more than the error of the same status.
    responses: {
      ...errorResponses(errorsOf(route), publicUrl, components),
      ...(route.etag === true ? { 304: NOT_MODIFIED } : {}),
      ...own,
    },
  };
}

/** Raw bytes of any type, or a form with one file. */
const fileBody = (components: Json): Json => ({
  required: true,
  description:
    'The file, with its own Content-Type; or a form with one file. The name is that of the query, of Content-Disposition, or of the form.',
  content: { [BYTES]: { schema: BINARY }, 'multipart/form-data': { schema: hoist(FILE_FORM, components) } },
});
const FILE_FORM = {
  title: 'FileForm',
  type: 'object',
  properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
  required: ['file'],
};

export const DELIVERY_HEADERS = [
  ['webhook-id', 'Id of the delivery, the same in each attempt: store it and ignore duplicates.'],
  ['webhook-timestamp', 'Unix time of this attempt in seconds.'],
  [
    'webhook-signature',
    '`v1,` and base64 of the HMAC-SHA256; for endpoints with `publicKeySignature` also `v1a,` and base64 of the Ed25519 signature. Separated by spaces; during a rotation two of a kind.',
  ],
  ['X-Service-Event', 'The event type, for convenience; the body is authoritative.'],
] as const;

function webhook(event: DocumentedEvent, components: Json): Json {
  return {
    post: {
      operationId: `on_${event.type}`,
      tags: ['Events'],
      summary: event.summary,
      // Its receiver checks the signature in the headers, which is no scheme of OpenAPI.
      security: [],
      parameters: DELIVERY_HEADERS.map(([name, description]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string' },
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: hoist(event.schema, components), example: event.example } },
      },
      responses: {
        '2XX': {
          description: 'Acknowledged. After any other answer, or none within 15 seconds, the service tries again.',
        },
      },
    },
  };
}

/** `/api/mailboxes/:id` as `/api/mailboxes/{id}`. */
export const templatePath = (path: string): string => path.replaceAll(/:([A-Za-z]+)/g, '{$1}');

export function openApiDocument(options: {
  readonly routes: readonly RouteInfo[];
  readonly events: readonly DocumentedEvent[];
  readonly publicUrl: string;
  readonly version: string;
}): OpenApiDocument {
  const { routes, events, publicUrl, version } = options;
  const components: Components = { schemas: {}, responses: {} };
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = templatePath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, publicUrl, components) };
  }
  const tags = [
    ...new Set<ResourceName>([...routes.map(({ tag }) => tag), ...(events.length > 0 ? (['Events'] as const) : [])]),
  ];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Mailbox',
      version,
      description: 'Real mailboxes for software agents, with signed, durable webhooks.',
      contact: { name: 'Operator of this service', url: publicUrl },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    tags: tags.map((name) => ({ name, description: RESOURCES[name] })),
    paths,
    webhooks: Object.fromEntries(events.map((event) => [event.type, webhook(event, components.schemas)])),
    components: { ...components, securitySchemes: SECURITY_SCHEMES },
  };
}

const SECURITY_SCHEMES = {
  organizationKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-organization-key',
    description: 'API key of an organization, `amk_…`, within its scopes.',
  },
  session: { type: 'http', scheme: 'bearer', description: 'Session of a signed-in person, `ams_…`.' },
  mailboxToken: { type: 'http', scheme: 'bearer', description: 'Token of one mailbox, `amt_…`.' },
  approvalLink: {
    type: 'http',
    scheme: 'bearer',
    description: 'Token of the link in a notice about held mail, `aml_…`. It opens one request for one member.',
  },
  operatorKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-operator-key',
    description: 'Credential of the operator of this instance.',
  },
} as const;

type SchemeName = keyof typeof SECURITY_SCHEMES;

/** The schemes that a route accepts, each enough alone; none for public routes. */
function schemesOf(auth: AuthRule): readonly SchemeName[] {
  if (auth === 'public') return [];
  if (auth === 'operator' || auth === 'instance') return ['operatorKey'];
  if (auth === 'mailbox_token') return ['mailboxToken'];
  if (auth === 'approval_link') return ['approvalLink'];
  if (auth === 'session' || 'role' in auth) return ['session'];
  return auth.mailboxToken === true ? ['organizationKey', 'session', 'mailboxToken'] : ['organizationKey', 'session'];
}

/** The accesses that a mailbox token needs for a route; empty if any is enough. */
function accessNote(need: TokenNeed): string {
  const allowed = TOKEN_ACCESSES.filter((access) => tokenAllows(access, need));
  return allowed.length === TOKEN_ACCESSES.length
    ? ''
    : ` with access ${allowed.map((each) => `\`${each}\``).join(' or ')}`;
}

/** A sentence about who may call a route. */
export function accessText({ auth, method, tokenNeeds }: Pick<RouteInfo, 'auth' | 'method' | 'tokenNeeds'>): string {
  if (auth === 'public') return 'No credential needed.';
  if (auth === 'operator' || auth === 'instance') return 'Operator key.';
  const needed = accessNote(tokenNeedOf({ method, tokenNeeds }));
  if (auth === 'mailbox_token') return `Mailbox token${needed}.`;
  if (auth === 'approval_link') return 'The link of a notice.';
  if (auth === 'session') return 'Session.';
  if ('role' in auth) return `Session of a member with role ${auth.role}${auth.role === 'owner' ? '' : ' or above'}.`;
  const token = auth.mailboxToken === true ? `, or a token of this mailbox${needed}` : '';
  return `API key with scope \`${auth.scope}\`, or a session${token}.`;
}
