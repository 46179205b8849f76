/** A response failed after part of it was sent. The client could not parse what follows: the connection is closed. */
export class BrokenAnswer extends Error {}
