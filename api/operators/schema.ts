/** What operators see: figures, envelopes and steps, never content of tenants. */
import Type, { type Static } from 'typebox';
import type { ErasureRow } from '#administration/erasure/erase.ts';
import { statementOf } from '#administration/erasure/erase.ts';
import { ERASURE_KINDS } from '#administration/erasure/receipt.ts';
import type { MailStep } from '#administration/mail/find-mail.ts';
import type { QueuedMail } from '#administration/mail/read-queue.ts';
import type { OperatorUse } from '#administration/operator-uses.ts';
import type { Overview } from '#administration/overview.ts';
import { closed, dateTime, nullable, timeOf } from '#api/http/schema-parts.ts';
import type { TenantFigures } from '#core/organizations/tenant-figures.ts';
import type { Finding } from '#core/process/diagnosis/finding.ts';
import { DIAGNOSIS_CHECKS } from '#core/process/diagnosis/finding.ts';
import { idPattern } from '#domain/ids.ts';
import { OBJECTIVE_WINDOW_MINUTES, OBJECTIVES, type ObjectiveName } from '#domain/objectives.ts';
import { PLAN_NAMES } from '#domain/organizations/plans.ts';
import { SUSPENDED_RECEIVE } from '#domain/organizations/suspension.ts';

const text = (description?: string) => nullable(Type.String(description === undefined ? {} : { description }));
const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description === undefined ? {} : { description }) });
const bytes = (description: string) => Type.Number({ minimum: 0, description });
const seconds = (description: string) => nullable(Type.Number({ minimum: 0, description }));

export const OperatorOverview = closed(
  {
    version: Type.String(),
    queues: Type.Array(
      closed(
        {
          queue: Type.Enum(['webhooks', 'outgoing messages', 'consents', 'notices']),
          waiting: count(),
          oldestSeconds: seconds('Age of the oldest; null: none waits.'),
          overdue: count('That should have gone on.'),
          overdueSeconds: seconds('Since when the oldest of them should have.'),
        },
        { title: 'OperatorQueueFigures' },
      ),
    ),
    objectives: Type.Array(
      closed(
        {
          name: Type.Enum(Object.keys(OBJECTIVES) as ObjectiveName[], {
            description:
              '`firstAttempt`: the first attempt of a delivery began within a second. `approvalNotice`: a notice about a held message was sent within ten.',
          }),
          target: Type.Number({ description: 'Share that must be good, 0 to 1.' }),
          good: count(),
          total: count(),
        },
        { title: 'OperatorObjective' },
      ),
      { description: `Of the last ${OBJECTIVE_WINDOW_MINUTES} minutes.` },
    ),
    disk: nullable(
      closed(
        { freeBytes: bytes('Free.'), totalBytes: bytes('Free and used.') },
        { title: 'OperatorDisk', description: 'Of DATA_DIR in the process that answers; null: it cannot be read.' },
      ),
    ),
    databaseBytes: bytes('Size of the database.'),
    organizations: closed({ total: count(), suspended: count() }, { title: 'OperatorOrganizationCounts' }),
    erasures: count('Erasures that have not ended.'),
    certificates: Type.Array(
      closed({ names: Type.String(), expiresAt: dateTime() }, { title: 'OperatorCertificate' }),
      { description: 'Of the process that answers. What cannot be read is in the findings.' },
    ),
    lastBackupAt: nullable(
      dateTime('The last backup that a command of this installation finished; null: none is known.'),
    ),
  },
  { title: 'OperatorOverview' },
);

const seconds0 = (value: number | null): number | null => (value === null ? null : Math.max(0, value));

