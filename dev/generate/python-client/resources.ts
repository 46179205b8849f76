/**
 * `python/src/agent_mailbox/_async/resources.py`: a method for each operation, named as in the TypeScript client. What
 * needs more than one request and its answer is written by hand beside it: waiting, uploads, streams.
 */
import type { OpenApiDocument } from '#api/documents/openapi.ts';
import type { RouteRow } from '#dev/generate/route-row.ts';
import {
  type ApiOperation,
  describedBy,
  isJson,
  type Json,
  jsonSchemaOf,
  modelName,
  onOneLine,
  pythonName,
  pythonText,
  pythonType,
  referred,
} from './schema-as-python.ts';

const HEADER = `"""A method for each operation. Made from the OpenAPI document by \`npm run generate\`; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from .. import models as m
from .._download import Download
from .._request import NOT_GIVEN, NotGiven, any_given, wait_seconds
from .paged_list import AsyncPagedList
from .resource import AsyncResource
from .transport import AsyncTransport

`;

/** Written by hand in Python. */
const BY_HAND = new Set(['uploadFile', 'streamEvents', 'streamOrganizationEvents']);
/** The second of two would do something else, or fail although the first did it. */
const NOT_REPEATABLE = new Set(['deleteMessage', 'withdrawMessage', 'deleteFile']);
/** A second request without a place would miss messages that arrived since the first one began. */
const WAITING = ['extra_seconds=wait_seconds(timeout_seconds)', 'repeatable=any_given(after, since, consent_id)'];
const PATH_NAMES: Readonly<Record<string, string>> = {
  mid: 'message_id',
  aid: 'attachment_id',
  tid: 'thread_id',
  did: 'draft_id',
  fid: 'file_id',
  rid: 'recovery_id',
};
const CLASS_TEXTS: Readonly<Record<string, string>> = {
  mailbox: 'The mail of one mailbox.',
  'mailbox.files': 'Files that are uploaded once and attached by their id.',
  device: 'Signing in on a device without a browser (RFC 8628).',
  'service.organization': 'The organization of the credential: its settings, and the brakes of its sending.',
};

interface Method {
  /** `mailbox`, `mailbox.files`, `service.keys`, `device`. */
  readonly owner: string;
  readonly name: string;
  readonly operation: ApiOperation;
}

interface Argument {
  readonly name: string;
  readonly json: string;
  readonly type: string;
  readonly isNeeded: boolean;
  readonly text: string | undefined;
}

/** Which class of the client, and the name of the method there. @throws {Error} if two operations have the same */
function methodsOf(operations: readonly ApiOperation[], rows: readonly RouteRow[]): Method[] {
  const methods = operations.flatMap((operation): Method[] => {
    const names = rows.find((row) => row.operationId === operation.id)?.client ?? [];
    const name = names.find((each) => !each.startsWith('service.mailbox(id)'));
    if (name === undefined || BY_HAND.has(operation.id)) return [];
    const at = name.lastIndexOf('.');
    return [{ owner: name.slice(0, at), name: pythonName(name.slice(at + 1)), operation }];
  });
  const seen = new Set<string>();
  for (const { owner, name, operation } of methods) {
    const whole = `${owner}.${name}`;
    if (seen.has(whole)) throw new Error(`${operation.id}: there are two methods ${whole}`);
    seen.add(whole);
  }
  return methods;
}

function bodyArguments(document: OpenApiDocument, { operation }: ApiOperation): Argument[] {
  const reference = jsonSchemaOf(operation['requestBody'])?.['$ref'];
  if (typeof reference !== 'string') return [];
  const schema = document.components.schemas[referred(reference)];
  const properties = isJson(schema) && isJson(schema['properties']) ? schema['properties'] : {};
  const needed = isJson(schema) && Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([json, value]) =>
    argument(json, isJson(value) ? value : {}, needed.includes(json)),
  );
}

function argument(json: string, schema: Json, isNeeded: boolean, text = describedBy(schema)): Argument {
  return { name: pythonName(json), json, type: pythonType(schema, 'argument', 'm.'), isNeeded, text };
}

function queryArguments({ operation }: ApiOperation): Argument[] {
  const all = Array.isArray(operation['parameters']) ? operation['parameters'].filter(isJson) : [];
  return all
    .filter((each) => each['in'] === 'query')
    .map((each) => {
      const text = typeof each['description'] === 'string' ? each['description'] : undefined;
      return argument(
        String(each['name']),
        isJson(each['schema']) ? each['schema'] : {},
        each['required'] === true,
        text,
      );
    });
}

interface Answer {
  readonly status: string;
  readonly model: string | undefined;
  readonly isBytes: boolean;
}

function answersOf({ operation }: ApiOperation): Answer[] {
  const responses = isJson(operation['responses']) ? operation['responses'] : {};
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, response]) => {
      const reference = jsonSchemaOf(response)?.['$ref'];
      const model = typeof reference === 'string' ? modelName(referred(reference)) : undefined;
      return { status, model, isBytes: model === undefined && isJson(response) && isJson(response['content']) };
    });
}

const isPage = (document: OpenApiDocument, model: string): boolean => {
  const schema = document.components.schemas[model];
  const properties = isJson(schema) && isJson(schema['properties']) ? schema['properties'] : {};
  return 'data' in properties && 'nextCursor' in properties;
};

