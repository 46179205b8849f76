/** A group is a name that mailboxes share. A mailbox is in one group or in none. */

export const MAILBOX_GROUP_MAX = 63;
/** Lower-case letters and digits, with single hyphens, dots or underscores inside. */
export const MAILBOX_GROUP_PATTERN = '^[a-z0-9]+(?:[._-][a-z0-9]+)*$';
/** Groups of a key. */
export const GROUPS_PER_KEY_MAX = 50;
/** Groups that the list of groups shows, by name. */
export const GROUPS_SHOWN_MAX = 1_000;

/** The mailboxes that an API key has access to: those in these groups; null: all of the organization. */
export type Reach = readonly string[] | null;

export const reaches = (reach: Reach, group: string | null): boolean =>
  reach === null || (group !== null && reach.includes(group));
