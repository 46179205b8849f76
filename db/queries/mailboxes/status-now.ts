/**
 * The status of a mailbox as it counts now: that of its row, unless its organization is suspended. Of tables
 * `mailboxes x` and `organizations o`.
 */

/** For logins. */
export const OPENED_AS = /* sql */ `case when o.suspended_at is null then x.status else 'suspended' end`;

/** For incoming mail: `pending` refuses it for now, `suspended` for good. */
export const RECEIVES_AS = /* sql */ `
  case when o.suspended_at is null or x.status in ('suspended', 'deleting') then x.status
       when o.suspended_receive = 'defer' then 'pending' else 'suspended' end`;
