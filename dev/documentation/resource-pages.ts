/** A page for each resource of the API, made from the OpenAPI document. */
import type { Command } from 'commander';
import { type OpenApiDocument, templatePath } from '#api/documents/openapi.ts';
import { accessText } from '#api/documents/openapi-security.ts';
import type { Route } from '#api/http/route.ts';
import { errorsOf } from '#api/http/route-errors.ts';
import { type Html, html, inline, prose } from './html.ts';
import { anchorOf, codeBlock, type Heading } from './markdown.ts';
import type { Page } from './page.ts';
import type { Reached } from './read-coverage.ts';
import { type Field, fieldList, nameOf, type Schema, type Schemas, schemaFields, typeText } from './schema-table.ts';
import { snippetTabs } from './snippet-tabs.ts';

interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
}
interface Body {
  readonly description?: string;
  readonly content?: Readonly<Record<string, Content>>;
}
/** An operation of the OpenAPI document. */
interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body & { readonly $ref?: string }>>;
}

export interface ApiFacts {
  readonly document: OpenApiDocument;
  readonly routes: readonly Route[];
  readonly coverage: ReadonlyMap<string, Reached>;
  readonly commands: Command;
  readonly serviceUrl: string;
}

const JSON_TYPE = 'application/json';
const pageOfTag = (tag: string): string => `/docs/api/${anchorOf(tag)}`;

const operationOf = (document: OpenApiDocument, { path, method }: Route): Operation =>
  // Written by api/, whose type of the document says less than what it writes; the routes are the same.
  document.paths[templatePath(path)]?.[method.toLowerCase()] as unknown as Operation;

/** Names of schemas that a part of the document mentions, directly or through others. */
function mentioned(document: OpenApiDocument, part: unknown, into: Set<string>): void {
  if (Array.isArray(part)) for (const each of part) mentioned(document, each, into);
  else if (typeof part === 'object' && part !== null) {
    const name = nameOf(part);
    if (name !== undefined && name in document.components.schemas && !into.has(name)) {
      into.add(name);
      mentioned(document, document.components.schemas[name], into);
    }
    for (const each of Object.values(part)) mentioned(document, each, into);
  }
}

/** Names of schemas by the page that describes them: that of the first resource which uses them. */
function homesOfSchemas({ document, routes }: ApiFacts): Map<string, string> {
  const homes = new Map<string, string>();
  for (const route of routes) {
    const names = new Set<string>();
    mentioned(document, operationOf(document, route), names);
    for (const name of names) if (!homes.has(name)) homes.set(name, route.tag);
  }
  return homes;
}

/** Where each named schema is described. */
export function schemasOf(facts: ApiFacts): Schemas {
  const homes = homesOfSchemas(facts);
  return {
    get: (name) => facts.document.components.schemas[name] as Schema | undefined,
    addressOf(name) {
      const tag = homes.get(name);
      return tag === undefined ? undefined : `${pageOfTag(tag)}#${name}`;
    },
  };
}

const parametersIn = (operation: Operation, place: string): Field[] =>
  (operation.parameters ?? [])
    .filter((each) => each.in === place)
    .map(({ name, schema, description, required }) => ({ name, schema, description, isOptional: !required }));

function requestBody({ requestBody: body }: Operation, schemas: Schemas): Html {
  if (body === undefined) return html``;
  const schema = body.content?.[JSON_TYPE]?.schema;
  if (schema === undefined) return html`<h3>Body</h3>${prose(body.description ?? '')}`;
  const named = schemas.get(nameOf(schema) ?? '') ?? schema;
  return html`<h3>Body <span class="type">${typeText(schema, schemas)}</span></h3>${schemaFields(named, schemas, true)}`;
}

function answers(operation: Operation, schemas: Schemas): Html {
  const own = Object.entries(operation.responses).filter(([, { $ref }]) => $ref === undefined);
  return html`<h3>Answers</h3><dl class="answers">${own.map(([status, { description = '', content = {} }]) => {
    const [[type, { schema }] = ['', {} as Content]] = Object.entries(content);
    const what = schema === undefined ? html`${type}` : typeText(schema, schemas);
    return html`<div><dt><b class="status">${status}</b> <span class="type">${what}</span></dt><dd>${inline(description)}</dd></div>`;
  })}</dl>`;
}

