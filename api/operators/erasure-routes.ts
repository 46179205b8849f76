/** Erasures: begun here, carried out by a workflow, read until they have their receipt. */
import Type, { type Static } from 'typebox';
import {
  correspondentTarget,
  findErasure,
  listErasures,
  mailboxTarget,
  organizationTarget,
  rehearse,
  type Target,
} from '#administration/erasure/erase.ts';
import { eraseInBackground } from '#administration/erasure/erase-in-background.ts';
import { ERASURE_KINDS } from '#administration/erasure/receipt.ts';
import { type Route, route } from '#api/http/route.ts';
import { closed, listBody, listOf, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import { idPattern } from '#domain/ids.ts';
import { isEmailAddress } from '#domain/mail/mailbox-address.ts';
import { Erasure, ErasureRehearsal, presentErasure } from './schema.ts';

const tag = 'Operators';

const about = {
  kind: Type.Enum([...ERASURE_KINDS]),
  subject: Type.String({
    minLength: 1,
    maxLength: 320,
    description: 'Of a mailbox its id or address; of an organization its id or slug; of a correspondent the address.',
  }),
  organization: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Of a correspondent: only in this organization, by id or slug. Default: in all.',
    }),
  ),
};
const AboutQuery = closed(about);

async function targetOf(
  services: Services,
  { kind, subject, organization }: Static<typeof AboutQuery>,
): Promise<Target> {
  if (organization !== undefined && kind !== 'correspondent')
    throw new CatalogueError('invalid_request', 'An organization is given for a correspondent only.');
  if (kind === 'mailbox') return mailboxTarget(services.db, subject);
  if (kind === 'organization') return organizationTarget(services.db, subject);
  if (!isEmailAddress(subject))
    throw new CatalogueError('invalid_request', 'The subject is no e-mail address.', {
      fix: 'Send the address of the correspondent.',
    });
  const within = organization === undefined ? undefined : await organizationTarget(services.db, organization);
  return correspondentTarget(services, subject, within?.subject.organizationId ?? null);
}

const example = {
  id: 'ers_01k8e8f2c0e4x9w2v7a3r5t6y8',
  kind: 'mailbox',
  organizationId: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8',
  addressHash: null,
  state: 'running',
  startedAt: '2026-11-21T09:15:00.000Z',
  finishedAt: null,
  counts: { message: 412, placement: 418 },
  receipt: null,
};

export const operatorErasureRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/operator/erasures',
    operationId: 'eraseContent',
    tag,
    summary: 'Erase a mailbox, an organization or a correspondent',
    description:
      'For the operator of the instance. It cannot be undone. It goes on in the background; GET /api/operator/erasures/:id shows the rows of each table and at the end the signed receipt. Asked for again, it goes on where it was. Backups are not looked for: those that were made before still contain it.',
    auth: 'instance',
    body: closed(
      { ...about, yes: Type.Literal(true, { description: 'Erase: it cannot be undone.' }) },
      { title: 'EraseContent' },
    ),
    bodyExample: { kind: 'mailbox', subject: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8', yes: true },
    responses: { 202: { description: 'The erasure as it is now.', schema: Erasure, example } },
    errors: ['not_found', 'conflict'],
    async handler({ services, temporal, body: { yes: _yes, ...of } }) {
      const row = await eraseInBackground(services, temporal, await targetOf(services, of));
      return { status: 202, body: presentErasure(row) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/operator/erasures',
    operationId: 'listErasures',
    tag,
    summary: 'Erasures of the installation',
    description: 'For the operator of the instance. Also those of commands.',
    auth: 'instance',
    query: PageQuery,
    responses: {
      200: {
        description: 'A page of erasures, newest first.',
        schema: listOf(Erasure, 'ErasureList'),
        example: { data: [example], nextCursor: null },
      },
    },
    async handler({ services, query }) {
      const page = pageOf('erasure', query);
      return { status: 200, body: listBody(await listErasures(services.db, page), page, presentErasure) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/operator/erasures/rehearsal',
    operationId: 'rehearseErasure',
    tag,
    summary: 'Count what an erasure would take',
    description: 'For the operator of the instance. Changes nothing; of large mailboxes it takes some time.',
    auth: 'instance',
    query: AboutQuery,
    responses: {
      200: {
        description: 'Rows by table.',
        schema: ErasureRehearsal,
        example: { kind: 'mailbox', counts: { message: 412, placement: 418 } },
      },
    },
    errors: ['not_found'],
    async handler({ services, query }) {
      const target = await targetOf(services, query);
      return { status: 200, body: { kind: target.kind, counts: { ...(await rehearse(services, target, () => {})) } } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/operator/erasures/:id',
    operationId: 'getErasure',
    tag,
    summary: 'An erasure, how far it is, and its receipt',
    description: 'For the operator of the instance.',
    auth: 'instance',
    params: closed({ id: Type.String({ pattern: idPattern('erasure') }) }),
    responses: { 200: { description: 'The erasure as it is now.', schema: Erasure, example } },
    async handler({ services, params }) {
      const row = await findErasure(services.db, params.id);
      if (row === undefined) throw new CatalogueError('not_found');
      return { status: 200, body: presentErasure(row) };
    },
  }),
];
