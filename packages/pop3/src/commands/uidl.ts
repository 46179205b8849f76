import { listing } from './list.ts';

/** RFC 1939 §7. */
export const uidl = listing('UIDL', 'Unique ids', ({ uniqueId }) => uniqueId);
