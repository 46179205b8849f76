import Type from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { closed, nullable } from '#api/http/schema-parts.ts';
import { firstRun } from '#core/accounts/create-organization.ts';
import { idPattern } from '#domain/ids.ts';

const FirstRun = closed(
  {
    mailbox: nullable(
      closed({ id: Type.String({ pattern: idPattern('mailbox') }), address: Type.String() }, { title: 'FirstMailbox' }),
    ),
    connected: Type.Boolean({ description: 'The token of a mailbox was used.' }),
    received: Type.Boolean({ description: 'A mailbox received mail.' }),
    notified: Type.Boolean({ description: 'A webhook delivery was acknowledged.' }),
  },
  { title: 'FirstRun' },
);

export const firstRunRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/first-run',
    operationId: 'getFirstRun',
    withoutCall: { client: 'The state of the page that shows a person the first steps.' },
    tag: 'Organization',
    summary: 'Which of the first steps are done',
    description: 'The oldest mailbox, and whether an agent connected, mail was received and a webhook was delivered.',
    auth: { role: 'member' },
    responses: {
      200: {
        description: 'The steps.',
        schema: FirstRun,
        example: {
          mailbox: { id: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8', address: 'calm-otter-4821@agents.example.com' },
          connected: true,
          received: true,
          notified: false,
        },
      },
    },
    async handler({ services, organization }) {
      const { mailbox, connected, received, notified } = await firstRun(services.db, organization.id);
      return {
        status: 200,
        body: {
          mailbox: mailbox === null ? null : { id: mailbox.id, address: mailbox.address },
          connected,
          received,
          notified,
        },
      };
    },
  }),
];
