import Type from 'typebox';
import { reachOf } from '#api/http/principal.ts';
import { type Route, route } from '#api/http/route.ts';
import { closed, nullable } from '#api/http/schema-parts.ts';
import { GROUPS_SHOWN_MAX } from '#domain/organizations/mailboxes.ts';
import { mailboxGroups } from '#mailstore/messages/read-across.ts';

const Group = closed(
  {
    name: nullable(Type.String({ description: 'Null: mailboxes without a group.' })),
    mailboxCount: Type.Integer(),
    unreadCount: Type.Integer({ description: 'Messages in their INBOX folders that are not seen.' }),
  },
  { title: 'MailboxGroup' },
);
const GroupList = closed(
  {
    data: Type.Array(Group, { description: `By name, those without a group last; at most ${GROUPS_SHOWN_MAX}.` }),
    unreadCount: Type.Integer({ description: 'Unread messages of all groups together.' }),
  },
  { title: 'MailboxGroupList' },
);

export const mailboxGroupRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/mailbox-groups',
    operationId: 'listMailboxGroups',
    tag: 'Mailboxes',
    summary: 'List the groups of mailboxes, with their unread messages',
    description:
      'A group is a name that several mailboxes share (`group`). It exists as long as a mailbox is in it. API keys can be limited to groups.',
    auth: { scope: 'mailbox:read' },
    limitedKeys: true,
    responses: {
      200: {
        description: 'The groups that the credential has access to.',
        schema: GroupList,
        example: { data: [{ name: 'orders', mailboxCount: 3, unreadCount: 12 }], unreadCount: 12 },
      },
    },
    async handler({ services, organization, principal }) {
      const { groups, unread } = await mailboxGroups(
        services.db,
        organization.id,
        reachOf(principal),
        GROUPS_SHOWN_MAX,
      );
      const data = groups.map(({ name, mailboxes, unread: count }) => ({
        name,
        mailboxCount: mailboxes,
        unreadCount: count,
      }));
      return { status: 200, body: { data, unreadCount: unread } };
    },
  }),
];
