/** Limits of parsing. What lies beyond them is an opaque leaf of the tree; its bytes are served all the same. */

/** Of a header block only so many bytes are read. */
export const HEADER_BLOCK_MAX_BYTES = 262_144;
/** Levels of multiparts and messages inside each other. */
export const MIME_DEPTH_MAX = 32;
/** Parts of one message. */
export const MIME_PARTS_MAX = 1_000;
