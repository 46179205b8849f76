/** Numbers and forms of organizations. */
export const ORGANIZATION_NAME_MAX = 200;
export const SLUG_MAX = 63;
/** Lower-case letters, digits and single hyphens inside. */
export const SLUG_PATTERN = '^[a-z0-9]+(?:-[a-z0-9]+)*$';

/** An undecided request for consent is denied after this time, unless the organization chose another. */
export const CONSENT_EXPIRES_DAYS_DEFAULT = 7;
export const CONSENT_EXPIRES_DAYS_MAX = 30;

/** The slug of a name: `Müller & Söhne` becomes `muller-sohne`. Empty if no character of the name can be used. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_MAX)
    .replaceAll(/^-+|-+$/g, '');

/** Maximum API keys and open invitations of an organization, on any plan. */
export const API_KEYS_MAX = 200;
export const OPEN_INVITATIONS_MAX = 200;
/** Invitations an organization may make in a day, those that replace another one included: each sends a mail. */
export const INVITATIONS_PER_DAY_MAX = 200;
