import { type Route } from '#api/http/route.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import { openStream, STREAM_EVENTS } from './stream.ts';

const WITHOUT_END = 'A stream without an end is for programs; wait_for_message and `mail wait` wait for mail.';

const tag = 'Messages';

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
  ...onMailbox({
    method: 'GET',
    path: '/events/stream',
    operationIds: ['streamMailboxEvents', 'streamEvents'],
    tag,
    summary: 'Stream the changes of a mailbox',
    description: DESCRIPTION,
    responses,
    withoutCall: { cli: WITHOUT_END, mcp: WITHOUT_END },
    handler: async (request, { id, rule }) => ({
      status: 200,
      headers,
      body: await openStream(request, rule, id),
    }),
  }),
];