export const presentOverview = (overview: Overview): Static<typeof OperatorOverview> => ({
  version: overview.version,
  queues: overview.queues.map(({ queue, waiting, oldestSeconds, overdue, overdueSeconds }) => ({
    queue,
    waiting,
    oldestSeconds: seconds0(oldestSeconds),
    overdue,
    overdueSeconds: seconds0(overdueSeconds),
  })),
  objectives: overview.objectives.map(({ name, target, good, total }) => ({ name, target, good, total })),
  disk: overview.disk === null ? null : { freeBytes: overview.disk.freeBytes, totalBytes: overview.disk.totalBytes },
  databaseBytes: overview.databaseBytes,
  organizations: { total: overview.organizations.total, suspended: overview.organizations.suspended },
  erasures: overview.erasures,
  certificates: overview.certificates.map(({ names, expiresAt }) => ({ names, expiresAt: expiresAt.toISOString() })),
  lastBackupAt: timeOf(overview.lastBackupAt),
});

export const OperatorFinding = closed(
  {
    check: Type.Enum([...DIAGNOSIS_CHECKS]),
    level: Type.Enum(['ok', 'note', 'warning', 'error']),
    what: Type.String(),
    todo: Type.String({ description: 'What to do; empty: nothing.' }),
  },
  { title: 'OperatorFinding' },
);

export const presentFinding = ({ check, level, what, todo }: Finding): Static<typeof OperatorFinding> => ({
  check,
  level,
  what,
  todo,
});

export const Tenant = closed(
  {
    id: Type.String({ pattern: idPattern('organization') }),
    name: Type.String(),
    slug: Type.String(),
    plan: Type.Enum([...PLAN_NAMES]),
    createdAt: dateTime(),
    suspendedAt: nullable(dateTime('Null: it is not suspended.')),
    suspendedReceive: nullable(Type.Enum([...SUSPENDED_RECEIVE])),
    suspendedReason: text(),
    members: count(),
    mailboxes: count(),
    messages: count('With all copies.'),
    storageBytes: bytes('Of these messages.'),
    received: count('In the counted days, as all that follow but what waits.'),
    sent: count(),
    handedOver: count('Recipients at other hosts.'),
    bounced: count('Of them.'),
    complained: count('Of them.'),
    deliveries: count('Of webhooks.'),
    deliveriesExhausted: count('Given up.'),
    deliveriesWaiting: count('Now; more than 100,000 are not counted.'),
    outgoingWaiting: count('Now; more than 100,000 are not counted.'),
  },
  { title: 'Tenant' },
);

export const presentTenant = (tenant: TenantFigures): Static<typeof Tenant> => ({
  id: tenant.id,
  name: tenant.name,
  slug: tenant.slug,
  plan: tenant.plan,
  createdAt: tenant.createdAt.toISOString(),
  suspendedAt: timeOf(tenant.suspendedAt),
  suspendedReceive: tenant.suspendedReceive,
  suspendedReason: tenant.suspendedReason,
  members: tenant.members,
  mailboxes: tenant.mailboxes,
  messages: tenant.messages,
  storageBytes: tenant.storageBytes,
  received: tenant.received,
  sent: tenant.sent,
  handedOver: tenant.handedOver,
  bounced: tenant.bounced,
  complained: tenant.complained,
  deliveries: tenant.deliveries,
  deliveriesExhausted: tenant.deliveriesExhausted,
  deliveriesWaiting: tenant.deliveriesWaiting,
  outgoingWaiting: tenant.outgoingWaiting,
});

export const OperatorMailStep = closed(
  {
    at: dateTime(),
    id: Type.String({ description: 'Of the message, or of the refusal.' }),
    organizationId: text(),
    step: Type.Enum(['received', 'submitted', 'recipient', 'attempt', 'refusal']),
    outcome: text(),
    from: text('Envelope.'),
    to: Type.Array(Type.String(), { description: 'Envelope.' }),
    messageId: text('Message-ID.'),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Verdicts, destination, answers of other hosts; of a refusal the line of the mail log.',
    }),
  },
  { title: 'OperatorMailStep' },
);

