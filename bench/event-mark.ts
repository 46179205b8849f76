/**
 * The mark by which the sink identifies the event and the run of a request: it is in the subject of a mail, in the name
 * of a mailbox, or in the data of a recorded event.
 */
export const eventMark = (run: number, event: number): string => `bench-${run}-${event}-`;
export const EVENT_MARK = /bench-(\d+)-(\d+)-/;