function examples(operation: Operation): Html {
  return html`${Object.entries(operation.responses).map(([status, { content }]) => {
    const example = content?.[JSON_TYPE]?.example;
    if (example === undefined) return '';
    return html`<section class="example" data-search="skip"><h4>Answer ${status}</h4>${codeBlock(
      JSON.stringify(example, null, 2),
    )}</section>`;
  })}`;
}

function operationSection(route: Route, facts: ApiFacts, schemas: Schemas): Html {
  const operation = operationOf(facts.document, route);
  const list = (title: string, fields: readonly Field[]) =>
    fields.length === 0 ? '' : html`<h3>${title}</h3>${fieldList(fields, schemas)}`;
  const reached = facts.coverage.get(`${route.method} ${route.path}`) ?? {};
  return html`<section class="operation">
    <h2 id="${route.operationId}">${route.summary} <a class="anchor" href="#${route.operationId}" aria-label="Link to this operation">#</a></h2>
    <p class="endpoint"><b class="method ${route.method}">${route.method}</b> <code>${templatePath(route.path)}</code></p>
    <div class="columns"><div>
    ${route.description === undefined ? '' : prose(route.description)}
    <p class="access">${inline(accessText(route))}</p>
    ${list('Path', parametersIn(operation, 'path'))}${list('Query', parametersIn(operation, 'query'))}
    ${requestBody(operation, schemas)}${list('Headers', parametersIn(operation, 'header'))}${answers(operation, schemas)}
    <details class="errors"><summary>Errors</summary><p>${errorsOf(route).map(
      (code) => html`<a href="/docs/errors#${code}"><code>${code}</code></a> `,
    )}</p></details>
    </div><div class="code-column">
    ${snippetTabs({ route, reached, serviceUrl: facts.serviceUrl, commands: facts.commands })}${examples(operation)}
    </div></div></section>`;
}

/** Schemas with fields; names of plain values are written out where they are used. */
function objects(names: readonly string[], schemas: Schemas): Html {
  const shown = names.flatMap((name) => {
    const schema = schemas.get(name);
    return schema === undefined || (schema.properties === undefined && schema.anyOf === undefined)
      ? []
      : [{ name, schema }];
  });
  if (shown.length === 0) return html``;
  return html`<section class="objects"><h2 id="objects">Objects</h2>${shown.map(
    ({ name, schema }) =>
      html`<section><h3 id="${name}">${name} <a class="anchor" href="#${name}" aria-label="Link to this object">#</a></h3>${
        schema.description === undefined ? '' : prose(schema.description)
      }${schemaFields(schema, schemas, false)}</section>`,
  )}</section>`;
}

function resourcePage(
  tag: string,
  description: string,
  routes: readonly Route[],
  facts: ApiFacts,
  schemas: Schemas,
): Page {
  const address = pageOfTag(tag);
  const names = Object.keys(facts.document.components.schemas).filter((name) =>
    schemas.addressOf(name)?.startsWith(`${address}#`),
  );
  const headings: Heading[] = routes.map(({ operationId, summary }) => ({ id: operationId, text: summary, level: 2 }));
  return {
    path: address,
    title: tag,
    group: 'API',
    headings,
    isWide: true,
    content: html`<h1>${tag}</h1><p class="lead">${inline(description)}</p>
      <ul class="operations">${routes.map(
        ({ operationId, method, path, summary }) =>
          html`<li><a href="#${operationId}"><span><b class="method ${method}">${method}</b> <code>${templatePath(path)}</code></span> <span>${summary}</span></a></li>`,
      )}</ul>
      ${routes.map((route) => operationSection(route, facts, schemas))}${objects(names, schemas)}`,
  };
}

/** In the order of the table of routes. */
export function resourcePages(facts: ApiFacts): Page[] {
  const schemas = schemasOf(facts);
  const descriptions = new Map(facts.document.tags.map(({ name, description }) => [name, description]));
  return [...Map.groupBy(facts.routes, ({ tag }) => tag)].map(([tag, ofTag]) =>
    resourcePage(tag, descriptions.get(tag) ?? '', ofTag, facts, schemas),
  );
}