export const presentMailStep = (step: MailStep): Static<typeof OperatorMailStep> => ({
  at: step.at.toISOString(),
  id: step.id,
  organizationId: step.organizationId,
  step: step.step,
  outcome: step.outcome,
  from: step.from,
  to: [...step.to],
  messageId: step.messageId,
  details: { ...step.details },
});

export const OperatorQueuedMail = closed(
  {
    id: Type.String({ pattern: idPattern('message') }),
    organizationId: Type.String(),
    state: Type.String({
      description:
        '`held` for consent, `scheduled`, or `sending`; `stopped` if a person stopped the sending of its mailbox, `on hold` if an operator stopped it.',
    }),
    from: Type.String(),
    submittedAt: dateTime(),
    messageId: Type.String({ description: 'Message-ID.' }),
    recipients: Type.Array(
      closed(
        {
          address: Type.String(),
          nextAttemptAt: nullable(dateTime()),
          reply: text('The last answer of the other host.'),
        },
        { title: 'OperatorQueuedRecipient' },
      ),
      { description: 'That are not finished.' },
    ),
  },
  { title: 'OperatorQueuedMail' },
);

export const presentQueued = (mail: QueuedMail): Static<typeof OperatorQueuedMail> => ({
  id: mail.id,
  organizationId: mail.organizationId,
  state: mail.state,
  from: mail.from,
  submittedAt: mail.submittedAt.toISOString(),
  messageId: mail.messageId,
  recipients: mail.recipients.map(({ address, nextAttemptAt, reply }) => ({
    address,
    nextAttemptAt: nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString(),
    reply,
  })),
});

const Counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: 'Rows by table.' });

export const Erasure = closed(
  {
    id: Type.String({ pattern: idPattern('erasure') }),
    kind: Type.Enum([...ERASURE_KINDS]),
    organizationId: text('Null: in all organizations.'),
    mailboxId: text(),
    addressHash: text('Of a correspondent: HMAC-SHA256 of the address with a key of the installation.'),
    state: Type.Enum(['running', 'finished']),
    startedAt: dateTime(),
    finishedAt: nullable(dateTime()),
    counts: Counts,
    receipt: text('The signed text, as the command writes it: keep a copy where no restore takes it away.'),
  },
  { title: 'Erasure' },
);

export function presentErasure(row: ErasureRow): Static<typeof Erasure> {
  const statement = row.receipt === null ? undefined : statementOf(row.receipt);
  return {
    id: row.id,
    kind: row.kind,
    organizationId: row.subject.organizationId,
    mailboxId: row.subject.mailboxId ?? null,
    addressHash: row.subject.addressHash ?? null,
    state: statement === undefined ? 'running' : 'finished',
    startedAt: row.startedAt.toISOString(),
    finishedAt: statement?.finishedAt ?? null,
    counts: { ...(statement?.counts ?? row.counts) },
    receipt: row.receipt,
  };
}

export const ErasureRehearsal = closed(
  { kind: Type.Enum([...ERASURE_KINDS]), counts: Counts },
  { title: 'ErasureRehearsal', description: 'What an erasure would take now.' },
);

export const OperatorUseEntry = closed(
  {
    id: Type.String({ pattern: idPattern('operatorUse') }),
    at: dateTime(),
    operation: Type.String({ description: 'Name of the operation, or of the command.' }),
    via: Type.Enum(['http', 'command']),
    targetId: text('Id of what it was about.'),
    status: nullable(
      Type.Integer({
        description: 'Of the answer. Null: it has not ended, or the process did not live to see its end.',
      }),
    ),
    ipAddress: text(),
    requestId: text(),
  },
  { title: 'OperatorUse' },
);

export const presentUse = (use: OperatorUse): Static<typeof OperatorUseEntry> => ({
  id: use.id,
  at: use.at.toISOString(),
  operation: use.operation,
  via: use.via,
  targetId: use.targetId,
  status: use.status,
  ipAddress: use.ipAddress,
  requestId: use.requestId,
});
