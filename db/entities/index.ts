import { ApiKey } from './api-key.ts';
import { AuditEntry } from './audit-entry.ts';
import { Delivery } from './delivery.ts';
import { DeliveryAttempt } from './delivery-attempt.ts';
import { Event } from './event.ts';
import { IdempotencyKey } from './idempotency-key.ts';
import { Invitation } from './invitation.ts';
import { MailDomain } from './mail-domain.ts';
import { Mailbox } from './mailbox.ts';
import { Member } from './member.ts';
import { Organization } from './organization.ts';
import { Session } from './session.ts';
import { User } from './user.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

/** All entities, for MikroORM's discovery. */
export const entities = [
  ApiKey,
  AuditEntry,
  Delivery,
  DeliveryAttempt,
  Event,
  IdempotencyKey,
  Invitation,
  MailDomain,
  Mailbox,
  Member,
  Organization,
  Session,
  User,
  WebhookEndpoint,
];
