import { type Route, route, SHOWN_TO_PERSONS } from '#api/http/route.ts';
import { mailboxExample } from '#api/mailboxes/schema.ts';
import { findActivity } from '#core/events/find-activity.ts';
import { messageIdRef } from '#mailstore/delivery/threads.ts';
import { ActivityQuery, ActivityResult, presentActivity } from './schema.ts';

const messageExample = {
  id: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: mailboxExample.id,
  mailboxAddress: mailboxExample.address,
  direction: 'inbound',
  subject: 'Where is my order 4711?',
  from: 'ada@customer.example',
  to: [mailboxExample.address],
  at: '2026-11-21T09:16:02.481Z',
  status: null,
  answer: null,
};
const refusalExample = {
  id: 'mrf_01k8e8f2c0e4x9w2v7a3r5t6y8',
  at: messageExample.at,
  direction: 'inbound',
  outcome: 'refused',
  from: 'ada@customer.example',
  to: [`old.${mailboxExample.address}`],
  messageIdHeader: null,
  step: 'RCPT',
  answer: '550 5.1.1 No such mailbox here',
  client: '203.0.113.7',
  session: '9k2m4t',
  reasons: [],
  mailboxId: null,
};
const entryExample = {
  at: messageExample.at,
  kind: 'accepted',
  outcome: 'ok',
  text: `Accepted by SMTP from mx.customer.example (203.0.113.7) for ${mailboxExample.address}`,
  detail: 'SPF pass · DKIM pass · DMARC pass · envelope sender ada@customer.example',
  dueAt: null,
  messageId: messageExample.id,
  consentId: null,
  eventId: null,
  deliveryId: null,
  endpointId: null,
  workflowId: null,
};

export const activityRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/activity',
    operationId: 'findActivity',
    withoutCall: { cli: SHOWN_TO_PERSONS },
    tag: 'Activity',
    summary: 'Find what happened to a message, an event or a delivery, or why mail did not arrive',
    description:
      'For people: searches the messages of the organization. An id, or words that match a single message, answer everything about it as one timeline. Otherwise `hits` lists the messages; send the id of one of them as `q` to get its timeline. Mail that did not arrive has no message: what was refused, deferred or is held by screening is in `notDelivered`, with the answer that its sender got. Events, deliveries and refusals are kept for 30 days.',
    auth: { role: 'member' },
    query: ActivityQuery,
    responses: {
      200: {
        description: 'What was found.',
        schema: ActivityResult,
        example: {
          understoodAs: 'message',
          hits: [messageExample],
          more: false,
          complete: true,
          timeline: { message: messageExample, entries: [entryExample], truncated: false },
          notDelivered: [refusalExample],
        },
      },
    },
    async handler({ services, organization, query }) {
      const activity = await findActivity(services, organization.id, query.q, messageIdRef);
      return { status: 200, body: presentActivity(activity, services.settings) };
    },
  }),
];
