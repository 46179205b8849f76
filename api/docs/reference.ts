import type { DocumentedEvent, OpenApiDocument } from '../openapi.ts';
import { accessText, templatePath } from '../openapi.ts';
import type { ResponseSpec, Route } from '../route.ts';
import { errorsOf } from '../route-errors.ts';
import { type Html, html, inline, prose } from './html.ts';
import { type SchemaLookUp, schemaTable } from './schema-table.ts';

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** Header line of a curl command for the credential a route takes. */
function credentialLine(route: Route): string | undefined {
  const { auth } = route;
  if (auth === 'public') return undefined;
  if (auth === 'operator' || auth === 'instance') return '-H "x-operator-key: $OPERATOR_KEY"';
  if (auth === 'mailbox_token') return '-H "authorization: Bearer $MAILBOX_TOKEN"';
  if (auth === 'session' || 'role' in auth) return '-H "authorization: Bearer $SESSION"';
  return '-H "x-organization-key: $API_KEY"';
}

function curl(route: Route, publicUrl: string): string {
  const path = route.path.replaceAll(/:([A-Za-z]+)/g, (_, name: string) => `$${name.toUpperCase()}`);
  const method =
    route.method === 'GET' || (route.method === 'POST' && route.bodyExample !== undefined) ? '' : ` -X ${route.method}`;
  const lines = [`curl${method} "${publicUrl}${path}"`, credentialLine(route)];
  if (route.bodyExample !== undefined)
    lines.push('-H "content-type: application/json"', `-d '${json(route.bodyExample).replaceAll("'", "'\\''")}'`);
  return lines.filter((line) => line !== undefined).join(' \\\n  ');
}

function response(status: string, spec: ResponseSpec, lookUp: SchemaLookUp): Html {
  const example =
    spec.example === undefined
      ? ''
      : html`<details><summary>Example</summary><pre><code>${json(spec.example)}</code></pre></details>`;
  return html`<h4><b class="status">${status}</b> ${inline(spec.description)}</h4>
    ${spec.contentType === undefined ? '' : html`<p><code>${spec.contentType}</code></p>`}
    ${spec.schema === undefined ? '' : html`<details><summary>Fields</summary>${schemaTable(spec.schema, lookUp, false)}</details>`}
    ${example}`;
}

function operation(route: Route, publicUrl: string, lookUp: SchemaLookUp): Html {
  const section = (title: string, schema: unknown) =>
    schema === undefined ? '' : html`<h4>${title}</h4>${schemaTable(schema, lookUp, true)}`;
  return html`<section class="operation" id="${route.operationId}">
    <h3><b class="method ${route.method}">${route.method}</b> <code>${templatePath(route.path)}</code></h3>
    <p class="summary">${inline(route.summary)}</p>
    ${route.description === undefined ? '' : prose(route.description)}
    <p class="access">${inline(accessText(route.auth))}</p>
    <pre><code>${curl(route, publicUrl)}</code></pre>
    ${section('Path', route.params)}${section('Query', route.query)}${section('Body', route.body)}
    ${Object.entries(route.responses).map(([status, spec]) => response(status, spec, lookUp))}
    <p class="errors">Errors: ${errorsOf(route).map((code) => html`<a href="/docs/errors#${code}"><code>${code}</code></a> `)}</p>
  </section>`;
}

const tagId = (tag: string): string => tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** All operations, by tag. */
export function reference(document: OpenApiDocument, routes: readonly Route[], publicUrl: string): Html {
  const lookUp: SchemaLookUp = (name) => document.components.schemas[name];
  return html`${[...Map.groupBy(routes, ({ tag }) => tag)].map(
    ([tag, ofTag]) =>
      html`<h2 id="${tagId(tag)}">${tag}</h2>${ofTag.map((route) => operation(route, publicUrl, lookUp))}`,
  )}`;
}

/** The events an endpoint can receive, with body and example. */
export function eventsPage(events: readonly DocumentedEvent[], document: OpenApiDocument): Html {
  const lookUp: SchemaLookUp = (name) => document.components.schemas[name];
  return html`<h1>Events</h1>
    <p class="lead">Every delivery is a POST of one event, signed by Standard Webhooks 1.0. Verify the signature over the exact
    bytes of the body before parsing it, and remember <code>webhook-id</code> to drop what comes twice.</p>
    ${events.map(
      (event) => html`<section class="operation" id="${event.type}"><h3><code>${event.type}</code></h3>
        <p class="summary">${inline(event.summary)}</p>${schemaTable(event.schema, lookUp, true)}
        <details><summary>Example</summary><pre><code>${json(event.example)}</code></pre></details></section>`,
    )}`;
}
