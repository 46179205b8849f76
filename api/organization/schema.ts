import Type from 'typebox';
import { OUTBOUND_CONSENT_MODES } from '../../domain/consent.ts';
import { idPattern } from '../../domain/ids.ts';
import {
  CONSENT_EXPIRES_DAYS_MAX,
  ORGANIZATION_NAME_MAX,
  SLUG_MAX,
  SLUG_PATTERN,
} from '../../domain/organization-limits.ts';
import { PLAN_NAMES } from '../../domain/plans.ts';
import { InvitationWithToken } from '../members/schema.ts';
import { listOf } from '../pagination.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';
import { Email } from '../sessions/schema.ts';

const outboundConsent = Type.Enum(OUTBOUND_CONSENT_MODES, {
  description: 'When mail to an address outside waits for a person: never, at the first contact, always.',
});
const consentExpiresInDays = Type.Integer({
  minimum: 1,
  maximum: CONSENT_EXPIRES_DAYS_MAX,
  description: 'A request nobody decided is denied after these days.',
});
const consentByApiKey = Type.Boolean({ description: 'Whether an API key may decide; else only a signed-in person.' });

const organizationFields = {
  id: Type.String({ pattern: idPattern('organization') }),
  name: Type.String(),
  slug: Type.String(),
  plan: Type.Enum(PLAN_NAMES),
  settings: closed({ outboundConsent, consentExpiresInDays, consentByApiKey }),
  limits: closed(
    {
      mailboxes: nullable(Type.Integer()),
      webhookEndpoints: nullable(Type.Integer()),
      domains: nullable(Type.Integer()),
      quotaBytesPerMailbox: Type.Integer(),
      apiRequestsPerMinute: nullable(Type.Integer()),
    },
    { description: 'What the plan allows; null: no limit.' },
  ),
  defaultDomain: Type.String({ description: 'Domain of mailboxes that are created without one.' }),
  createdAt: dateTime(),
  updatedAt: dateTime(),
};

export const Organization = closed(organizationFields, { title: 'Organization' });
export const OrganizationList = listOf(Organization);

export const OrganizationWithInvitation = closed(
  { ...organizationFields, invitation: nullable(InvitationWithToken) },
  { title: 'OrganizationWithInvitation' },
);

export const CreateOrganization = closed({
  name: Type.String({ minLength: 1, maxLength: ORGANIZATION_NAME_MAX }),
  slug: Type.Optional(
    Type.String({ pattern: SLUG_PATTERN, maxLength: SLUG_MAX, description: 'Default: made of the name.' }),
  ),
  plan: Type.Optional(Type.Enum(PLAN_NAMES, { description: 'Default: free.' })),
  ownerEmail: Email,
});

export const UpdateOrganization = closed(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: ORGANIZATION_NAME_MAX })),
    slug: Type.Optional(Type.String({ pattern: SLUG_PATTERN, maxLength: SLUG_MAX })),
    settings: Type.Optional(
      closed(
        {
          outboundConsent: Type.Optional(outboundConsent),
          consentExpiresInDays: Type.Optional(consentExpiresInDays),
          consentByApiKey: Type.Optional(consentByApiKey),
        },
        { minProperties: 1, description: 'Settings not named keep their value.' },
      ),
    ),
  },
  { minProperties: 1 },
);

export const ChangePlan = closed({ plan: Type.Enum(PLAN_NAMES) });
