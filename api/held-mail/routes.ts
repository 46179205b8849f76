import { type Route, route } from '#api/http/route.ts';
import { listBody, pageOf } from '#api/http/schema-parts.ts';
import { CatalogueError } from '#domain/errors.ts';
import { readSafely } from '#mailstore/reading/read-safely.ts';
import { decideHeldMail } from '#sending/held-mail/decide-held-mail.ts';
import { findHeldMail, listHeldMail } from '#sending/held-mail/find-held-mail.ts';
import {
  DecideHeldMail,
  heldMailExample as example,
  HeldMailItem,
  HeldMailList,
  HeldMailPath,
  HeldMailQuery,
  HeldMailWithContent,
  presentHeldMail,
  presentHeldMailContent,
} from './schema.ts';

const tag = 'Held mail';
const FOR_PERSONS = 'Needs a session of a member: no key and no token sees mail that is held.';
const withoutCall = {
  client: 'Only signed-in people see held mail; the client has keys and tokens.',
  cli: 'Only signed-in people see held mail; the command line has keys and tokens.',
};

/** Of `session`s alone: a program with a key may be an agent. */
export const heldMailRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/held-mail',
    operationId: 'listHeldMail',
    withoutCall,
    tag,
    summary: 'List arriving mail that is held, newest first',
    description: FOR_PERSONS,
    auth: { role: 'member' },
    query: HeldMailQuery,
    responses: {
      200: { description: 'A page of mail.', schema: HeldMailList, example: { data: [example], nextCursor: null } },
    },
    async handler({ services, organization, query }) {
      const page = pageOf('message', query);
      const filter = { state: query.state ?? 'held', mailboxId: query.mailboxId ?? null };
      return {
        status: 200,
        body: listBody(await listHeldMail(services.db, organization.id, filter, page), page, presentHeldMail),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/api/held-mail/:id',
    operationId: 'getHeldMail',
    withoutCall,
    tag,
    summary: 'Get held mail with its text',
    description: FOR_PERSONS,
    auth: { role: 'member' },
    params: HeldMailPath,
    responses: {
      200: {
        description: 'The mail.',
        schema: HeldMailWithContent,
        example: {
          ...example,
          content: {
            to: ['calm-otter-4821@agents.example.com'],
            cc: [],
            text: 'Please find the invoice attached.',
            truncated: false,
            attachments: [],
          },
        },
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, params }) {
      const held = await findHeldMail(services.db, organization.id, params.id);
      if (held === undefined) throw new CatalogueError('not_found');
      const { bytes, mailboxId } = held;
      const read = bytes === null ? null : await readSafely(services.db, bytes, { source: mailboxId });
      return { status: 200, body: presentHeldMailContent(held, read) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/held-mail/:id/decide',
    operationId: 'decideHeldMail',
    withoutCall,
    tag,
    summary: 'Release held mail, block its sender, or report it',
    description: `Released mail is delivered with the time of its arrival, and \`email_received\` is recorded then. A second decision is a conflict. ${FOR_PERSONS}`,
    auth: { role: 'member' },
    params: HeldMailPath,
    body: DecideHeldMail,
    bodyExample: { decision: 'release' },
    responses: {
      200: {
        description: 'The mail as it is now.',
        schema: HeldMailItem,
        example: { ...example, state: 'released', decidedAt: '2026-11-21T09:40:00.000Z' },
      },
    },
    errors: ['not_found', 'conflict'],
    handler: async ({ services, organization, caller, params, body }) => ({
      status: 200,
      body: presentHeldMail(await decideHeldMail(services, organization.id, params.id, body.decision, caller)),
    }),
  }),
];
