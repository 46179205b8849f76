import type { DocumentedEvent, OpenApiDocument } from '#api/documents/openapi.ts';
import { html, inline } from './html.ts';
import { codeBlock } from './markdown.ts';
import type { Page } from './page.ts';
import { type Schema, type Schemas, schemaFields } from './schema-table.ts';

/** The events that an endpoint can receive, with body and example. */
export function eventsPage(events: readonly DocumentedEvent[], document: OpenApiDocument, schemas: Schemas): Page {
  // Events mention schemas that no route does: they have no page to link to.
  const own = (name: string): string => schemas.addressOf(name) ?? `/docs/events#${name}`;
  const linked: Schemas = { get: schemas.get, addressOf: own };
  const names = Object.keys(document.components.schemas).filter((name) => schemas.addressOf(name) === undefined);
  return {
    path: '/docs/events',
    title: 'Events',
    group: 'API',
    isWide: true,
    headings: events.map(({ type }) => ({ id: type, text: type, level: 2 })),
    content: html`<h1>Events</h1>
      <p class="lead">Every delivery is a POST of one event, signed by <a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a>.
      Verify the signature over the exact bytes of the body before parsing it, and remember <code>webhook-id</code> to ignore
      duplicates. Complete receivers: <a href="/docs/recipes/receive-webhooks">Receive webhooks</a>.</p>
      ${events.map(
        (event) => html`<section class="operation"><h2 id="${event.type}"><code>${event.type}</code></h2>
          <div class="columns"><div><p>${inline(event.summary)}</p>${schemaFields(schemaOf(event, linked), linked, false)}</div>
          <div class="code-column"><section class="example" data-search="skip"><h3>Body</h3>${codeBlock(
            JSON.stringify(event.example, null, 2),
          )}</section></div></div></section>`,
      )}
      <section class="objects"><h2 id="objects">Objects</h2>${names.flatMap((name) => {
        const schema = schemas.get(name);
        return schema?.properties === undefined
          ? []
          : [html`<section><h3 id="${name}">${name}</h3>${schemaFields(schema, linked, false)}</section>`];
      })}</section>`,
  };
}

const schemaOf = ({ schema }: DocumentedEvent, schemas: Schemas): Schema => {
  const { title } = schema as { readonly title?: string };
  return schemas.get((title ?? '').replaceAll(' ', '')) ?? schema;
};
