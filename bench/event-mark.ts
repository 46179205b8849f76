/**
 * By which the sink finds out which event of which run a request tells of, whatever made the event: the mark stands in
 * the subject of a mail, in the name of a mailbox, or in the data of a recorded event.
 */
export const eventMark = (run: number, event: number): string => `bench-${run}-${event}-`;
export const EVENT_MARK = /bench-(\d+)-(\d+)-/;
