/**
 * What of `python/src/agent_mailbox` is made from the OpenAPI document: `models.py` (what the service answers and takes,
 * as pydantic models) and the resources. The files are committed, so that the package is built by Python alone; a test
 * compares them. The build makes the synchronous client (`hatch_build.py`).
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenApiDocument } from '#api/documents/openapi.ts';
import { currentOpenApi } from '#api/documents/serve-documents.ts';
import { routes } from '#api/routes.ts';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import type { RouteRow } from '#dev/generate/route-row.ts';
import { pythonResources } from './resources.ts';
import {
  type ApiOperation,
  describedBy,
  isJson,
  type Json,
  jsonSchemaOf,
  modelName,
  onOneLine,
  operationsOf,
  pythonName,
  pythonText,
  pythonType,
  referred,
} from './schema-as-python.ts';

const HEADER = `"""What the service answers and takes. Made from its OpenAPI document by \`npm run generate\`; do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Union

from ._model import OPEN, Model

`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const pascal = (text: string): string => text.split('_').map(capital).join('');

function fieldOf(name: string, value: unknown, isNeeded: boolean): string {
  const schema = isJson(value) ? value : {};
  const type = pythonType(schema, 'answer');
  const isNullable = /(?:^|\| )None$|^Any$/.test(type);
  const text = describedBy(schema);
  const comment = text === undefined ? '' : `    # ${onOneLine(text)}\n`;
  const rest = isNeeded ? '' : ' = None';
  return `${comment}    ${pythonName(name)}: ${isNeeded || isNullable ? type : `${type} | None`}${rest}\n`;
}

function modelOf(name: string, schema: Json): string {
  const { properties, required } = schema;
  const description = typeof schema['description'] === 'string' ? schema['description'] : undefined;
  if (schema['type'] !== 'object' || !isJson(properties))
    return `${modelName(name)} = ${pythonType(schema, 'answer')}\n`;
  const needed = new Set(Array.isArray(required) ? required : []);
  // Fields with a default are last: constructors take them in this order.
  const fields = Object.entries(properties).toSorted(
    ([one], [other]) => Number(needed.has(other)) - Number(needed.has(one)),
  );
  const heading = description === undefined ? '' : `    """${onOneLine(description)}"""\n\n`;
  const body = heading + fields.map(([field, value]) => fieldOf(field, value, needed.has(field))).join('');
  return `class ${modelName(name)}(Model):\n${body || '    pass\n'}`;
}

/** The events of a stream as a union by name. */
function streamOf({ id, operation }: ApiOperation): string[] {
  const ok = isJson(operation['responses']) ? operation['responses']['200'] : undefined;
  const content = isJson(ok) && isJson(ok['content']) ? ok['content']['text/event-stream'] : undefined;
  const events = isJson(content) ? content['x-stream-events'] : undefined;
  if (!isJson(events)) return [];
  const nameOf = (event: string): string => `${capital(id)}${pascal(event)}`;
  const members = Object.entries(events).map(
    ([name, schema]) =>
      `class ${nameOf(name)}(Model):\n    name: Literal[${pythonText(name)}]\n    id: str | None\n    data: ${pythonType(isJson(schema) ? schema : {}, 'answer')}\n`,
  );
  return [
    ...members,
    `${capital(id)}Event = Union[\n${Object.keys(events)
      .map((name) => `    ${nameOf(name)},\n`)
      .join('')}]\n`,
  ];
}

function pythonModels(document: OpenApiDocument, operations: readonly ApiOperation[]): string {
  const schemas = Object.entries(document.components.schemas).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const events = Object.values(document.webhooks).map((event) => {
    const post = event['post'];
    const schema = jsonSchemaOf(isJson(post) ? post['requestBody'] : undefined);
    return modelName(referred(String(schema?.['$ref'])));
  });
  const parts = [
    ...schemas.map(([name, schema]) => modelOf(name, isJson(schema) ? schema : {})),
    ...operations.flatMap(streamOf),
    `# The body of a webhook; \`type\` says which.\nWebhookEvent = Union[\n${events.map((name) => `    ${name},\n`).join('')}]\n`,
  ];
  return `${HEADER}\n${parts.join('\n\n')}`;
}

const FOLDER = fileURLToPath(new URL('../../../python/src/agent_mailbox', import.meta.url));

/** Each file with its text, as the routes have it now. */
export function pythonFiles(rows: readonly RouteRow[]): ReadonlyMap<string, string> {
  const document = currentOpenApi(routes, webhookEvents, 'http://localhost');
  const operations = operationsOf(document);
  return new Map([
    [path.join(FOLDER, 'models.py'), pythonModels(document, operations)],
    [path.join(FOLDER, '_async/resources.py'), pythonResources(document, operations, rows)],
  ]);
}

/** The committed files that are not those of the routes. */
export const outdatedPythonFiles = (rows: readonly RouteRow[]): string[] =>
  [...pythonFiles(rows)].filter(([file, text]) => readFileSync(file, 'utf8') !== text).map(([file]) => file);
