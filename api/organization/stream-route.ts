import Type from 'typebox';
import { STREAM_EVENTS } from '#api/events/stream.ts';
import { type Route, route } from '#api/http/route.ts';
import { closed, nullable } from '#api/http/schema-parts.ts';
import { ORGANIZATION_CHANGES } from '#domain/webhooks/organization-stream.ts';
import { openOrganizationStream } from './stream.ts';

const OrganizationChange = closed(
  {
    mailboxId: nullable(Type.String()),
    ids: Type.Array(Type.String(), { description: 'What changed, as far as it is named.' }),
    more: Type.Boolean({ description: 'Whether there are others than those named.' }),
  },
  { title: 'OrganizationChange' },
);

/** `data` of each event of the stream of an organization, by its name. */
const ORGANIZATION_STREAM_EVENTS = {
  ...Object.fromEntries(ORGANIZATION_CHANGES.map((kind) => [`${kind}_changed`, OrganizationChange])),
  resync: STREAM_EVENTS.resync,
  closed: STREAM_EVENTS.closed,
};

const auth = { scope: 'org:read' } as const;

export const organizationStreamRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/organization/events/stream',
    operationId: 'streamOrganizationEvents',
    tag: 'Organization',
    summary: 'Stream what changes in the organization',
    description: `Server-sent events for pages that show it: names and ids, no content. ${ORGANIZATION_CHANGES.map((kind) => `\`${kind}_changed\``).join(', ')}, each with \`mailboxId\` (or null), \`ids\` of what changed (of messages; of deliveries and recoveries their endpoints, of the outbox its messages, of logins the mailboxes that a protocol opened for the first time) and \`more\`: there are others than those named. What changes several times within a moment is one event. \`resync\`: more changed than is named, read everything again.

Give the id of the last event as \`Last-Event-ID\` to continue after it, with any process: nothing is missed. Changes are kept for a day; if the id is older, the first event is \`resync\`. Without it the stream starts now. A comment comes every 15 seconds. When the credential or the membership ends, the last event is \`closed\` with the code of the error.`,
    auth,
    responses: {
      200: {
        description: 'The stream. It ends only with the connection, the credential, or a restart of the server.',
        contentType: 'text/event-stream',
        streamEvents: ORGANIZATION_STREAM_EVENTS,
        headers: {
          'Cache-Control': '`no-store, no-transform`: it is not compressed, so that events arrive at once.',
        },
      },
    },
    async handler(request) {
      return {
        status: 200,
        headers: { 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' },
        body: await openOrganizationStream(request, auth),
      };
    },
  }),
];