/** The type of the items of a list. */
function itemOf(document: OpenApiDocument, model: string): string {
  const schema = document.components.schemas[model];
  const data = isJson(schema) && isJson(schema['properties']) ? schema['properties']['data'] : undefined;
  return pythonType(isJson(data) && isJson(data['items']) ? data['items'] : {}, 'argument', 'm.');
}

const mapping = (all: readonly Argument[]): string =>
  `{${all.map(({ json, name }) => `${pythonText(json)}: ${name}`).join(', ')}}`;

function methodText(document: OpenApiDocument, { name, operation: api }: Method): string {
  const { id, method, path, operation } = api;
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, place = '']) => PATH_NAMES[place] ?? pythonName(place));
  const body = bodyArguments(document, api);
  const query = queryArguments(api);
  const given = [...query, ...body].toSorted((one, other) => Number(other.isNeeded) - Number(one.isNeeded));
  if (new Set([...places, ...given.map((each) => each.name)]).size < places.length + given.length)
    throw new Error(`${id} has two arguments of the same name`);
  const named = given.map((each) =>
    each.isNeeded ? `${each.name}: ${each.type}` : `${each.name}: ${each.type} | NotGiven = NOT_GIVEN`,
  );
  if (method === 'POST') named.push('idempotency_key: str | None = None');
  const signature = ['self', ...places.map((place) => `${place}: str`), ...(named.length === 0 ? [] : ['*', ...named])];
  const request = [
    pythonText(method),
    pythonText(path),
    ...(places.length === 0 ? [] : [`(${places.join(', ')},)`]),
    ...(query.length === 0 ? [] : [`query=${mapping(query)}`]),
    ...(body.length === 0 ? [] : [`body=${mapping(body)}`]),
    ...(method === 'POST' ? ['idempotency_key=idempotency_key'] : []),
    ...(NOT_REPEATABLE.has(id) ? ['repeatable=False'] : []),
    ...(id === 'waitForMessages' ? WAITING : []),
  ].join(', ');
  const answers = answersOf(api);
  const models = [...new Set(answers.map(({ model }) => model).filter((model) => model !== undefined))];
  const [first] = models;
  const doc = docstring(String(operation['summary']), given);
  const head = (answer: string, isAsync = true): string =>
    `    ${isAsync ? 'async ' : ''}def ${name}(\n${signature.map((each) => `        ${each},\n`).join('')}    ) -> ${answer}:\n${doc}        request = self._request(${request})\n`;
  if (first !== undefined && models.length === 1 && isPage(document, first))
    return `${head(`AsyncPagedList[${itemOf(document, first)}]`, false)}        return AsyncPagedList(self._transport, request, m.${first})\n`;
  if (answers.some(({ isBytes }) => isBytes))
    return `${head('Download')}        return Download.of(await self._send(request))\n`;
  if (first === undefined) return `${head('None')}        await self._send(request)\n`;
  if (models.length === 1)
    return `${head(`m.${first}`)}        return self._parse(m.${first}, await self._send(request))\n`;
  const others = answers.filter(({ model }) => model !== first);
  const parsed = others.map(
    ({ status, model }) =>
      `        if answer.status_code == ${status}:\n            return self._parse(m.${model}, answer)\n`,
  );
  return `${head(models.map((model) => `m.${model}`).join(' | '))}        answer = await self._send(request)\n${parsed.join('')}        return self._parse(m.${first}, answer)\n`;
}

function docstring(summary: string, given: readonly Argument[]): string {
  const lines = given
    .filter(({ text }) => text !== undefined)
    .map(({ name, text = '' }) => `        ${name}: ${onOneLine(text)}\n`);
  const first = `        """${onOneLine(summary)}.`;
  return lines.length === 0 ? `${first}"""\n` : `${first}\n\n${lines.join('')}        """\n`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `mailbox.files` as `Files`. */
const resourceClass = (owner: string): string => capital(owner.slice(owner.lastIndexOf('.') + 1));

/** @param rows which method of the TypeScript client asks which route: the names of the Python methods are made of them */
export function pythonResources(
  document: OpenApiDocument,
  operations: readonly ApiOperation[],
  rows: readonly RouteRow[],
): string {
  const byOwner = Map.groupBy(methodsOf(operations, rows), ({ owner }) => owner);
  const classes = [...byOwner].map(([owner, methods]) => {
    const name = resourceClass(owner);
    const text = CLASS_TEXTS[owner] ?? `${name} of the organization.`;
    return `class Async${name}(AsyncResource):\n    """${text}"""\n\n${methods.map((each) => methodText(document, each)).join('\n')}`;
  });
  const owners = [...byOwner.keys()].filter((owner) => owner.startsWith('service.'));
  const fields = owners.map((owner) => {
    const field = pythonName(owner.slice('service.'.length));
    return `        self.${field} = Async${resourceClass(owner)}(transport)\n`;
  });
  const service = `class AsyncOrganizationResources:\n    """The resources of an organization."""\n\n    def __init__(self, transport: AsyncTransport) -> None:\n${fields.join('')}`;
  return `${HEADER}\n${[...classes, service].join('\n\n')}`;
}
