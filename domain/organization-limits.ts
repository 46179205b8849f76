/** Numbers and forms of organizations. */
export const ORGANIZATION_NAME_MAX = 200;
export const SLUG_MAX = 63;
/** Lower-case letters, digits and single hyphens inside. */
export const SLUG_PATTERN = '^[a-z0-9]+(?:-[a-z0-9]+)*$';

/** A request for consent that nobody decided is denied after this time, unless the organization chose another. */
export const CONSENT_EXPIRES_DAYS_DEFAULT = 7;
export const CONSENT_EXPIRES_DAYS_MAX = 30;

/** A slug made of a name: `Müller & Söhne` becomes `muller-sohne`. Empty when nothing of the name can stand in one. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_MAX)
    .replaceAll(/^-+|-+$/g, '');

/** API keys of an organization, and invitations nobody has accepted yet, on any plan. */
export const API_KEYS_MAX = 200;
export const OPEN_INVITATIONS_MAX = 200;
