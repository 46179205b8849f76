/** Pictures elsewhere that a person asked to see in a mail. */

const MIB_BYTES = 1024 * 1024;

export const REMOTE_IMAGE_MAX_BYTES = 5 * MIB_BYTES;
/** Time limit from the look-up of the first host to the last byte, including redirects. */
export const REMOTE_IMAGE_TIMEOUT_MS = 10_000;
export const REMOTE_IMAGE_REDIRECTS_MAX = 3;
/** Of one person in a minute: a newsletter has dozens. */
export const REMOTE_IMAGES_PER_MINUTE_MAX = 300;
/** Pictures of one message that can be asked for, and characters of an address. */
export const REMOTE_IMAGES_PER_MESSAGE_MAX = 1_000;
export const REMOTE_IMAGE_URL_MAX = 4_096;

/** Accepted types. SVG is not accepted: it is a document that may contain scripts. */
export const REMOTE_IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'] as const;
export type RemoteImageType = (typeof REMOTE_IMAGE_TYPES)[number];
