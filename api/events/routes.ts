import { type Route, route } from '#api/http/route.ts';
import { MailboxPath } from '#api/messages/schema.ts';
import { requireMailbox } from '#db/queries/mailboxes/require-mailbox.ts';
import { openStream, STREAM_EVENTS } from './stream.ts';

const WITHOUT_END = 'A stream without an end is for programs; wait_for_message and `mail wait` wait for mail.';

const tag = 'Messages';
const ofMailbox = { scope: 'mailbox:read', mailboxToken: true } as const;

const SUMMARY = 'Stream the changes of a mailbox';
const DESCRIPTION = `Server-sent events, of changes by any protocol: \`messages_added\` and \`messages_changed\` (flags, labels) with \`folder\`, \`occurredAt\` and \`messages\` as lists show them, \`messages_removed\` with \`messageIds\`, and \`consent_decided\` when held mail was approved (with what was changed), denied (with the reason), expired or withdrawn. A move is an addition and a removal. A change of more than 100 messages comes in several events, the last of which has the id.

Give the id of the last event as \`Last-Event-ID\` (browsers do so automatically) to continue after it: nothing is missed, whichever process answers. Changes are kept for 30 days; if the id is older, the first event is \`resync\`: list the messages again. Without it the stream starts now. A comment comes every 15 seconds. When the credential or the mailbox ends, the last event is \`closed\` with the code of the error.`;
const responses = {
  200: {
    description: 'The stream. It ends only with the connection, the credential, or a restart of the server.',
    contentType: 'text/event-stream',
    streamEvents: STREAM_EVENTS,
    headers: { 'Cache-Control': '`no-store, no-transform`: it is not compressed, so that events arrive at once.' },
  },
} as const;
/** Neither compressed nor buffered by proxies: each event must arrive at once. */
const headers = { 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' };

export const eventRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/events/stream',
    operationId: 'streamMailboxEvents',
    withoutCall: { cli: WITHOUT_END },
    tag,
    summary: SUMMARY,
    description: DESCRIPTION,
    auth: ofMailbox,
    params: MailboxPath,
    responses,
    errors: ['not_found'],
    async handler(request) {
      const { id } = await requireMailbox(request.services.db, request.organization.id, request.params.id);
      return { status: 200, headers, body: await openStream(request, ofMailbox, id) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/events/stream',
    operationId: 'streamEvents',
    withoutCall: { cli: WITHOUT_END, mcp: WITHOUT_END },
    tag,
    summary: SUMMARY,
    description: `${DESCRIPTION} Of the mailbox whose token is sent.`,
    auth: 'mailbox_token',
    responses,
    handler: async (request) => ({
      status: 200,
      headers,
      body: await openStream(request, 'mailbox_token', request.principal.id),
    }),
  }),
];
