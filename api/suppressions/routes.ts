import Type from 'typebox';
import { type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import { closed, dateTime, listBody, listOf, nullable, pageOf, pageQuery } from '#api/http/schema-parts.ts';
import { idPattern } from '#domain/ids.ts';
import { ADDRESS_MAX_CHARACTERS } from '#domain/sending/outbound.ts';
import {
  listSuppressions,
  removeSuppression,
  type Suppression as SuppressionRow,
} from '#sending/lists/suppressions.ts';

const SuppressionId = Type.String({ pattern: idPattern('suppression'), description: 'Id of the entry.' });
const SuppressionPath = closed({ id: SuppressionId });

const Reason = Type.Enum(['hard_bounce', 'complaint'], {
  description: '`hard_bounce`: there is no such address (5.1.x). `complaint`: its owner reported a message as abuse.',
});

const SuppressionsQuery = closed({
  ...pageQuery,
  address: Type.Optional(
    Type.String({ minLength: 3, maxLength: ADDRESS_MAX_CHARACTERS, description: 'Only the entry of this address.' }),
  ),
  reason: Type.Optional(Reason),
});

export const Suppression = closed(
  {
    id: SuppressionId,
    address: Type.String({ description: 'In lower case. Of a person who was erased: `sha256:` and a hash.' }),
    reason: Reason,
    messageId: nullable(Type.String({ description: 'The message that bounced or caused the complaint.' })),
    createdAt: dateTime(),
  },
  { title: 'Suppression' },
);
export const SuppressionList = listOf(Suppression, 'SuppressionList');

const tag = 'Suppressions';

const example = {
  id: 'sup_01k8e8f2c0e4x9w2v7a3r5t6y8',
  address: 'gone@customer.example',
  reason: 'hard_bounce',
  messageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  createdAt: '2026-11-21T09:15:00.000Z',
};

const presentSuppression = ({ id, address, reason, messageId, createdAt }: SuppressionRow) => ({
  id,
  address,
  reason,
  messageId,
  createdAt: createdAt.toISOString(),
});

export const suppressionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/suppressions',
    operationId: 'listSuppressions',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'List suppressed addresses, newest first',
    description:
      'An address that does not exist, or whose owner complained, is added to this list. A message to it ends as `suppressed` for this recipient, with `email_blocked`.',
    auth: { scope: 'mailbox:read' },
    query: SuppressionsQuery,
    responses: {
      200: {
        description: 'A page of entries.',
        schema: SuppressionList,
        example: { data: [example], nextCursor: null },
      },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('suppression', query);
      const filter = { address: query.address ?? null, reason: query.reason ?? null };
      const rows = await listSuppressions(services.db, organization.id, filter, page);
      return { status: 200, body: listBody(rows, page, presentSuppression) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/suppressions/:id',
    operationId: 'removeSuppression',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag,
    summary: 'Allow writing to an address again',
    description:
      'Needs a person, because the address refused mail or its owner complained. An API key may do it only if the organization sets `consentByApiKey`.',
    auth: { scope: 'mailbox:write' },
    params: SuppressionPath,
    responses: { 204: { description: 'Removed.' } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await removeSuppression(services, organization.id, caller, params.id);
      return { status: 204 };
    },
  }),
];
