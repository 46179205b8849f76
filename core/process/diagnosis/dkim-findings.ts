/** DKIM keys: those that have signed for too long, and rotations that wait for a person. */
import { allOtherDkimKeys } from '#core/mailboxes/dkim-keys.ts';
import { signingKeys } from '#core/mailboxes/dkim-rotation.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { Database } from '#db/database.ts';
import { type Finding, findingsOf } from './finding.ts';

const DAY_MS = 86_400_000;
const KEY_OLD_DAYS = 365;
/** By then the record should have been added. */
const ROTATION_LATE_DAYS = 3;
const DOMAINS_SHOWN_MAX = 10;

const { ok, note, warning } = findingsOf('dkim');

/** Of all domains; at most ten of a kind are named. */
export async function dkimFindings({
  settings,
  db,
  now,
}: {
  readonly settings: Settings;
  readonly db: Database;
  readonly now: () => number;
}): Promise<Finding[]> {
  const [keys, others] = await Promise.all([signingKeys({ db, settings }), allOtherDkimKeys(db)]);
  const daysSince = (date: Date) => Math.floor((now() - date.getTime()) / DAY_MS);
  const next = others.filter(({ state }) => state === 'next');
  const isInRotation = (domain: string) => next.some((each) => each.domain === domain);
  const old = keys.filter(({ createdAt, domain }) => daysSince(createdAt) > KEY_OLD_DAYS && !isInRotation(domain));
  return [
    ...shownOf(old, ({ domain, selector, createdAt }) =>
      warning(
        `The DKIM key ${selector} of ${domain} has signed for ${daysSince(createdAt)} days.`,
        `Run \`agent-mailbox-admin dkim rotate ${domain}\`.`,
      ),
    ),
    ...shownOf(next, ({ domain, selector, createdAt, dnsAnswer }) => {
      const report = daysSince(createdAt) >= ROTATION_LATE_DAYS ? warning : note;
      return report(
        `The next DKIM key ${selector} of ${domain} waits for DNS since ${daysSince(createdAt)} days${dnsAnswer === null ? '' : ` (${dnsAnswer})`}.`,
        `Add its record: \`agent-mailbox-admin dkim list ${domain}\` shows it.`,
      );
    }),
    ...shownOf(
      others.filter(({ state }) => state === 'retired'),
      ({ domain, selector }) => note(`${selector}._domainkey.${domain} is needed no more.`, 'Remove this record.'),
    ),
    ...(old.length === 0 && keys.length > 0
      ? [ok(`No DKIM key has signed for more than ${KEY_OLD_DAYS} days without a successor.`)]
      : []),
  ];
}

function shownOf<Key>(keys: readonly Key[], show: (key: Key) => Finding): Finding[] {
  const left = keys.length - DOMAINS_SHOWN_MAX;
  return [
    ...keys.slice(0, DOMAINS_SHOWN_MAX).map(show),
    ...(left > 0 ? [note(`${left} more of this kind are in \`agent-mailbox-admin dkim list\`.`)] : []),
  ];
}
