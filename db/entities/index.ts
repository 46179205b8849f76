import { ApiKey } from './api-key.ts';
import { Invitation } from './invitation.ts';
import { MailDomain } from './mail-domain.ts';
import { Mailbox } from './mailbox.ts';
import { Member } from './member.ts';
import { Organization } from './organization.ts';
import { Session } from './session.ts';
import { User } from './user.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

/** All entities, for MikroORM's discovery. */
export const entities = [ApiKey, Invitation, MailDomain, Mailbox, Member, Organization, Session, User, WebhookEndpoint];
