/** The reference in Markdown: a page for each resource of the API, made from the OpenAPI document, the errors and the events. */
import type { Command } from 'commander';
import { accessText, type DocumentedEvent, type OpenApiDocument, templatePath } from '#api/documents/openapi.ts';
import { errorsOf, type Route } from '#api/http/route.ts';
import { ERROR_CATALOGUE } from '#domain/errors.ts';
import { anchorOf, type Page, type Reached } from './documents.ts';
import { LANGUAGES } from './snippets.ts';

/** The parts of JSON Schema that the API's schemas use. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}
interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
}
interface Body {
  readonly description?: string;
  readonly content?: Readonly<Record<string, Content>>;
}
interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly description?: string | undefined;
  readonly isOptional: boolean;
}
/** An operation of the OpenAPI document. */
interface Operation {
  readonly parameters?: readonly (Omit<Field, 'isOptional'> & { readonly in: string; readonly required: boolean })[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body & { readonly $ref?: string }>>;
}

export interface ApiFacts {
  readonly document: OpenApiDocument;
  readonly routes: readonly Route[];
  readonly events: readonly DocumentedEvent[];
  readonly coverage: ReadonlyMap<string, Reached>;
  readonly commands: Command;
  readonly serviceUrl: string;
}

/** Codes that nearly every operation can answer with are not listed operation by operation. */
const LISTED_MAX = 12;
const JSON_TYPE = 'application/json';

const pageOfTag = (tag: string): string => `/docs/api/${anchorOf(tag)}`;
const nameOf = ({ $ref }: Schema): string => $ref?.slice($ref.lastIndexOf('/') + 1) ?? '';
const code = (value: unknown): string => `\`${JSON.stringify(value)}\``;
const block = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\`\n`;
const request = ({ method, path }: Route): string => `\`${method} ${templatePath(path)}\``;
const operationOf = (document: OpenApiDocument, { path, method }: Route): Operation =>
  // Written by api/, whose type of the document says less than what it writes; the routes are the same.
  document.paths[templatePath(path)]?.[method.toLowerCase()] as unknown as Operation;

/** Names of schemas that a part of the document mentions, directly or through others. */
function mentioned(document: OpenApiDocument, part: unknown, into: Set<string>): void {
  if (typeof part !== 'object' || part === null) return;
  const name = nameOf(part);
  if (name in document.components.schemas && !into.has(name)) {
    into.add(name);
    mentioned(document, document.components.schemas[name], into);
  }
  for (const each of Object.values(part)) mentioned(document, each, into);
}

function bounds({ minimum, maximum, minLength, maxLength, maxItems }: Schema): string {
  if (minimum !== undefined || maximum !== undefined) return `${minimum ?? '…'} to ${maximum ?? '…'}`;
  if (maxLength !== undefined) return `${minLength ?? 0} to ${maxLength} characters`;
  return maxItems === undefined ? '' : `at most ${maxItems}`;
}

/** All pages of the reference. */
export function referencePages(facts: ApiFacts): Page[] {
  const { document, routes, events } = facts;
  const schemas = document.components.schemas as Readonly<Record<string, Schema>>;
  /** Addresses of the pages that describe a schema: the first resource which uses it, else the events. */
  const homes = new Map<string, string>();
  for (const route of routes) {
    const names = new Set<string>();
    mentioned(document, operationOf(document, route), names);
    for (const name of names) if (!homes.has(name)) homes.set(name, pageOfTag(route.tag));
  }
  const homeOf = (name: string): string => homes.get(name) ?? '/docs/events';

  /** A short word for a schema; one that has fields is a link, another is written out. */
  function typeText(schema: Schema): string {
    const named = schemas[nameOf(schema)];
    if (named !== undefined) {
      const hasFields = named.properties !== undefined || named.anyOf?.some((each) => each.$ref !== undefined);
      return hasFields === true ? `[${nameOf(schema)}](${homeOf(nameOf(schema))}#${nameOf(schema)})` : typeText(named);
    }
    if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' or ');
    if (schema.enum !== undefined) return schema.enum.map(code).join(' | ');
    if (schema.const !== undefined) return code(schema.const);
    if (schema.type === 'array') return `array of ${typeText(schema.items ?? {})}`;
    if (schema.patternProperties !== undefined)
      return `map of ${typeText(Object.values(schema.patternProperties)[0] ?? {})}`;
    return schema.format ?? schema.type ?? 'anything';
  }
  /** Its own description, or that of the schema it names, or of the branch that is not null. */
  function describe(schema: Schema): string {
    const branch = schema.anyOf?.find(({ type }) => type !== 'null');
    const own = schema.description ?? schemas[nameOf(schema)]?.description;
    return own ?? (branch === undefined ? '' : describe(branch));
  }
  const fieldList = (title: string, fields: readonly Field[]): string =>
    fields.length === 0
      ? ''
      : `${title}\n\n${fields
          .map(({ name, schema, description, isOptional }) => {
            const preset = schema.default === undefined ? '' : `default ${code(schema.default)}`;
            const notes = [typeText(schema), isOptional ? 'optional' : '', bounds(schema), preset];
            const meaning = (description ?? describe(schema)).replaceAll(/\s+/g, ' ');
            return `- **\`${name}\`** ${notes.filter(Boolean).join(' · ')}${meaning === '' ? '' : `\\\n  ${meaning}`}`;
          })
          .join('\n')}\n`;
  /** @param isRequest only there it matters which fields may be left out */
  function fieldsOf(schema: Schema, title = '', isRequest = false): string {
    const { properties, required = [], items, anyOf } = schemas[nameOf(schema)] ?? schema;
    if (items !== undefined) return fieldsOf(items, title, isRequest);
    if (properties === undefined)
      return anyOf === undefined ? title : `${title}\n\n${anyOf.map(typeText).join(' or ')}\n`;
    const fields = Object.entries(properties).map(([name, each]) => {
      return { name, schema: each, isOptional: isRequest && !required.includes(name) };
    });
    return fieldList(title, fields);
  }
  const objects = (address: string): string => {
    const shown = Object.entries(schemas).filter(
      ([name, { properties, anyOf }]) => homeOf(name) === address && (properties ?? anyOf) !== undefined,
    );
    const parts = shown.map(
      ([name, each]) => `### ${name} {:#${name}}\n\n${each.description ?? ''}\n\n${fieldsOf(each)}`,
    );
    return parts.length === 0 ? '' : `## Objects {:#objects}\n\n${parts.join('\n')}`;
  };

  function snippets(route: Route): string {
    const reached = facts.coverage.get(`${route.method} ${route.path}`) ?? {};
    const tabs = LANGUAGES.flatMap(({ name, snippet }) => {
      const text = snippet({ ...facts, route, reached });
      return text === undefined ? [] : [block(` [${name}]`, text)];
    });
    const tools = (reached['MCP'] ?? []).map((tool) => `\`${tool}\``).join(', ');
    return `::: code-group\n${tabs.join('')}:::\n\n${tools === '' ? '' : `As an MCP tool: ${tools}\n`}`;
  }
  function operationSection(route: Route): string {
    const { parameters = [], requestBody: body, responses } = operationOf(document, route);
    const inPlace = (place: string) =>
      parameters.flatMap((each) => (each.in === place ? [{ ...each, isOptional: !each.required }] : []));
    const schema = body?.content?.[JSON_TYPE]?.schema;
    const own = Object.entries(responses).filter(([, { $ref }]) => $ref === undefined);
    const answers = own.map(([status, { description = '', content = {} }]) => {
      const [[type, { schema: answer }] = ['', {} as Content]] = Object.entries(content);
      return `- **${status}** ${answer === undefined ? type : typeText(answer)}\\\n  ${description}`;
    });
    const examples = Object.entries(responses).flatMap(([status, { content }]) => {
      const example = content?.[JSON_TYPE]?.example;
      return example === undefined ? [] : [`**Answer ${status}**\n`, block('json', JSON.stringify(example, null, 2))];
    });
    return [
      `## ${route.summary} {:#${route.operationId}}\n`,
      `${request(route)}\n`,
      `${route.description ?? ''}\n`,
      `${accessText(route)}\n`,
      snippets(route),
      fieldList('**Path**', inPlace('path')),
      fieldList('**Query**', inPlace('query')),
      schema === undefined
        ? body && `**Body**\n\n${body.description ?? ''}\n`
        : fieldsOf(schema, `**Body** ${typeText(schema)}`, true),
      fieldList('**Headers**', inPlace('header')),
      `**Answers**\n\n${answers.join('\n')}\n`,
      ...examples,
      `::: details Errors\n${errorsOf(route)
        .map((each) => `[\`${each}\`](/docs/errors#${each})`)
        .join(' ')}\n:::\n`,
    ].join('\n');
  }

  const resources = [...Map.groupBy(routes, ({ tag }) => tag)].map(([tag, ofTag]): Page => {
    const description = document.tags.find(({ name }) => name === tag)?.description ?? '';
    const list = ofTag.map((route) => `- [${request(route)}](#${route.operationId}) ${route.summary}`).join('\n');
    const sections = ofTag.map(operationSection).join('\n');
    const markdown = `# ${tag}\n\n${description}\n\n${list}\n\n${sections}\n${objects(pageOfTag(tag))}`;
    return { path: pageOfTag(tag), title: tag, markdown };
  });

  const errors = Object.entries(ERROR_CATALOGUE).map(([name, { status, message, fix }]) => {
    const answering = routes.filter((route) => errorsOf(route).some((each) => each === name));
    const listed = answering.length > LISTED_MAX ? [] : answering;
    const links = listed.map((route) => `- [${request(route)}](${pageOfTag(route.tag)}#${route.operationId})`);
    return `## \`${name}\` ${status} {:#${name}}\n\n${message}\n\n**What to do.** ${fix}\n\n${links.join('\n')}\n`;
  });
  const eventSections = events.map(({ type, summary, schema, example }) => {
    const { title = '' } = schema as { readonly title?: string };
    const fields = fieldsOf(schemas[title.replaceAll(' ', '')] ?? schema);
    const body = block('json', JSON.stringify(example, null, 2));
    return `## \`${type}\` {:#${type}}\n\n${summary}\n\n${fields}\n**Example**\n\n${body}`;
  });
  return [
    { path: '/docs/errors', title: 'Errors', markdown: `${ERRORS}\n${errors.join('\n')}` },
    {
      path: '/docs/events',
      title: 'Events',
      markdown: `${EVENTS}\n${eventSections.join('\n')}\n${objects('/docs/events')}`,
    },
    ...resources,
  ];
}

const ERRORS = `# Errors

Codes are stable. Decide by \`error.code\`; \`message\` is for people and may change.
`;
const EVENTS = `# Events

Every delivery is a POST of one event, signed by [Standard Webhooks](https://www.standardwebhooks.com). Verify the
signature over the exact bytes of the body before parsing it, and remember \`webhook-id\` to ignore duplicates. Complete
receivers: [Receive webhooks](/docs/recipes/receive-webhooks).
`;
