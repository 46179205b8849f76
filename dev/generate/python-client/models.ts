/** `python/src/agent_mailbox/models.py`: what the service answers and takes, as pydantic models. */
import type { OpenApiDocument } from '#api/documents/openapi.ts';
import { type ApiOperation, jsonSchemaOf } from './operations-of.ts';
import {
  describedBy,
  isJson,
  type Json,
  modelName,
  onOneLine,
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

export function pythonModels(document: OpenApiDocument, operations: readonly ApiOperation[]): string {
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
