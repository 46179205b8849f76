/** The parts of a submission that can be checked without the database. */
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import { CatalogueError } from '#domain/errors.ts';
import { RECIPIENTS_PER_MESSAGE_MAX } from '#domain/mail/mail-limits.ts';
import { isEmailAddress } from '#domain/mail/mailbox-address.ts';
import { SEND_AT_AHEAD_MAX_DAYS } from '#domain/sending/outbound.ts';

const DAY_MS = 86_400_000;

/** Each destination once, with its domain in DNS form, as in the lists. */
export const oncePerPlace = (recipients: readonly string[]): string[] => [
  ...new Map(recipients.map(withAsciiDomain).map((address) => [address.toLowerCase(), address])).values(),
];

/** @throws {CatalogueError} invalid_request */
export function requireRecipients(recipients: readonly string[]): void {
  const details = recipients.flatMap((address, i) =>
    isEmailAddress(address) ? [] : [{ path: `/to/${i}`, message: 'is not an address mail can be sent to' }],
  );
  if (recipients.length === 0) details.push({ path: '/to', message: 'there must be a recipient' });
  if (recipients.length > RECIPIENTS_PER_MESSAGE_MAX)
    details.push({ path: '/to', message: `there are at most ${RECIPIENTS_PER_MESSAGE_MAX} recipients` });
  if (details.length > 0) throw new CatalogueError('invalid_request', undefined, { details });
}

/** @throws {CatalogueError} invalid_request, if it is in the past or too far ahead */
export function requireSendAt(sendAt: Date | null, now: number): void {
  if (sendAt === null) return;
  const problem =
    sendAt.getTime() <= now
      ? 'must be in the future; omit it to send at once'
      : sendAt.getTime() > now + SEND_AT_AHEAD_MAX_DAYS * DAY_MS
        ? `must be within ${SEND_AT_AHEAD_MAX_DAYS} days`
        : undefined;
  if (problem !== undefined)
    throw new CatalogueError('invalid_request', undefined, { details: [{ path: '/sendAt', message: problem }] });
}
