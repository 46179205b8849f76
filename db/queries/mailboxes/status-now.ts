/**
 * The status of a mailbox as it counts now: that of its row, unless it has expired or its organization is suspended. Of
 * tables `mailboxes x` and `organizations o`.
 */

const expired = (mailbox: string): string => `${mailbox}.expires_at <= now() and ${mailbox}.status <> 'deleting'`;
const EXPIRED = expired('x');

/** As it is shown, and for sending. @param mailbox the alias of the table */
export const shownAs = (mailbox: string): string =>
  `case when ${expired(mailbox)} then 'expired' else ${mailbox}.status end`;

/** For logins. */
export const OPENED_AS = /* sql */ `
  case when ${EXPIRED} then 'expired' when o.suspended_at is null then x.status else 'suspended' end`;

/** For incoming mail: `pending` refuses it for now, `suspended` and `expired` for good. */
export const RECEIVES_AS = /* sql */ `
  case when ${EXPIRED} then 'expired'
       when o.suspended_at is null or x.status in ('suspended', 'deleting') then x.status
       when o.suspended_receive = 'defer' then 'pending' else 'suspended' end`;
