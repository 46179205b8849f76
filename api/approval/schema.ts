import Type from 'typebox';
import { consentMessageExample } from '#api/consents/examples.ts';
import { ConsentAttachmentPath, ConsentMessage } from '#api/consents/message-schema.ts';
import { closed, dateTime } from '#api/http/schema-parts.ts';

export const ApprovalAttachmentPath = closed({ aid: ConsentAttachmentPath.properties.aid });

export const Approval = closed(
  {
    member: closed({ name: Type.String(), email: Type.String() }, { title: 'ApprovingMember' }),
    organization: closed({ name: Type.String() }, { title: 'ApprovingOrganization' }),
    linkExpiresAt: dateTime('The link works until then, if nothing ends it before.'),
    message: ConsentMessage,
  },
  { title: 'Approval' },
);

export const approvalExample = {
  member: { name: 'Ada Byron', email: 'ada@example.com' },
  organization: { name: 'Example' },
  linkExpiresAt: '2026-11-28T09:16:02.481Z',
  message: consentMessageExample,
};
